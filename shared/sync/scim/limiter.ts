import type { ConnectionName } from '../../domain/ids.ts';

/** Requests that one connection may send: so many at once, and so many a second after that. */
export interface RequestRate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Far above what providers send (Entra ID: 25 a second), below what would crowd out another connection's requests on
 * the same server. It counts per server; API Gateway's throttle bounds all of them together.
 */
export const REQUEST_RATE: RequestRate = { burst: 1_000, perSecond: 200 };

export interface RateLimiter {
  /** Takes one request of the connection's share. @returns 0, or seconds until the next one is free */
  take(connection: ConnectionName): number;
}

/** A token bucket per connection. */
export function createRateLimiter(clock: () => number, { burst, perSecond }: RequestRate): RateLimiter {
  const buckets = new Map<ConnectionName, { readonly left: number; readonly atMs: number }>();
  return {
    take(connection) {
      const nowMs = clock();
      const bucket = buckets.get(connection) ?? { left: burst, atMs: nowMs };
      const passed = Math.max(0, nowMs - bucket.atMs) / 1_000;
      const left = Math.min(burst, bucket.left + passed * perSecond);
      const isFree = left >= 1;
      buckets.set(connection, { left: isFree ? left - 1 : left, atMs: Math.max(nowMs, bucket.atMs) });
      return isFree ? 0 : Math.ceil((1 - left) / perSecond);
    },
  };
}
