import type { ConnectionName } from '../domain/ids.ts';
import type { KnownRefusal } from '../sync/ports/platform.ts';

/** Credentials that were refreshed once and are still refused are refreshed again this seldom. */
const REFUSED_REFRESH_MS = 3_600_000;
/** Tokens that any worker has stored this lately and that were never seen to work are not refreshed for a refusal. */
const STORED_LATELY_MS = 900_000;

/** The secret that a connection's platform was opened with. */
export interface SecretInUse {
  /** The latest version that holds these credentials: ours, once we have stored fresh tokens. */
  version: string;
  /** When one of our workers stored it; undefined where a person did. */
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
      // What `/me` accepts another token would not mend; once `/me` refuses it too, it is an ordinary refusal.
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
