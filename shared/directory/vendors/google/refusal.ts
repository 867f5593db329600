import type { DirectoryError, DirectoryErrorKind } from '../../ports.ts';
import { kindOf, refused, signInKindOf } from '../refusal.ts';
import { ApiError, TokenRefusal } from './schemas.ts';

/** Returns the error for an answer of the API other than 200. */
export function apiRefusal(operation: string, status: number, body: unknown): DirectoryError {
  const reason = apiReasonOf(body);
  return refused(operation, status, { kind: googleKindOf(status, reason), reason });
}

/** Returns the error for an answer of the sign-in other than 200. */
export function signInRefusal(operation: string, status: number, body: unknown): DirectoryError {
  const reason = apiReasonOf(body) ?? TokenRefusal.safeParse(body).data?.error;
  return refused(operation, status, { kind: signInKindOf(googleKindOf(status, reason)), reason });
}

function apiReasonOf(body: unknown): string | undefined {
  const error = ApiError.safeParse(body).data?.error;
  return error?.errors[0]?.reason ?? error?.status;
}

/** Reasons that ask the client to retry later, although the status is 403 ("Directory API: Limits and quotas"). */
const QUOTA_REASONS = new Set([
  'userRateLimitExceeded',
  'rateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
]);

function googleKindOf(status: number, reason: string | undefined): DirectoryErrorKind {
  if (status === 403 && reason !== undefined && QUOTA_REASONS.has(reason)) return 'busy';
  return kindOf(status, reason !== undefined);
}
