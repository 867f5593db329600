import { ANSWER_PREFIX, PlatformFailure } from '../sync/ports/platform.ts';
import { retryAfterOf } from './retry.ts';

/**
 * Describes whether the request reached the platform.
 *   no        certainly not: connection refused, unknown host, failed handshake, or not sent
 *   maybe     at least a part of the request was sent, and no response arrived
 *   answered  an HTTP response with any status arrived
 */
export type Sent = 'no' | 'maybe' | 'answered';

/** The facts in every error of the client. They never contain a token, an e-mail address or a whole body. */
export interface PlatformErrorFacts {
  readonly method: string;
  /** The path template of the specification (`/platform/api/groups/{groupId}`). Logs name the endpoint by it. */
  readonly pathTemplate: string;
  readonly sent: Sent;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The beginning of the response body, redacted, with at most 500 characters. */
  readonly excerpt?: string | undefined;
  /** The wait that the platform requested, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A failed call. The subclass is the kind of failure. See also `mayHaveTakenEffect`. */
export class PlatformError extends Error {
  declare readonly method: string;
  declare readonly pathTemplate: string;
  declare readonly sent: Sent;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(what: string, { cause, ...facts }: PlatformErrorFacts) {
    super(describe(what, facts), cause === undefined ? undefined : { cause });
    Object.assign(this, facts, { name: new.target.name });
  }
}

function describe(what: string, facts: PlatformErrorFacts): string {
  const status = facts.status === undefined ? '' : ` answered ${facts.status}`;
  const wait = facts.retryAfterMs === undefined ? '' : `, retry after ${facts.retryAfterMs} ms`;
  const request = facts.requestId === undefined ? '' : ` (request ${facts.requestId})`;
  const excerpt =
    facts.excerpt === undefined || facts.excerpt === '' ? '' : `${ANSWER_PREFIX}${facts.excerpt}`;
  return `${facts.method} ${facts.pathTemplate}${status}: ${what}${wait}${request}${excerpt}`;
}

/** An argument of the call is not allowed by the specification. Nothing was sent. */
export class InvalidRequestError extends PlatformError {}
/** 400 or 422: the platform refuses the content. Some platforms also answer a stale group version with 400 or 422. */
export class BadRequestError extends PlatformError {}
/** 401: the credential is expired or revoked. Every call of the connection fails. */
export class UnauthorizedError extends PlatformError {}
/** The token endpoint answered `invalid_grant`: the refresh token is expired or revoked (RFC 6749 section 5.2). */
export class InvalidGrantError extends UnauthorizedError {}
/** 403: the credential lacks a permission. */
export class ForbiddenError extends PlatformError {}
/** 404: the company has no such record. */
export class NotFoundError extends PlatformError {}
/** 409 or 412: the record has changed since the version in the request. */
export class ConflictError extends PlatformError {}
/** 429: too many calls. The platform did nothing. If the response requests a wait, `retryAfterMs` contains it. */
export class RateLimitedError extends PlatformError {}
/** 5xx. A write may have taken effect. */
export class ServerError extends PlatformError {}
/** No complete response within the time limit, or status 408. If `sent` is not `no`, a write may have taken effect. */
export class TimeoutError extends PlatformError {}
/** The connection failed or broke. If `sent` is not `no`, a write may have taken effect. */
export class NetworkError extends PlatformError {}
/** The caller's signal ended the call. */
export class AbortedError extends PlatformError {}
/** Any other status, for example another 4xx, or a redirect. Redirects are never followed. */
export class UnexpectedStatusError extends PlatformError {}
/** A 2xx response whose error field is not null. Only the company activity has this field. */
export class ReportedError extends PlatformError {}

/** A 2xx response that differs from the specification. `field` is the path of the first difference. */
export class UnexpectedBodyError extends PlatformError {
  readonly field: string | undefined;

