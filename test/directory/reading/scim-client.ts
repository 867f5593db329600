import { createOAuthServer } from '../../../shared/oauth/oauth-server.ts';
import { createRateLimiter } from '../../../shared/scim/server/limiter.ts';
import { createScimStore } from '../../../shared/scim/store/scim-store.ts';
import { createScimTokenStore } from '../../../shared/scim/store/scim-token-store.ts';
import { createToken } from '../../../shared/scim/tokens/tokens.ts';
import { clientOf } from '../../scim/server/support/server.ts';
import { CONNECTION } from '../../support/engine/world.ts';
import type { Reader } from './fixture.ts';

/** Returns a SCIM client of the connection that a reader reads. @param by the creator of its token */
export async function clientNextTo({ world }: Pick<Reader, 'world'>, by?: string) {
  const { toolPorts, table, nowMs } = world;
  const tokens = createScimTokenStore(table);
  const randomHex = (bytes: number) => (by === undefined ? '0' : '1').repeat(2 * bytes);
  const ports = {
    ...toolPorts,
    scim: createScimStore(table),
    tokens,
    limiter: createRateLimiter(nowMs),
    oauth: createOAuthServer(),
    randomHex,
  };
  const { token } = await createToken(CONNECTION, { tokens, clock: nowMs, randomHex }, { by });
  return clientOf(ports, { authorization: `Bearer ${token}` });
}
