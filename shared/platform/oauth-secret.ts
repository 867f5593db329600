import type { Dispatcher } from 'undici';
import type { ConnectionName } from '../domain/ids.ts';
import type { KnownRefusal } from '../sync/ports/platform.ts';
import type { Leases } from '../sync/ports/reconcile.ts';
import type { OAuthSecret, Secrets, SecretValue } from '../sync/ports/secrets.ts';
import type { AttemptFacts } from './call.ts';
import { type Credential, staticBearer } from './credential.ts';
import { UnauthorizedError } from './errors.ts';
import { type OAuthOptions, oauthCredential, UNSENT } from './oauth.ts';

/** Longer than a token request takes. The lease of a worker that died blocks the others no longer than this. */
const LEASE_MS = 30_000;
const LEASE_NAME = 'oauth';
const LOOK_AGAIN_MS = 500;

/** What is known of the tokens in use, kept up to date, and whether they may be refreshed. */
interface Tokens {
  readonly inUse: SecretInUse;
  readonly mayRefresh: (cause: RefreshCause) => boolean;
}

/** The credential of a connection's secret. @param tokens the store for refreshed tokens */
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
      // An operator stored a static token. It stays, and is used when the platform is opened again.
      if ('token' in value) throw new UnauthorizedError('a static token was stored meanwhile', UNSENT);
      note(version, value.storedAtMs);
      return value;
    },
    exclusively: (work) => withLease(name, work, options),
  };
}

/** Waits while another worker refreshes. `reread` then finds the tokens that it stored, and no refresh is needed. */
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

/** Credentials that were refreshed once and are still refused are refreshed again this seldom. */
const REFUSED_REFRESH_MS = 3_600_000;
/** Tokens that any worker has stored this lately and that were never seen to work are not refreshed for a refusal. */
const STORED_LATELY_MS = 900_000;

/** The secret that a connection's platform was opened with. */
export interface SecretInUse {
  /** The latest version with these credentials: the one that groupsync stored after a refresh, if there is one. */
  version: string;
  /** When one of our workers stored it; undefined if a person did. */
  storedAtMs: number | undefined;
  /** By `/me`. */
  wasAccepted: boolean;
}

export type RefreshCause = 'expired' | 'refused';

interface Refused {
  readonly version: string;
  readonly atMs: number;
  /** `/me` accepts it all the same. */
  readonly isAtGroups: boolean;
}

/**
 * Which version of each connection's secret the platform refused, and since when: one refresh belongs to a version, or
 * every look at a closed gate would store another version, which looks like a new secret to the next.
 */
export function refusedSecrets(clock: () => number) {
  const refused = new Map<ConnectionName, Refused>();
  const refusalOf = (name: ConnectionName, version: string) => {
    const known = refused.get(name);
    if (known?.version !== version) return undefined;
    return known.isAtGroups || clock() - known.atMs < REFUSED_REFRESH_MS ? known : undefined;
  };
  return {
    mayRefresh(name: ConnectionName, cause: RefreshCause, inUse: SecretInUse): boolean {
      const { version, storedAtMs = Number.NEGATIVE_INFINITY, wasAccepted } = inUse;
      const known = refusalOf(name, version);
      // If `/me` accepts the token, a new token would not help. Once `/me` refuses it too, it is an ordinary refusal.
      if (known !== undefined && (!known.isAtGroups || (cause === 'refused' && wasAccepted))) return false;
      return cause === 'expired' || wasAccepted || clock() - storedAtMs >= STORED_LATELY_MS;
    },
    /** @returns since when it is, its latest refresh included */
    note(name: ConnectionName, { version, wasAccepted }: SecretInUse): number {
      const { atMs = clock() } = refusalOf(name, version) ?? {};
      refused.set(name, { version, atMs, isAtGroups: wasAccepted });
      return atMs;
    },
    /** Another worker found it refused. */
    learn(name: ConnectionName, { version, atMs = clock() }: KnownRefusal, isAtGroups: boolean) {
      if (refused.get(name)?.version !== version) refused.set(name, { version, atMs, isAtGroups });
    },
    /** `/me` accepts it, which says nothing of the groups. */
    accepted(name: ConnectionName) {
      if (refused.get(name)?.isAtGroups === false) refused.delete(name);
    },
  };
}

export type RefusedSecrets = ReturnType<typeof refusedSecrets>;

export interface PlatformsOptions {
  readonly secrets: Secrets;
  readonly clock: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A refresh of OAuth tokens is one worker's business at a time. */
  readonly leases: Leases;
  /** Connections to every platform, kept alive between invocations. */
  readonly dispatcher: Dispatcher;
  readonly onAttempt?: ((facts: AttemptFacts, connection: ConnectionName) => void) | undefined;
}
