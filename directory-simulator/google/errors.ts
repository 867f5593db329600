import { DirectoryError } from '../engine/dialect.ts';

interface Shape {
  readonly status: number;
  /** The domain of the error: `usageLimits` for quotas, otherwise `global`. */
  readonly domain: string;
  readonly reason: string;
  readonly message: string;
  /** The canonical name of the error, which newer services add. */
  readonly canonical?: string;
  readonly details?: readonly unknown[];
}

function apiError({ status, domain, reason, message, canonical, details }: Shape): DirectoryError {
  const error = {
    code: status,
    message,
    errors: [{ message, domain, reason }],
    ...(canonical === undefined ? {} : { status: canonical }),
    ...(details === undefined ? {} : { details }),
  };
  const headers: Readonly<Record<string, string>> =
    status === 401 ? { 'www-authenticate': 'Bearer realm="https://accounts.google.com/"' } : {};
  return new DirectoryError(status, { error }, headers);
}

const global = (status: number, reason: string, message: string) =>
  apiError({ status, domain: 'global', reason, message });
const usageLimits = (status: number, reason: string, message: string) =>
  apiError({ status, domain: 'usageLimits', reason, message });

export const badRequest = () => global(400, 'badRequest', 'Bad Request');
export const invalidInput = (what: string) => global(400, 'invalid', `Invalid Input: ${what}`);
export const notFound = (what: string) => global(404, 'notFound', `Resource Not Found: ${what}`);
/**
 * Returns the error for a missing right. A request for an address of another customer also gives this error, even if
 * the address does not exist.
 */
export const forbidden = () => global(403, 'forbidden', 'Not Authorized to access this resource/api');
export const userRateLimitExceeded = () =>
  usageLimits(403, 'userRateLimitExceeded', 'User Rate Limit Exceeded');

export const authError = () =>
  apiError({
    status: 401,
    domain: 'global',
    reason: 'authError',
    message: 'Request had invalid authentication credentials.',
    canonical: 'UNAUTHENTICATED',
  });

export const insufficientScopes = (method: string) =>
  apiError({
    status: 403,
    domain: 'global',
    reason: 'insufficientPermissions',
    message: 'Request had insufficient authentication scopes.',
    canonical: 'PERMISSION_DENIED',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
        domain: 'googleapis.com',
        metadata: { method },
      },
    ],
  });

/** Returns an error of a token endpoint (RFC 6749, section 5.2). */
export const oauthError = (status: number, error: string, description: string) =>
  new DirectoryError(status, { error, error_description: description });

/** The errors that a fault can cause, by name: the documented errors, and the page of a proxy. */
export const GOOGLE_ERRORS: Readonly<Record<string, () => DirectoryError>> = {
  badRequest,
  authError,
  insufficientPermissions: () => insufficientScopes('unknown'),
  forbidden,
  domainCannotUseApis: () =>
    global(403, 'domainCannotUseApis', 'The domain administrator has disabled access to the API.'),
  accessNotConfigured: () =>
    usageLimits(
      403,
      'accessNotConfigured',
      'Admin SDK API has not been used in this project or is disabled.',
    ),
  notFound: () => notFound('groupKey'),
  userRateLimitExceeded,
  quotaExceeded: () => usageLimits(403, 'quotaExceeded', 'Quota exceeded for this operation'),
  rateLimitExceeded: () => usageLimits(429, 'rateLimitExceeded', 'Rate Limit Exceeded'),
  internalError: () => global(500, 'internalError', 'Internal Error'),
  backendError: () => global(503, 'backendError', 'Service unavailable. Please try again'),
  badGateway: () => new DirectoryError(502, '<html><title>Error 502 (Server Error)</title></html>'),
};

export const RANDOM_FAILURES = [
  'userRateLimitExceeded',
  'quotaExceeded',
  'rateLimitExceeded',
  'internalError',
  'backendError',
  'badGateway',
];
