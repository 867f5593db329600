import type { ConnectionName } from '../../domain/ids.ts';
import { ScimError } from '../protocol/errors.ts';
import { hashOf } from '../tokens/tokens.ts';

interface RequestRate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * The request rate of one token at one server: four times the rate that Entra ID requires (25 per second). In a
 * deployed stage, API Gateway by default limits all connections together to this rate.
 */
const REQUEST_RATE: RequestRate = { burst: 1_000, perSecond: 100 };

/**
 * The request rate of one client address with unknown tokens. The rate is low, because each unknown token costs a read
 * of the table. It is high enough to trigger the alarm about refused tokens.
 */
export const UNKNOWN_TOKEN_RATE: RequestRate = { burst: 50, perSecond: 1 };

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** @throws ScimError 429 if `seconds` is greater than 0 */
export function waitFor(seconds: number): void {
  if (seconds === 0) return;
  throw new ScimError(429, 'expected fewer requests at a time', {
    headers: { 'retry-after': String(seconds) },
  });
}

/**
 * The maximum number of remembered callers and tokens. The limit protects the memory, because clients can invent
 * addresses and tokens. Above the limit, the least recently used entry is dropped.
 */
const MAX_REMEMBERED = 10_000;
const REFUSED_FOR_MS = 60_000;

/** A token bucket per caller, and a cache of the tokens that callers sent. */
export function createRateLimiter(clock: () => number) {
  const buckets = new Map<string, { readonly left: number; readonly atMs: number }>();
  const seen = new Map<string, { readonly connection: ConnectionName | null; readonly atMs: number }>();
  return {
    /**
     * Counts one request of this caller.
     * @returns 0, or the seconds until the next request is allowed
     */
    take(caller: string, { burst, perSecond } = REQUEST_RATE): number {
      const nowMs = clock();
      const bucket = buckets.get(caller) ?? { left: burst, atMs: nowMs };
      const passed = Math.max(0, nowMs - bucket.atMs) / 1_000;
      const left = Math.min(burst, bucket.left + passed * perSecond);
      const isFree = left >= 1;
      remember(buckets, caller, { left: isFree ? left - 1 : left, atMs: Math.max(nowMs, bucket.atMs) });
      return isFree ? 0 : Math.ceil((1 - left) / perSecond);
    },
    /**
     * Returns the connection of a token, as the last read of the token showed; null if the token was invalid; undefined
     * if the token must be read again.
     */
    cachedConnection(token: string): ConnectionName | null | undefined {
      const { connection, atMs } = seen.get(hashOf(token)) ?? {};
      const isForgotten = connection === null && clock() - (atMs ?? 0) >= REFUSED_FOR_MS;
      return isForgotten ? undefined : connection;
    },
    noteToken: (token: string, connection: ConnectionName | null) =>
      remember(seen, hashOf(token), { connection, atMs: clock() }),
  };
}

function remember<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.delete(key);
  values.set(key, value);
  const [oldest] = values.size > MAX_REMEMBERED ? values.keys() : [];
  if (oldest !== undefined) values.delete(oldest);
}
