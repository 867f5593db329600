/*
 * When a failed call may be sent again.
 *
 *   what happened                          GET     PUT PATCH DELETE   POST
 *   ------------------------------------------------------------------------
 *   never left (refused, unknown host,     again   again              again     nothing was done
 *   failed handshake)
 *   429                                    again   again              again     refused before any work (RFC 6585, 4)
 *   503 with Retry-After                   again   again              stop      (a)
 *   sent and no answer: timeout, reset     again   stop               stop      may have been done
 *   408, 500, 502, 503 without, 504        again   stop               stop      may have been done
 *   other 4xx, 3xx, a body we cannot read  stop    stop               stop      waiting does not help
 *
 * (a) The header says that the server chose not to serve (RFC 9110, 15.6.4), but a proxy may add it to any 503. Should
 *     the first try have been done after all, a repeated PUT or PATCH meets its own version and shows as a conflict,
 *     a repeated DELETE as 404, and both callers settle by reading. A repeated POST would make a second group.
 *
 * A wait is Retry-After where there is one, else exponential backoff with full jitter. A wait that the time left does
 * not hold stops, and the error carries retryAfterMs, so that the caller can come back later.
 */

export type RetryMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What went wrong: an answer's status, or no answer (`sent` says whether the request can have arrived). */
export type RetryFailure =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly sent: 'no' | 'maybe' };

export interface RetryQuestion {
  readonly method: RetryMethod;
  readonly failure: RetryFailure;
  /** How many tries were made so far, the failed one included. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly nowMs: number;
  /** Instant after which nothing may be waited for any more. */
  readonly deadlineMs: number;
  /** In [0, 1). */
  readonly random: number;
}

type RetryDecision =
  | { readonly wait: number }
  | { readonly stop: 'not_retryable' | 'outcome_unknown' | 'attempts' | 'deadline' };

const BACKOFF_FIRST_MS = 200;
const BACKOFF_CAP_MS = 20_000;
/** Spreads callers that got the same Retry-After. */
const SPREAD_MS = 250;

/** Decides by the table above. Pure: the same question has the same answer. Waits are milliseconds. */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const verdict = judge(question.method, question.failure);
  if (verdict !== 'again') return { stop: verdict };
  if (question.attempt >= question.maxAttempts) return { stop: 'attempts' };
  const waitMs = waitFor(question);
  return question.nowMs + waitMs < question.deadlineMs ? { wait: waitMs } : { stop: 'deadline' };
}

function judge(method: RetryMethod, failure: RetryFailure): 'again' | 'not_retryable' | 'outcome_unknown' {
  if ('sent' in failure) return failure.sent === 'no' || method === 'GET' ? 'again' : 'outcome_unknown';
  const { status } = failure;
  if (status === 429) return 'again';
  if (status !== 408 && status < 500) return 'not_retryable';
  if (method === 'GET') return 'again';
  const declined = status === 503 && failure.retryAfterMs !== undefined;
  return declined && method !== 'POST' ? 'again' : 'outcome_unknown';
}

function waitFor({ failure, attempt, random }: RetryQuestion): number {
  const asked = 'status' in failure ? failure.retryAfterMs : undefined;
  if (asked !== undefined) return asked + Math.floor(random * SPREAD_MS);
  return Math.floor(random * Math.min(BACKOFF_CAP_MS, BACKOFF_FIRST_MS * 2 ** (attempt - 1)));
}

const SECONDS = /^\d+(?:\.\d+)?$/;
/** IMF-fixdate, the obsolete RFC 850 form, or asctime: each begins with a day's name (RFC 9110 section 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

const SHORTEST_MS = 1_000;
const LONGEST_MS = 900_000;

/**
 * Milliseconds that a `Retry-After` header asks for: seconds or an HTTP date (RFC 9110 section 10.2.3), from a second
 * to a quarter of an hour: no answer stops a connection for longer. A header that is neither form is undefined, as if it
 * were absent.
 */
export function retryAfterOf(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (SECONDS.test(text)) return bounded(Math.ceil(Number(text) * 1000));
  if (!HTTP_DATE.test(text)) return undefined;
  // asctime names no zone and means GMT; without this it would be read in the machine's own.
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : bounded(atMs - nowMs);
}

const bounded = (ms: number): number => Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms));
