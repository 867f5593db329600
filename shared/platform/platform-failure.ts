import { type FailureKind, PlatformFailure } from '../sync/ports/platform.ts';
import {
  AbortedError,
  ForbiddenError,
  InvalidRequestError,
  mayHaveTakenEffect,
  NetworkError,
  NotFoundError,
  type PlatformError,
  RateLimitedError,
  ReportedError,
  ServerError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedBodyError,
} from './errors.ts';

/** Runs a call of the client, and converts its error into a PlatformFailure. */
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

function kindOf(error: PlatformError): FailureKind {
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
