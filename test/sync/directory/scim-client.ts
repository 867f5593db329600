import { createOAuthServer } from '../../../shared/oauth/oauth-server.ts';
import { createScimStore } from '../../../shared/store/scim-store.ts';
import { createScimTokenStore } from '../../../shared/store/scim-token-store.ts';
import { createRateLimiter } from '../../../shared/sync/scim/limiter.ts';
import { createToken } from '../../../shared/sync/scim/tokens.ts';
import { CONNECTION } from '../../support/engine/world.ts';
import { clientOf } from '../scim/support/server.ts';
import type { Reader } from './fixture.ts';

/** Returns a SCIM client of the connection that a reader reads. */
export async function clientNextTo({ world }: Pick<Reader, 'world'>) {
  const { toolPorts, table, nowMs } = world;
  const tokens = createScimTokenStore(table);
  const randomHex = (bytes: number) => '0'.repeat(2 * bytes);
  const ports = {
    ...toolPorts,
    scim: createScimStore(table),
    tokens,
    limiter: createRateLimiter(nowMs),
    oauth: createOAuthServer(),
    randomHex,
  };
  const { token } = await createToken(CONNECTION, { tokens, clock: nowMs, randomHex });
  return clientOf(ports, { authorization: `Bearer ${token}` });
}
