import { DirectoryError, type DirectoryErrorKind } from '../../sync/ports/directory.ts';
import { ApiError, TokenRefusal } from './schemas.ts';

/** Returns the error for an answer of the API other than 200. */
export function apiRefusal(operation: string, status: number, body: unknown): DirectoryError {
  const reason = apiReasonOf(body);
  return errorOf(operation, status, { kind: kindOf(status, reason), reason });
}

/** Returns the error for an answer of the sign-in other than 200. The credential is refused with 400, 401, 403 and 404. */
export function signInRefusal(operation: string, status: number, body: unknown): DirectoryError {
  const reason = apiReasonOf(body) ?? TokenRefusal.safeParse(body).data?.error;
  const kind = kindOf(status, reason);
  const isRefused = kind === 'odd' || kind === 'missing';
  return errorOf(operation, status, { kind: isRefused ? 'denied' : kind, reason });
}

function apiReasonOf(body: unknown): string | undefined {
  const error = ApiError.safeParse(body).data?.error;
  return error?.errors[0]?.reason ?? error?.status;
}

interface Judged {
  readonly kind: DirectoryErrorKind;
  readonly reason: string | undefined;
}

function errorOf(operation: string, status: number, { kind, reason }: Judged): DirectoryError {
  const suffix = reason === undefined ? '' : ` (${reason})`;
  return new DirectoryError(kind, `${operation}: the directory answered ${status}${suffix}`, { reason });
}

/** Reasons that ask the client to retry later, although the status is 403 ("Directory API: Limits and quotas"). */
const QUOTA_REASONS = new Set([
  'userRateLimitExceeded',
  'rateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
]);

function kindOf(status: number, reason: string | undefined): DirectoryErrorKind {
  if (status === 429) return 'busy';
  if (status === 403 && reason !== undefined && QUOTA_REASONS.has(reason)) return 'busy';
  if (status === 401 || status === 403) return 'denied';
  // A proxy or a wrong address answers 404 too, but without a code. That is no proof that an object is gone.
  if (status === 404 && reason !== undefined) return 'missing';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'odd';
}
