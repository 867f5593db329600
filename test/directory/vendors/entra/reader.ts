import type { WorldInput } from '../../../../directory-simulator/engine/world.ts';
import { CLIENT_ID } from '../../../../directory-simulator/entra/application.ts';
import type { SelectsGroup } from '../../../../shared/directory/ports.ts';
import {
  createEntraDirectory,
  type EntraCredential,
  type EntraOptions,
  examineEntra,
} from '../../../../shared/directory/vendors/entra/vendor.ts';
import { SECRET, startEntra, TENANT } from '../../../directory-simulator/entra/fixture.ts';
import type { Options } from '../../../directory-simulator/simulated.ts';
import { serve } from '../served.ts';

const WITH_SECRET: EntraCredential = { kind: 'secret', clientSecret: SECRET };
export const FEDERATED: EntraCredential = { kind: 'federation', audience: 'api://AzureADTokenExchange' };

const tenantOf = (world: WorldInput | undefined): string =>
  world === undefined ? TENANT : (world.customerId ?? world.domain ?? 'example.com');

/** Starts a simulated Entra directory and creates its client. */
export async function openEntra({
  account: changed = {},
  ...options
}: Options & { readonly account?: Partial<EntraOptions> } = {}) {
  const entra = startEntra(options);
  const served = await serve(entra);
  const { url, world, requests } = served;
  const account: EntraOptions = {
    tenant: tenantOf(options.world),
    clientId: CLIENT_ID,
    credential: WITH_SECRET,
    cloud: 'public',
    baseUrl: url,
    ...changed,
  };
  return {
    ...entra,
    ...served,
    account,
    directory: createEntraDirectory(account, world),
    examine: (isSelected?: SelectsGroup) => examineEntra(account, world, isSelected),
    /** Returns the requests to Graph since the previous call of this function. */
    graphCalls: async () => (await requests()).filter(({ path }) => path.startsWith('/v1.0/')),
  };
}
