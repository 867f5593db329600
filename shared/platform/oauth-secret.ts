import type { Dispatcher } from 'undici';
import type { ConnectionName } from '../domain/ids.ts';
import type { Leases } from '../sync/ports/bundles.ts';
import type { KnownRefusal } from '../sync/ports/platform.ts';
import type { OAuthSecret, Secrets, SecretValue } from '../sync/ports/secrets.ts';
import type { AttemptFacts } from './call.ts';
import { type Credential, staticBearer } from './credential.ts';
import { UnauthorizedError } from './errors.ts';
import { type OAuthOptions, oauthCredential, UNSENT } from './oauth.ts';

/** How long a lease lasts, also if its worker dies. A token request takes less time. */
const LEASE_MS = 30_000;
const LEASE_NAME = 'oauth';
const LOOK_AGAIN_MS = 500;

interface Tokens {
  readonly inUse: SecretInUse;
  readonly mayRefresh: (cause: RefreshCause) => boolean;
}

/** Creates the credential for a connection's secret. @param tokens `inUse` gets the version after each refresh */
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
 * Returns the options for the OAuth tokens in a connection's secret. New tokens are stored in the secret, where other
 * workers find them. Only one worker refreshes at a time, because a refresh may make the old refresh token invalid.
 */
function oauthOptions(
  name: ConnectionName,
  secret: OAuthSecret,
  options: PlatformsOptions,
  tokens?: Tokens,
): OAuthOptions {
  const { clientId, clientSecret, tokenUrl } = secret;
  // Records the secret's new version after a refresh by this worker or another one. The credentials are the same, so
  // the platform's later answers concern the new version.
  const note = (version: string, storedAtMs: number | undefined) => {
    if (tokens !== undefined && version !== '') Object.assign(tokens.inUse, { version, storedAtMs });
  };
  return {
    clientId,
    clientSecret,
    tokenUrl,
    publicOnly: options.publicOnly,
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
      // An operator has stored a static token. Opening the platform again reads it.
      if ('token' in value)
        throw new UnauthorizedError('a static token has replaced the OAuth tokens', UNSENT);
      note(version, value.storedAtMs);
      return value;
    },
    exclusively: (work) => withLease(name, work, options),
  };
}

/**
 * Runs `work` while this worker holds the lease. While another worker holds the lease, this worker waits. Then `reread`
 * finds the other worker's tokens, so no second refresh is needed. After `LEASE_MS`, it runs `work` without the lease.
 */
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

/** The minimum time between two refreshes of credentials that the platform refuses even after a refresh. */
const REFUSED_REFRESH_MS = 3_600_000;
/**
 * Tokens that groupsync stored less than this time ago are new. If the platform refuses new tokens that `/me` has never
 * accepted, another refresh would not help.
 */
const STORED_LATELY_MS = 900_000;

/** The secret that a connection's platform was opened with. */
export interface SecretInUse {
  /** The latest version of the secret with these credentials. The operator or, after a refresh, groupsync stored it. */
  version: string;
  /** When groupsync stored this version; undefined if an operator stored it. */
  storedAtMs: number | undefined;
  /** True after a successful call of `/me` with this secret. */
  wasAccepted: boolean;
  /** The user that `/me` returned. */
  holder?: string;
}

export type RefreshCause = 'expired' | 'refused';

interface Refused {
  readonly version: string;
  readonly atMs: number;
  /** True if `/me` accepts this version, although the calls for groups refuse it. */
  readonly isAtGroups: boolean;
}

/**
 * Remembers which version of each connection's secret the platform refused, and since when. A version that `/me`
 * refused is not refreshed again for an hour. Otherwise each probe of a closed gate would store a new version, which
 * the next probe would treat as new.
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
      // If the calls for groups refuse a token that `/me` accepts, a new token would not help. When `/me` also refuses
      // the token, the usual rules apply.
      if (known !== undefined && (!known.isAtGroups || (cause === 'refused' && wasAccepted))) return false;
      return cause === 'expired' || wasAccepted || clock() - storedAtMs >= STORED_LATELY_MS;
    },
    /** Records a refusal of this version. @returns the time of its first refusal (by `/me`: within an hour) */
    note(name: ConnectionName, { version, wasAccepted }: SecretInUse): number {
      const { atMs = clock() } = refusalOf(name, version) ?? {};
      refused.set(name, { version, atMs, isAtGroups: wasAccepted });
      return atMs;
    },
    /** Records a refusal that another worker found. */
    learn(name: ConnectionName, { version, atMs = clock() }: KnownRefusal, isAtGroups: boolean) {
      if (refused.get(name)?.version !== version) refused.set(name, { version, atMs, isAtGroups });
    },
    /**
     * Called after `/me` accepted the secret. Deletes a refusal by `/me`, but not a refusal by the calls for groups.
     */
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
  /** With a lease, only one worker at a time refreshes a connection's OAuth tokens. */
  readonly leases: Leases;
  /** The HTTP connections to all platforms. They stay open between invocations. */
  readonly dispatcher: Dispatcher;
  /** If true, platforms on this machine and in private networks are refused. */
  readonly publicOnly?: boolean | undefined;
  readonly onAttempt?: ((facts: AttemptFacts, connection: ConnectionName) => void) | undefined;
}
