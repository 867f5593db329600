import type { PlatformOptions } from './facts.ts';
import type { PlatformFaults } from './platform-faults.ts';

const RUN_SECONDS = 3_600;

/** Creates the credentials of one company: static tokens, and the part of RFC 6749 that a refresh needs. */
export function createTokens(
  { company, clock, random, rotates }: PlatformOptions,
  platformFaults: PlatformFaults,
) {
  const isRotating = rotates ?? random.fork('tokens').chance(0.5);
  /** Bearer tokens with the time at which they expire (Infinity: never). */
  const valid = new Map<string, number>();
  const refreshTokens = new Set<string>();
  /** The times at which tokens were issued. A platform fault revokes the tokens that were issued before its start. */
  const givenAtMs = new Map<string, number>();
  const cutShort = new Set<string>();

  const give = (token: string, endsAtMs?: number): string => {
    givenAtMs.set(token, clock());
    if (endsAtMs === undefined) refreshTokens.add(token);
    else valid.set(token, endsAtMs);
    return token;
  };
  const isRevoked = (token: string): boolean => {
    const platformFault = platformFaults.find('token_revoked');
    if (platformFault === undefined || (givenAtMs.get(token) ?? 0) > platformFault.sinceMs) return false;
    return platformFaults.fire('token_revoked');
  };

  return {
    valid: valid as ReadonlyMap<string, number>,
    refreshTokens: refreshTokens as ReadonlySet<string>,
    add: (token: string): unknown => give(token, Number.POSITIVE_INFINITY),
    /** Adds a refresh token for `POST /oauth/token`. */
    addRefresh: (token: string): unknown => give(token),
    /** Revokes a token of either kind permanently. */
    revoke: (token: string): boolean => valid.delete(token) || refreshTokens.delete(token),
    /** Expires all access tokens early. A refresh then returns a new token. */
    endAccess() {
      for (const [token, endsAtMs] of valid) {
        if (endsAtMs !== Number.POSITIVE_INFINITY && valid.set(token, clock())) cutShort.add(token);
      }
    },
    accepts(token: string): boolean {
      const endsAtMs = valid.get(token);
      if (endsAtMs === undefined || isRevoked(token)) return false;
      if (clock() >= endsAtMs && cutShort.has(token)) platformFaults.fire('token_expires');
      return clock() < endsAtMs;
    },
    /** Returns the answer of the token endpoint; undefined means `invalid_grant`. */
    refresh(refreshToken: string): object | undefined {
      if (!refreshTokens.has(refreshToken) || isRevoked(refreshToken)) return undefined;
      const serial = givenAtMs.size;
      const access_token = give(`access-${company}-${serial}`, clock() + RUN_SECONDS * 1000);
      const granted = { access_token, token_type: 'Bearer', expires_in: RUN_SECONDS };
      if (!isRotating) return granted;
      refreshTokens.delete(refreshToken);
      return { ...granted, refresh_token: give(`refresh-${company}-${serial}`) };
    },
  };
}

export type Tokens = ReturnType<typeof createTokens>;
