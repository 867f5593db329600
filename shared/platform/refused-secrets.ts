import type { ConnectionName } from '../domain/ids.ts';

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
  wasAccepted: boolean;
}

export type RefreshCause = 'expired' | 'refused';

/**
 * Which version of each connection's secret the platform refused, and since when: one refresh belongs to a version, or
 * every look at a closed gate would store another version, which looks like a new secret to the next.
 */
export function refusedSecrets(clock: () => number) {
  const refused = new Map<ConnectionName, { readonly version: string; readonly atMs: number }>();
  const isRefused = (name: ConnectionName, version: string) => {
    const known = refused.get(name);
    return known?.version === version && clock() - known.atMs < REFUSED_REFRESH_MS;
  };
  return {
    mayRefresh(name: ConnectionName, cause: RefreshCause, inUse: SecretInUse): boolean {
      const { version, storedAtMs = Number.NEGATIVE_INFINITY, wasAccepted } = inUse;
      if (isRefused(name, version)) return false;
      return cause === 'expired' || wasAccepted || clock() - storedAtMs >= STORED_LATELY_MS;
    },
    note(name: ConnectionName, version: string) {
      if (!isRefused(name, version)) refused.set(name, { version, atMs: clock() });
    },
    /** Another worker found it refused, who knows when. */
    learn(name: ConnectionName, version: string) {
      if (refused.get(name)?.version !== version) refused.set(name, { version, atMs: clock() });
    },
    forget: (name: ConnectionName) => refused.delete(name),
  };
}

export type RefusedSecrets = ReturnType<typeof refusedSecrets>;
