import * as z from 'zod';
import type { LocalVendor } from './vendor.ts';
import { ADMINISTRATOR } from './world-of-events.ts';

const KeyFile = z.record(z.string(), z.unknown());

export const googleDirectory: LocalVendor = {
  async accessTo({ app }, url) {
    const answer = await app.inject({
      method: 'POST',
      url: '/_simulator/service-account-key',
      payload: { url },
    });
    return {
      setting: { kind: 'google', administrator: ADMINISTRATOR, baseUrl: url },
      key: KeyFile.parse(answer.json()),
    };
  },
};
