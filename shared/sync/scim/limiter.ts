import type { ConnectionName } from '../../domain/ids.ts';

/** Requests that one connection may send: so many at once, and so many a second after that. */
export interface RequestRate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Four times what Entra ID asks for (25 a second), lasting, and as much as a stage admits by default for all of its
 * connections together: where several share one server, none crowds out the others. It counts per server; when
 * deployed, the throttle of API Gateway is the bound that counts, for bursts too.
 */
export const REQUEST_RATE: RequestRate = { burst: 1_000, perSecond: 100 };

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
