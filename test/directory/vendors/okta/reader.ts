import { createPrivateKey, sign } from 'node:crypto';
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
import { seededRandom } from '../../../../simulate/random.ts';
import { CUSTOMER_KEY } from '../../../directory-simulator/keys.ts';
import { startOkta } from '../../../directory-simulator/okta/fixture.ts';
import type { Options } from '../../../directory-simulator/simulated.ts';
import { serve } from '../served.ts';

type Credential = 'key' | 'kms' | 'api token';

/** The ARN of the key in KMS. Its id is the `kid` of the registered public key. */
const keyArnOf = (kid: string) => `arn:aws:kms:eu-west-1:111122223333:key/${kid}`;

/** Starts a simulated Okta organisation and creates its client. */
export async function openOkta({
  credential = 'key',
  ...options
}: Options & { readonly credential?: Credential } = {}) {
  const okta = startOkta(options);
  const served = await serve(okta);
  const { url } = served;
  const { clientId, key, apiToken } = await served.control('client');
  const world: DirectoryWorld = {
    ...served.world,
    random: seededRandom(Number(options.seed ?? '1')).next,
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
  return {
    clock: okta.clock,
    ...served,
    directory,
    world,
    credentials: { clientId, key, apiToken, keyArn: keyArnOf(key.kid) },
  };
}

export type OpenedOkta = Awaited<ReturnType<typeof openOkta>>;
