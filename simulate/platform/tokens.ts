import type { PlatformOptions } from './facts.ts';
import type { PlatformFaults } from './platform-faults.ts';

const RUN_SECONDS = 3_600;

/** Creates the credentials of one company: static tokens, and OAuth tokens that a refresh replaces (RFC 6749). */
export function createTokens(
  { company, clock, random, rotates }: PlatformOptions,
  platformFaults: PlatformFaults,
) {
  const isRotating = rotates ?? random.fork('tokens').chance(0.5);
  /** For each bearer token, the time at which the token expires. A static token has Infinity. */
  const valid = new Map<string, number>();
  const refreshTokens = new Set<string>();
  /** For each token, its time of issue. `token_revoked` affects only tokens from before the fault. */
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
    addRefresh: (token: string): unknown => give(token),
    /** Revokes an access token or a refresh token permanently. */
    revoke: (token: string): boolean => valid.delete(token) || refreshTokens.delete(token),
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
    /** Returns the answer of the token endpoint to a refresh; undefined means the error `invalid_grant`. */
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
