import { createPrivateKey, sign } from 'node:crypto';
import { Agent } from 'undici';
import { onTestFinished } from 'vitest';
import { REALISTIC_SETTINGS, type Settings } from '../../../../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../../../../directory-simulator/engine/world.ts';
import type { DirectoryWorld } from '../../../../shared/directory/vendors/exchange.ts';
import {
  accessTokenAuthorization,
  apiTokenAuthorization,
} from '../../../../shared/directory/vendors/okta/api.ts';
import { createOktaDirectory, SCOPES } from '../../../../shared/directory/vendors/okta/directory.ts';
import { createIds } from '../../../../shared/directory/vendors/okta/ids.ts';
import { createRateLimits } from '../../../../shared/directory/vendors/okta/rate-limits.ts';
import {
  createSignIn,
  keySigner,
  kmsSigner,
  type Signer,
} from '../../../../shared/directory/vendors/okta/sign-in.ts';
import { recordable } from '../../../../shared/runtime/recorder.ts';
import { seededRandom } from '../../../../simulate/random.ts';
import { CUSTOMER_KEY } from '../../../directory-simulator/keys.ts';
import { startOkta } from '../../../directory-simulator/okta/fixture.ts';

export const DIFFICULT: Partial<Settings> = { ...REALISTIC_SETTINGS, failures: 0.1 };
interface Requested {
  readonly path: string;
  readonly query: string;
  readonly status: number;
  readonly at: string;
}

type Credential = 'key' | 'kms' | 'api token';

interface Options {
  readonly settings?: Partial<Settings>;
  readonly world?: WorldInput;
  readonly seed?: string;
  readonly credential?: Credential;
}

/** The ARN of the key in KMS. Its id is the `kid` of the registered public key. */
const keyArnOf = (kid: string) => `arn:aws:kms:eu-west-1:111122223333:key/${kid}`;

/** Starts a simulated Okta organisation and creates its client. A wait of the client advances the simulator's clock. */
export async function openOkta({ credential = 'key', ...options }: Options = {}) {
  const okta = startOkta(options);
  const { clock, simulator } = okta;
  const { url } = await simulator.listen();
  const control = async (name: string, body: unknown = {}) => {
    const answer = await okta.control(name, body);
    if (answer.status !== 200)
      throw new Error(`the control ${name} answers ${answer.status}: ${answer.text}`);
    return answer.json;
  };
  const { clientId, key, apiToken } = await control('client');
  const dispatcher = recordable(new Agent());
  onTestFinished(() => dispatcher.destroy());
  const waits: number[] = [];
  const world: DirectoryWorld = {
    dispatcher,
    clock: () => clock.ms + clock.skewMs,
    random: seededRandom(Number(options.seed ?? '1')).next,
    sleep: async (ms) => {
      waits.push(ms);
      clock.ms += ms;
    },
    webIdentity: async () => 'none',
    kmsSign: async (keyArn, message) => {
      if (keyArn !== keyArnOf(key.kid))
        throw new Error(`expected the key ${keyArnOf(key.kid)}, got ${keyArn}`);
      return sign('sha256', message, createPrivateKey(CUSTOMER_KEY));
    },
  };
  const signer: Signer = credential === 'kms' ? kmsSigner(keyArnOf(key.kid), world) : keySigner(key);
  const limits = createRateLimits(world);
  const signIn = createSignIn(
    { orgUrl: url, clientId, signer, scopes: Object.values(SCOPES), newId: createIds(world) },
    world,
    limits,
  );
  const authorization =
    credential === 'api token' ? apiTokenAuthorization(apiToken) : accessTokenAuthorization(signIn);
  const directory = createOktaDirectory({ orgUrl: url, authorization, limits }, world);
  const calls = async () => {
    const { requests } = (await okta.send('GET /_simulator/requests')).json;
    return requests as readonly Requested[];
  };
  return {
    clock,
    url,
    control,
    directory,
    world,
    waits,
    calls,
    requests: calls,
    credentials: { clientId, key, apiToken, keyArn: keyArnOf(key.kid) },
  };
}

export type OpenedOkta = Awaited<ReturnType<typeof openOkta>>;
