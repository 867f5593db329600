import { Agent } from 'undici';
import { onTestFinished } from 'vitest';
import type { PartialSettings } from '../../../../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../../../../directory-simulator/engine/world.ts';
import { CLIENT_ID } from '../../../../directory-simulator/entra/application.ts';
import type { SelectsGroup } from '../../../../shared/directory/ports.ts';
import type { EntraCredential } from '../../../../shared/directory/vendors/entra/vendor.ts';
import {
  createEntraDirectory,
  type EntraOptions,
  examineEntra,
} from '../../../../shared/directory/vendors/entra/vendor.ts';
import type { DirectoryWorld } from '../../../../shared/directory/vendors/exchange.ts';
import { recordable } from '../../../../shared/runtime/recorder.ts';
import { SECRET, startEntra, TENANT } from '../../../directory-simulator/entra/fixture.ts';

const WITH_SECRET: EntraCredential = { kind: 'secret', clientSecret: SECRET };
export const FEDERATED: EntraCredential = { kind: 'federation', audience: 'api://AzureADTokenExchange' };

interface Options {
  readonly settings?: PartialSettings;
  readonly world?: WorldInput;
  readonly seed?: string;
  readonly account?: Partial<EntraOptions>;
}

const tenantOf = (world: WorldInput | undefined): string =>
  world === undefined ? TENANT : (world.customerId ?? world.domain ?? 'example.com');

/**
 * Starts a simulated Entra directory and creates its client. A wait of the client advances the clock of the simulator.
 */
export async function openEntra({ account: changed = {}, ...options }: Options = {}) {
  const entra = startEntra(options);
  const { url } = await entra.simulator.listen();
  const control = async (name: string, body: unknown = {}) => {
    const answer = await entra.control(name, body);
    if (answer.status !== 200)
      throw new Error(`the control ${name} answers ${answer.status}: ${answer.text}`);
    return answer;
  };
  const dispatcher = recordable(new Agent());
  onTestFinished(() => dispatcher.destroy());
  const waits: number[] = [];
  const world: DirectoryWorld = {
    dispatcher,
    clock: () => entra.clock.ms + entra.clock.skewMs,
    random: () => 0.5,
    sleep: async (ms) => {
      waits.push(ms);
      entra.clock.ms += ms;
    },
    webIdentity: async (audience) => (await control('web-identity', { audience })).json.token,
  };
  const account: EntraOptions = {
    tenant: tenantOf(options.world),
    clientId: CLIENT_ID,
    credential: WITH_SECRET,
    cloud: 'public',
    baseUrl: url,
    ...changed,
  };
  const requests = async () =>
    (await entra.send('GET /_simulator/requests')).json.requests as readonly { readonly path: string }[];
  return {
    ...entra,
    control,
    url,
    world,
    waits,
    account,
    requests,
    directory: createEntraDirectory(account, world),
    examine: (isSelected?: SelectsGroup) => examineEntra(account, world, isSelected),
    /** Returns the requests to Graph since the previous call of this function. */
    graphCalls: async () => (await requests()).filter(({ path }) => path.startsWith('/v1.0/')),
  };
}
