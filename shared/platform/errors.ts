import { ANSWER_PREFIX } from '../sync/ports/platform.ts';
import { retryAfterOf } from './retry.ts';

/**
 * Whether the request can have reached the platform.
 * `no`: it provably did not (refused connection, unknown host, failed handshake, not sent at all).
 * `maybe`: it was sent, or was being sent, and no answer came. `answered`: an HTTP answer came, whatever it says.
 */
export type Sent = 'no' | 'maybe' | 'answered';

/** The facts in every error of the client. They never contain a token, an e-mail address or a whole body. */
export interface PlatformErrorFacts {
  readonly method: string;
  /** The path as the specification writes it (`/platform/api/groups/{groupId}`), so that errors group by endpoint. */
  readonly pathTemplate: string;
  readonly sent: Sent;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The beginning of the answer, at most 500 characters, redacted. */
  readonly excerpt?: string | undefined;
  /** How long the platform asked us to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Any failed call. The subclass says what happened; `sent` and `mayHaveTakenEffect` say what may be done about it. */
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

/** Our own arguments are not what the specification allows; nothing was sent. */
export class InvalidRequestError extends PlatformError {}
/** 400 or 422: the platform refuses the content. Some platforms answer a stale group version like this too. */
export class BadRequestError extends PlatformError {}
/** 401: the credential is expired or revoked. A state of the connection, not of one call. */
export class UnauthorizedError extends PlatformError {}
/** The token endpoint says `invalid_grant`: the refresh token is no longer good (RFC 6749 section 5.2). */
export class InvalidGrantError extends UnauthorizedError {}
/** 403: the credential lacks a permission. */
export class ForbiddenError extends PlatformError {}
/** 404: no such record for this company. */
export class NotFoundError extends PlatformError {}
/** 409 or 412: the record changed since the version that was sent. */
export class ConflictError extends PlatformError {}
/** 429: too many calls. `retryAfterMs` is set if the platform states a wait. Nothing was done. */
export class RateLimitedError extends PlatformError {}
/** 5xx. A write may have taken effect. */
export class ServerError extends PlatformError {}
/** No whole answer in time (also 408). A write may have taken effect unless `sent` is `no`. */
export class TimeoutError extends PlatformError {}
/** No connection, or it broke. A write may have taken effect unless `sent` is `no`. */
export class NetworkError extends PlatformError {}
/** The caller's own signal ended the call. */
export class AbortedError extends PlatformError {}
/** Any other status: another 4xx, or a redirect, which is never followed. */
export class UnexpectedStatusError extends PlatformError {}
/** A 2xx answer whose error member is not null (company activity). */
export class ReportedError extends PlatformError {}

/** A 2xx answer that is not what the specification says: `field` is the path of the first thing that is wrong. */
export class UnexpectedBodyError extends PlatformError {
  readonly field: string | undefined;

  constructor(what: string, facts: PlatformErrorFacts, field?: string) {
    super(what, facts);
    this.field = field;
  }
}

/**
 * Whether a write that ended in this error may have been done all the same. False only if it provably was not:
 * it never left, or the platform definitely rejected it.
 */
export function mayHaveTakenEffect(error: PlatformError): boolean {
  if (error.sent !== 'answered') return error.sent === 'maybe';
  const status = error.status ?? 0;
  return status < 300 || status >= 500 || status === 408;
}

/** Of an answer 2xx that says something else than is specified. */
export const answered = ({ method, path }: { readonly method: string; readonly path: string }) =>
  ({ method, pathTemplate: path, sent: 'answered', status: 200 }) as const;

/** A page that the platform or a gateway could not give in time: a smaller one may come through. */
export function isTooSlow(error: unknown): boolean {
  return error instanceof TimeoutError || (error instanceof ServerError && error.status === 504);
}

/** Whether one item may have failed the page: a record that the platform cannot return, or whose form is not as specified. */
export function isOfItsItems(error: unknown): boolean {
  return error instanceof ServerError || error instanceof UnexpectedBodyError || isTooSlow(error);
}

/** For `catch`: a failure of the platform becomes a value, and any other error is thrown. */
export function orPlatformError(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  throw error;
}

/** The error of an HTTP answer outside 2xx. `headers` have lower-case names; `nowMs` turns a Retry-After date into a wait. */
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
  if (status === 408) return new TimeoutError('the platform gave up waiting for the request', full);
  if (status === 409 || status === 412) return new ConflictError('changed since the version sent', full);
  if (status === 429) return new RateLimitedError('too many requests', full);
  if (status >= 500) return new ServerError('the platform failed', full);
  if (status >= 300 && status < 400) return new UnexpectedStatusError('redirects are not followed', full);
  return new UnexpectedStatusError('unexpected status', full);
}
