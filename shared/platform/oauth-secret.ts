import type { ConnectionName } from '../domain/ids.ts';
import type { OAuthSecret, SecretValue } from '../sync/ports/secrets.ts';
import { type Credential, staticBearer } from './credential.ts';
import { oauthCredential } from './oauth.ts';
import type { PlatformsOptions } from './platforms-options.ts';
import type { RefreshCause, SecretInUse } from './refused-secrets.ts';
import type { OAuthOptions } from './token-request.ts';

/** Longer than a token request takes; a worker that died with it holds nobody up for longer. */
const LEASE_MS = 30_000;
const LEASE_NAME = 'oauth';
const LOOK_AGAIN_MS = 500;

/** What is known of the tokens in use, kept up to date, and whether they may be refreshed. */
interface Tokens {
  readonly inUse: SecretInUse;
  readonly mayRefresh: (cause: RefreshCause) => boolean;
}

/** What a connection's secret proves. @param tokens where what is learnt of them is kept */
export const credentialFor = (
  name: ConnectionName,
  secret: SecretValue,
  options: PlatformsOptions,
  tokens?: Tokens,
): Credential =>
  'token' in secret
    ? staticBearer(secret.token)
    : oauthCredential(oauthOptions(name, secret, options, tokens));

/**
 * OAuth by the connection's secret: both tokens are stored there, so that the next worker starts with a fresh one, and
 * only one worker refreshes at a time, because a refresh may make the old refresh token void.
 */
function oauthOptions(
  name: ConnectionName,
  secret: OAuthSecret,
  options: PlatformsOptions,
  tokens?: Tokens,
): OAuthOptions {
  const { clientId, clientSecret, tokenUrl } = secret;
  // A version that a worker made is no new secret: what is learnt of the tokens in it counts for it.
  const note = (version: string, storedAtMs: number | undefined) => {
    if (tokens !== undefined && version !== '') Object.assign(tokens.inUse, { version, storedAtMs });
  };
  return {
    clientId,
    clientSecret,
    tokenUrl,
    tokens: secret,
    clock: options.clock,
    dispatcher: () => options.dispatcher,
    onTokens: async (fresh) => {
      const storedAtMs = options.clock();
      const value = { clientId, clientSecret, tokenUrl, storedAtMs, ...fresh };
      note(await options.secrets.write(name, value), storedAtMs);
    },
    mayRefresh: tokens?.mayRefresh,
    reread: async () => {
      const { value, version } = await options.secrets.read(name);
      if ('token' in value) return secret;
      note(version, value.storedAtMs);
      return value;
    },
    exclusively: (work) => withLease(name, work, options),
  };
}

/** Waits for whoever is refreshing; what they stored is found by `reread`, and then there is nothing left to do. */
async function withLease<Result>(
  connection: ConnectionName,
  work: () => Promise<Result>,
  { leases, clock, sleep }: PlatformsOptions,
): Promise<Result> {
  const giveUpAtMs = clock() + LEASE_MS;
  for (;;) {
    const lease = await leases.take(connection, LEASE_NAME, { nowMs: clock(), lengthMs: LEASE_MS });
    if (lease !== undefined) {
      try {
        return await work();
      } finally {
        await leases.release(connection, lease);
      }
    }
    if (clock() > giveUpAtMs) return work();
    await sleep(LOOK_AGAIN_MS);
  }
}
