import type { ConnectionName } from '../../domain/ids.ts';
import { ScimError } from '../../scim/errors.ts';
import { hashOf } from './tokens.ts';

/** Requests that one caller may send: so many at once, and so many a second after that. */
export interface RequestRate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Four times what Entra ID asks for (25 a second), lasting, and as much as a stage admits by default for all of its
 * connections together: where several share one server, none crowds out the others. It counts per token and server;
 * when deployed, the throttle of API Gateway is the bound that counts, for bursts too.
 */
export const REQUEST_RATE: RequestRate = { burst: 1_000, perSecond: 100 };

/**
 * Tokens that were not seen before, by the address they come from: each costs a look-up. More than make the alarm of
 * refused tokens ring.
 */
export const STRANGER_RATE: RequestRate = { burst: 50, perSecond: 1 };

export interface RateLimiter {
  /** Takes one request of this caller's share. @returns 0, or seconds until the next one is free */
  take(caller: string, rate?: RequestRate): number;
  /** The connection of a token at its last read, null if it had none, undefined if it must be read again. */
  knownAs(token: string): ConnectionName | null | undefined;
  noteToken(token: string, connection: ConnectionName | null): void;
}

/** @throws ScimError 429 unless `seconds` is 0 */
export function waitFor(seconds: number): void {
  if (seconds === 0) return;
  throw new ScimError(429, 'expected fewer requests at a time', {
    headers: { 'retry-after': String(seconds) },
  });
}

/** Limits memory, because clients can invent addresses and tokens. The entry that was unused for longest is dropped. */
const MOST_REMEMBERED = 10_000;
const REFUSED_FOR_MS = 60_000;

/** A token bucket per caller, and what is known of the tokens that callers showed. */
export function createRateLimiter(clock: () => number): RateLimiter {
  const buckets = new Map<string, { readonly left: number; readonly atMs: number }>();
  const seen = new Map<string, { readonly connection: ConnectionName | null; readonly atMs: number }>();
  return {
    take(caller, { burst, perSecond } = REQUEST_RATE) {
      const nowMs = clock();
      const bucket = buckets.get(caller) ?? { left: burst, atMs: nowMs };
      const passed = Math.max(0, nowMs - bucket.atMs) / 1_000;
      const left = Math.min(burst, bucket.left + passed * perSecond);
      const isFree = left >= 1;
      remember(buckets, caller, { left: isFree ? left - 1 : left, atMs: Math.max(nowMs, bucket.atMs) });
      return isFree ? 0 : Math.ceil((1 - left) / perSecond);
    },
    knownAs(token) {
      const { connection, atMs } = seen.get(hashOf(token)) ?? {};
      const isForgotten = connection === null && clock() - (atMs ?? 0) >= REFUSED_FOR_MS;
      return isForgotten ? undefined : connection;
    },
    noteToken: (token, connection) => remember(seen, hashOf(token), { connection, atMs: clock() }),
  };
}

function remember<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.delete(key);
  values.set(key, value);
  const [oldest] = values.size > MOST_REMEMBERED ? values.keys() : [];
  if (oldest !== undefined) values.delete(oldest);
}
