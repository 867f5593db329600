import { DirectoryError, type DirectoryErrorKind } from '../../sync/ports/directory.ts';
import { ApiError, TokenRefusal } from './schemas.ts';

/** Returns the error for an answer other than 200. */
export function refusal(operation: string, status: number, body: unknown): DirectoryError {
  const error = ApiError.safeParse(body).data?.error;
  const reason = error?.errors[0]?.reason ?? error?.status ?? TokenRefusal.safeParse(body).data?.error;
  const suffix = reason === undefined ? '' : ` (${reason})`;
  return new DirectoryError(
    kindOf(status, reason),
    `${operation}: the directory answered ${status}${suffix}`,
    { reason },
  );
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
  if (status === 404) return 'missing';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'odd';
}
