import * as z from 'zod';
import type { DialectControl } from '../engine/dialect.ts';
import { Jwk } from '../engine/jwt.ts';
import { apiTokenNumber, privateJwk, registeredKeys } from './client.ts';
import type { SignIn } from './sign-in.ts';

const Scopes = z.strictObject({ scopes: z.array(z.string()) });
const Keys = z.strictObject({ keys: z.array(Jwk.extend({ kid: z.string().min(1) })) });
const Administrator = z.strictObject({
  role: z.enum(['SUPER_ADMIN', 'READ_ONLY_ADMIN', 'USER_ADMIN']).optional(),
  /** The ids of the groups to which the role is limited. null means no limit. */
  resourceSet: z.array(z.string()).nullable().optional(),
});

export function oktaControls(signIn: SignIn): readonly DialectControl[] {
  const { client, tokens, dpop, org } = signIn;
  let apiTokens = 1;
  const done = { ok: true };
  return [
    {
      name: 'scopes',
      body: Scopes,
      /** Sets the granted scopes. Issued tokens also lose the scopes that are no longer granted. */
      handle(body) {
        client.grantedScopes = Scopes.parse(body).scopes;
        return { scopes: client.grantedScopes };
      },
    },
    {
      name: 'keys',
      body: Keys,
      handle(body) {
        client.registered = Keys.parse(body).keys;
        return { keys: registeredKeys(client).map(({ kid }) => kid) };
      },
    },
    {
      name: 'administrator',
      body: Administrator,
      handle(body) {
        const { role = client.role, resourceSet = client.resourceSet } = Administrator.parse(body);
        Object.assign(client, { role, resourceSet });
        return { role, resourceSet };
      },
    },
    {
      name: 'access-tokens/expire',
      body: z.unknown(),
      handle() {
        tokens.expireAll();
        return done;
      },
    },
    {
      name: 'dpop-nonces/expire',
      body: z.unknown(),
      handle() {
        dpop.expireNonces();
        return done;
      },
    },
    {
      name: 'api-token',
      body: z.unknown(),
      /** Creates a new API token. The old token becomes invalid. */
      handle() {
        apiTokens += 1;
        client.apiToken = apiTokenNumber(org.simulation, apiTokens);
        return { token: client.apiToken };
      },
    },
    {
      name: 'client',
      body: z.unknown(),
      handle: () => ({ clientId: client.id, key: privateJwk(client), apiToken: client.apiToken }),
    },
  ];
}
