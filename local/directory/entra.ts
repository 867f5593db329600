import { CLIENT_ID } from '../../directory-simulator/entra/application.ts';
import type { LocalVendor } from './vendor.ts';
import { DOMAIN } from './world-of-events.ts';

const CLIENT_SECRET = 'local-client-secret';

export const entraDirectory: LocalVendor = {
  async accessTo({ app }, url) {
    await app.inject({
      method: 'POST',
      url: '/_simulator/client-secret',
      payload: { secret: CLIENT_SECRET },
    });
    return {
      setting: { kind: 'entra', tenant: DOMAIN, clientId: CLIENT_ID, cloud: 'public', baseUrl: url },
      key: { clientSecret: CLIENT_SECRET },
    };
  },
};