  constructor(what: string, facts: PlatformErrorFacts, field?: string) {
    super(what, facts);
    this.field = field;
  }
}

/**
 * Returns whether a write that ended with this error may have taken effect. The result is false only if the request was
 * certainly not sent, or if the platform rejected it.
 */
export function mayHaveTakenEffect(error: PlatformError): boolean {
  if (error.sent !== 'answered') return error.sent === 'maybe';
  const status = error.status ?? 0;
  return status < 300 || status >= 500 || status === 408;
}

export const answered = ({ method, path }: { readonly method: string; readonly path: string }) =>
  ({ method, pathTemplate: path, sent: 'answered', status: 200 }) as const;

/** True if the platform or a gateway could not send the page in time. A smaller page may succeed. */
export function isTooSlow(error: unknown): boolean {
  return error instanceof TimeoutError || (error instanceof ServerError && error.status === 504);
}

/** True if a single item may have caused the failure of its page: the platform cannot return it, or it is malformed. */
export function mayBeCausedByOneItem(error: unknown): boolean {
  return error instanceof ServerError || error instanceof UnexpectedBodyError || isTooSlow(error);
}

/** Used in `catch`: returns a PlatformError as a value, and throws every other error again. */
export function orPlatformError(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  throw error;
}

/**
 * Creates the error for a response whose status is not 2xx. The names in `headers` are lower case. `nowMs` is needed to
 * convert a date in Retry-After into a wait.
 */
export function errorOfStatus(
  facts: PlatformErrorFacts & { readonly status: number },
  headers: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): PlatformError {
  const { status } = facts;
  const full = { ...facts, retryAfterMs: retryAfterOf(headers['retry-after'], nowMs) };
  if (status === 400 || status === 422) return new BadRequestError('the request was refused', full);
  if (status === 401) return new UnauthorizedError('the credential was not accepted', full);
  if (status === 403) return new ForbiddenError('the credential lacks permission', full);
  if (status === 404) return new NotFoundError('not found', full);
  if (status === 408) return new TimeoutError('the platform did not receive the whole request in time', full);
  if (status === 409 || status === 412)
    return new ConflictError('the record has changed since the version in the request', full);
  if (status === 429) return new RateLimitedError('too many requests', full);
  if (status >= 500) return new ServerError('the platform failed', full);
  if (status >= 300 && status < 400) return new UnexpectedStatusError('redirects are not followed', full);
  return new UnexpectedStatusError('unexpected status', full);
}

export type Calling = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** Reads the client's pages. Each read of a page goes through `call`. */
export async function* calling<Page>(pages: AsyncGenerator<Page, void>, call: Calling): AsyncGenerator<Page> {
  for (;;) {
    const { value, done } = await call(() => pages.next());
    if (done === true) return;
    yield value as Page;
  }
}

export function failureOf(cause: PlatformError, secretVersion: string): PlatformFailure {
  const { method, pathTemplate, status, retryAfterMs } = cause;
  const call = CALLS.get(`${method} ${pathTemplate}`) ?? 'other';
  const detail = { call, status, retryAfterMs, secretVersion, cause };
  return new PlatformFailure(kindOf(cause), cause.message, detail);
}

const CALLS: ReadonlyMap<string, PlatformFailure['call']> = new Map([
  ['GET /platform/api/groups', 'groups'],
  ['GET /platform/api/groups/{groupId}', 'group'],
  ['POST /platform/api/groups', 'create'],
  ['PUT /platform/api/groups/{groupId}', 'change'],
  ['PATCH /platform/api/groups/{groupId}', 'change'],
  ['DELETE /platform/api/groups/{groupId}', 'delete'],
]);

function kindOf(error: PlatformError): PlatformFailure['kind'] {
  if (error instanceof UnauthorizedError) return 'unauthorized';
  if (error instanceof ForbiddenError || error.status === 402) return 'forbidden';
  if (error instanceof RateLimitedError) return 'throttled';
  // If the token request failed, the call itself was not sent, and the status is the answer to the token request.
  if (error.sent === 'no' && !(error instanceof InvalidRequestError)) return 'unreached';
  if (error instanceof NotFoundError || error.status === 410) return 'not_found';
  if (UNAVAILABLE.some((one) => error instanceof one)) return 'unavailable';
  if (NO_ANSWER.some((one) => error instanceof one)) {
    return mayHaveTakenEffect(error) ? 'unanswered' : 'unreached';
  }
  return 'rejected';
}

const UNAVAILABLE = [ServerError, UnexpectedBodyError, ReportedError];
const NO_ANSWER = [TimeoutError, NetworkError, AbortedError];
