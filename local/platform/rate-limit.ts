import { ApiError } from './errors.ts';

/** Throws 429 if this credential exceeds `perSecond` requests per second; null means no limit. */
type RateLimit = (token: string, perSecond: number | null, nowMs: number) => void;

/** A token bucket per credential. Its capacity is the number of requests in one second. */
export function createRateLimit(): RateLimit {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return (token, perSecond, nowMs) => {
    if (perSecond === null) return;
    const capacity = Math.max(1, perSecond);
    const bucket = buckets.get(token) ?? { left: capacity, atMs: nowMs };
    const refilled = bucket.left + (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond;
    const left = Math.min(capacity, refilled);
    buckets.set(token, { left: left < 1 ? left : left - 1, atMs: nowMs });
    if (left >= 1) return;
    const waitSeconds = Math.ceil((1 - left) / perSecond);
    throw new ApiError(429, 'rate_limited', `more than ${perSecond} requests per second`, {
      'retry-after': String(waitSeconds),
    });
  };
}
