/*
 * Decides whether a failed call is sent again.
 *
 *   what happened                          GET     PUT PATCH DELETE   POST
 *   ------------------------------------------------------------------------
 *   not sent: connection refused,          again   again              again     nothing was done
 *   unknown host, failed handshake
 *   429                                    again   again              again     refused before any work (RFC 6585, 4)
 *   503 with Retry-After                   again   again              stop      (a)
 *   sent, no response: timeout, reset      again   stop               stop      the write may have taken effect
 *   408, 5xx other than the 503 above      again   stop               stop      the write may have taken effect
 *   other 4xx, 3xx, an unreadable body     stop    stop               stop      another attempt does not help
 *
 * (a) By RFC 9110, 15.6.4, the server did not serve the request. But a proxy may add Retry-After to any 503, so the
 *     first attempt may have taken effect. Then a repeated PUT or PATCH causes a conflict, and a repeated DELETE a 404.
 *     In these cases the caller reads the group. A repeated POST is not safe: it would create a second group.
 *
 * The wait is Retry-After plus up to 250 ms, or without this header an exponential backoff with full jitter. If the
 * wait would end after the deadline, the call fails. Its error contains retryAfterMs, so that the caller can try again
 * later.
 */

export type RetryMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The cause of a failure: the status of the response, or without a response whether the request may have arrived. */
export type RetryFailure =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly sent: 'no' | 'maybe' };

interface RetryQuestion {
  readonly method: RetryMethod;
  readonly failure: RetryFailure;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly nowMs: number;
  /** The wait must end before this time (milliseconds since 1970). */
  readonly deadlineMs: number;
  /** A random number from 0 up to 1. */
  readonly random: number;
}

const BACKOFF_FIRST_MS = 200;
const BACKOFF_CAP_MS = 20_000;
/** A random time up to this limit is added to Retry-After, so that several callers do not retry at the same moment. */
const SPREAD_MS = 250;

/** Decides by the table above. Returns the wait before the next attempt in milliseconds; undefined: stop. */
export function decideRetry(question: RetryQuestion): number | undefined {
  if (!mayRepeat(question.method, question.failure)) return undefined;
  if (question.attempt >= question.maxAttempts) return undefined;
  const waitMs = waitFor(question);
  return question.nowMs + waitMs < question.deadlineMs ? waitMs : undefined;
}

function mayRepeat(method: RetryMethod, failure: RetryFailure): boolean {
  if ('sent' in failure) return failure.sent === 'no' || method === 'GET';
  const { status } = failure;
  if (status === 429) return true;
  if (status !== 408 && status < 500) return false;
  if (method === 'GET') return true;
  return status === 503 && failure.retryAfterMs !== undefined && method !== 'POST';
}

function waitFor({ failure, attempt, random }: RetryQuestion): number {
  const asked = 'status' in failure ? failure.retryAfterMs : undefined;
  if (asked !== undefined) return asked + Math.floor(random * SPREAD_MS);
  return Math.floor(random * Math.min(BACKOFF_CAP_MS, BACKOFF_FIRST_MS * 2 ** (attempt - 1)));
}

const SECONDS = /^\d+(?:\.\d+)?$/;
/** IMF-fixdate, RFC 850 date (obsolete) or asctime date. Each begins with a day's name (RFC 9110 section 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

const SHORTEST_MS = 1_000;
const LONGEST_MS = 900_000;

/**
 * Returns the wait of a `Retry-After` header in milliseconds. The header contains seconds or an HTTP date (RFC 9110
 * section 10.2.3). The wait is at least one second and at most 15 minutes, so one response cannot stop a connection for
 * longer. A header of any other form is ignored.
 */
export function retryAfterOf(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (SECONDS.test(text)) return bounded(Math.ceil(Number(text) * 1000));
  if (!HTTP_DATE.test(text)) return undefined;
  // An asctime date has no time zone and means GMT. Without the suffix, `Date.parse` would use the machine's time zone.
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : bounded(atMs - nowMs);
}

const bounded = (ms: number): number => Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms));
