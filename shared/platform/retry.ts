/*
 * Whether a failed call may be sent again.
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
 * (a) The header means that the server chose not to serve the request (RFC 9110, 15.6.4), but a proxy may add it to
 *     any 503. So the first attempt may have taken effect. A repeated PUT or PATCH then gets a conflict, and a repeated
 *     DELETE gets a 404. Their callers read the group to settle it. A repeated POST would create a second group.
 *
 * The wait is Retry-After if the response has one, else exponential backoff with full jitter. If the wait would end
 * after the deadline, the call stops. Its error carries retryAfterMs, so that the caller can try again later.
 */

export type RetryMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The cause of a failure: the status of a response, or no response (`sent`: whether the request can have arrived). */
export type RetryFailure =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly sent: 'no' | 'maybe' };

export interface RetryQuestion {
  readonly method: RetryMethod;
  readonly failure: RetryFailure;
  /** The number of attempts so far, including the failed attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly nowMs: number;
  /** A wait must end before this time (milliseconds since 1970). */
  readonly deadlineMs: number;
  /** At least 0 and below 1. */
  readonly random: number;
}

type RetryDecision =
  | { readonly wait: number }
  | { readonly stop: 'not_retryable' | 'outcome_unknown' | 'attempts' | 'deadline' };

const BACKOFF_FIRST_MS = 200;
const BACKOFF_CAP_MS = 20_000;
/**
 * A random part of up to this time is added to Retry-After, so that several callers do not return at the same moment.
 */
const SPREAD_MS = 250;

/** Decides by the table above. A pure function. Waits are in milliseconds. */
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
/**
 * An IMF-fixdate, an RFC 850 date (obsolete) or an asctime date. Each begins with the name of a day (RFC 9110 section
 * 5.6.7).
 */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

const SHORTEST_MS = 1_000;
const LONGEST_MS = 900_000;

/**
 * Returns the wait of a `Retry-After` header in milliseconds. The header has seconds or an HTTP date (RFC 9110 section
 * 10.2.3). The wait is at least one second. It is at most 15 minutes, so no response can stop a connection for longer.
 * A header of any other form counts as absent.
 */
export function retryAfterOf(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (SECONDS.test(text)) return bounded(Math.ceil(Number(text) * 1000));
  if (!HTTP_DATE.test(text)) return undefined;
  // An asctime date has no time zone and means GMT. Without this suffix it would be read in the machine's time zone.
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : bounded(atMs - nowMs);
}

const bounded = (ms: number): number => Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms));
