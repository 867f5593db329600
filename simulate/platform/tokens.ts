import type { PlatformOptions } from './facts.ts';
import type { Tempers } from './tempers.ts';

const LIFE_SECONDS = 3_600;

/** Credentials of one company: static tokens, and of RFC 6749 as little as a refresh needs. */
export function createTokens({ company, clock, random, rotates }: PlatformOptions, tempers: Tempers) {
  const isRotating = rotates ?? random.fork('tokens').chance(0.5);
  /** Bearer tokens with the instant at which they end (Infinity: never). */
  const valid = new Map<string, number>();
  const refreshTokens = new Set<string>();
  /** When each was given: a temper revokes those that were there when it began. */
  const givenAtMs = new Map<string, number>();
  const cutShort = new Set<string>();

  const give = (token: string, endsAtMs?: number): string => {
    givenAtMs.set(token, clock());
    if (endsAtMs === undefined) refreshTokens.add(token);
    else valid.set(token, endsAtMs);
    return token;
  };
  const isRevoked = (token: string): boolean => {
    const temper = tempers.find('token_revoked');
    if (temper === undefined || (givenAtMs.get(token) ?? 0) > temper.sinceMs) return false;
    return tempers.fire('token_revoked');
  };

  return {
    valid: valid as ReadonlyMap<string, number>,
    refreshTokens: refreshTokens as ReadonlySet<string>,
    add: (token: string): unknown => give(token, Number.POSITIVE_INFINITY),
    /** For `POST /oauth/token`. */
    addRefresh: (token: string): unknown => give(token),
    /** Of either kind; for good. */
    revoke: (token: string): boolean => valid.delete(token) || refreshTokens.delete(token),
    /** Every access token ends before its time; a refresh gives another. */
    endAccess() {
      for (const [token, endsAtMs] of valid) {
        if (endsAtMs !== Number.POSITIVE_INFINITY && valid.set(token, clock())) cutShort.add(token);
      }
    },
    accepts(token: string): boolean {
      const endsAtMs = valid.get(token);
      if (endsAtMs === undefined || isRevoked(token)) return false;
      if (clock() >= endsAtMs && cutShort.has(token)) tempers.fire('token_expires');
      return clock() < endsAtMs;
    },
    /** Answer of the token endpoint; undefined: `invalid_grant`. */
    refresh(refreshToken: string): object | undefined {
      if (!refreshTokens.has(refreshToken) || isRevoked(refreshToken)) return undefined;
      const serial = givenAtMs.size;
      const access_token = give(`access-${company}-${serial}`, clock() + LIFE_SECONDS * 1000);
      const granted = { access_token, token_type: 'Bearer', expires_in: LIFE_SECONDS };
      if (!isRotating) return granted;
      refreshTokens.delete(refreshToken);
      return { ...granted, refresh_token: give(`refresh-${company}-${serial}`) };
    },
  };
}

export type Tokens = ReturnType<typeof createTokens>;
