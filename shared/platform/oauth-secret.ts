import type { Dispatcher } from 'undici';
import type { ConnectionName } from '../domain/ids.ts';
import type { KnownRefusal } from '../sync/ports/platform.ts';
import type { Leases } from '../sync/ports/reconcile.ts';
import type { OAuthSecret, Secrets, SecretValue } from '../sync/ports/secrets.ts';
import type { AttemptFacts } from './call.ts';
import { type Credential, staticBearer } from './credential.ts';
import { UnauthorizedError } from './errors.ts';
import { type OAuthOptions, oauthCredential, UNSENT } from './oauth.ts';

/**
 * How long a lease lasts. It is longer than a token request takes. If a worker dies, its lease blocks the other workers
 * for at most this time.
 */
const LEASE_MS = 30_000;
const LEASE_NAME = 'oauth';
const LOOK_AGAIN_MS = 500;

/** The secret in use, and whether its tokens may be refreshed. */
interface Tokens {
  readonly inUse: SecretInUse;
  readonly mayRefresh: (cause: RefreshCause) => boolean;
}

/** Creates the credential for a connection's secret. @param tokens receives the version of refreshed tokens */
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
 * OAuth tokens of a connection's secret. New tokens are stored in the secret, so that the next worker starts with them.
 * Only one worker refreshes at a time, because a refresh may make the old refresh token invalid.
 */
function oauthOptions(
  name: ConnectionName,
  secret: OAuthSecret,
  options: PlatformsOptions,
  tokens?: Tokens,
): OAuthOptions {
  const { clientId, clientSecret, tokenUrl } = secret;
  // A version that groupsync stored after a refresh holds the same credentials. So the platform's responses count for
  // the new version.
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
      // An operator has stored a static token. It is used when the platform is opened again.
      if ('token' in value) throw new UnauthorizedError('a static token was stored meanwhile', UNSENT);
      note(version, value.storedAtMs);
      return value;
    },
    exclusively: (work) => withLease(name, work, options),
  };
}

/**
 * Waits while another worker refreshes. `reread` then finds the tokens of that worker, so no second refresh is needed.
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

/**
 * If the platform still refuses credentials after one refresh, they are refreshed again after this time at the
 * earliest.
 */
const REFUSED_REFRESH_MS = 3_600_000;
/**
 * For this time after tokens were stored, a refusal causes no refresh if `/me` has not accepted them yet, because the
 * tokens may be very new.
 */
const STORED_LATELY_MS = 900_000;

/** The secret that a connection's platform was opened with. */
export interface SecretInUse {
  /**
   * The latest version with these credentials: the version that groupsync stored after a refresh, or the operator's.
   */
  version: string;
  /** When groupsync stored this version; undefined if an operator stored it. */
  storedAtMs: number | undefined;
  /** True after the call `/me` accepted it. */
  wasAccepted: boolean;
  /** The user that `/me` named. */
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
 * Remembers, for each connection, the version of the secret that the platform refused, and since when. A refused
 * version is refreshed only once. Otherwise each check of a closed gate would store another version, and the next check
 * would take it for a new secret.
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
      // If `/me` accepts the token, a new token would not help. As soon as `/me` refuses the token too, the usual rules
      // apply.
      if (known !== undefined && (!known.isAtGroups || (cause === 'refused' && wasAccepted))) return false;
      return cause === 'expired' || wasAccepted || clock() - storedAtMs >= STORED_LATELY_MS;
    },
    /** @returns the time of the remembered refusal of this version; now if none is remembered */
    note(name: ConnectionName, { version, wasAccepted }: SecretInUse): number {
      const { atMs = clock() } = refusalOf(name, version) ?? {};
      refused.set(name, { version, atMs, isAtGroups: wasAccepted });
      return atMs;
    },
    /** Records a refusal that another worker found. */
    learn(name: ConnectionName, { version, atMs = clock() }: KnownRefusal, isAtGroups: boolean) {
      if (refused.get(name)?.version !== version) refused.set(name, { version, atMs, isAtGroups });
    },
    /** `/me` accepted the secret. A remembered refusal by `/me` ends, but a refusal by the calls for groups stays. */
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
  /** Only one worker refreshes a connection's OAuth tokens at a time. */
  readonly leases: Leases;
  /** HTTP connections to all platforms. They stay open between invocations. */
  readonly dispatcher: Dispatcher;
  /** Refuses platforms of this machine and of private networks. */
  readonly publicOnly?: boolean | undefined;
  readonly onAttempt?: ((facts: AttemptFacts, connection: ConnectionName) => void) | undefined;
}
