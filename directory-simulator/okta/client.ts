import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Jwk } from '../engine/jwt.ts';
import type { Simulation } from '../engine/simulation.ts';
import { thumbprintOf } from './keys.ts';

/** The smallest scopes that read everything. At the start, these scopes are granted to the client. */
export const READ_ALL = ['okta.groups.read', 'okta.users.read', 'okta.logs.read'];

/** The name of an administrator role in Okta's API. `USER_ADMIN` is the group administrator. */
type Role = 'SUPER_ADMIN' | 'READ_ONLY_ADMIN' | 'USER_ADMIN';

/** The administrator's configuration of the API service app, and the API token of the org. */
export interface Client {
  readonly id: string;
  /** Returns the private key of the client. Creating a key is slow, so the key is created at its first use. */
  readonly privateKey: () => KeyObject;
  /** The registered public keys, each with a `kid`. undefined means the public key of {@link privateKey}. */
  registered: readonly Jwk[] | undefined;
  grantedScopes: readonly string[];
  role: Role;
  /** The ids of the groups to which the role is limited. null means no resource set. */
  resourceSet: readonly string[] | null;
  apiToken: string;
}

export function createClient(simulation: Simulation, givenKey: string | undefined): Client {
  let key: KeyObject | undefined;
  return {
    id: `0oa${simulation.random('client-id').hex(13)}g4`,
    privateKey: () => {
      key ??=
        givenKey === undefined
          ? generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
          : createPrivateKey(givenKey);
      return key;
    },
    apiToken: apiTokenNumber(simulation, 1),
    ...atStart(),
  };
}

/** Returns the configuration at the start and after a reset. */
export const atStart = () => ({
  registered: undefined,
  grantedScopes: READ_ALL,
  role: 'READ_ONLY_ADMIN' as const,
  resourceSet: null,
});

export const apiTokenNumber = (simulation: Simulation, number: number) =>
  `00${simulation.random(`api-token/${number}`).hex(40)}`;

export const registeredKeys = (client: Client): readonly Jwk[] =>
  client.registered ?? [publicJwk(client.privateKey())];

function publicJwk(key: KeyObject): Jwk {
  const jwk = Jwk.parse(createPublicKey(key).export({ format: 'jwk' }));
  return { ...jwk, kid: thumbprintOf(jwk), use: 'sig', alg: 'RS256' };
}

/** Returns the private key as JWK, in the form that Okta shows once when it creates a key. */
export function privateJwk(client: Client): Jwk {
  const key = client.privateKey();
  const jwk = Jwk.parse(key.export({ format: 'jwk' }));
  return { ...jwk, kid: thumbprintOf(jwk), use: 'sig', alg: 'RS256' };
}
