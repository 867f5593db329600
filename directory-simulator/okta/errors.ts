import { type AnswerHeaders, DirectoryError } from '../engine/dialect.ts';

/** Returns an error in the form of Okta's APIs ("Okta error codes and descriptions"). */
function oktaError(
  status: number,
  errorCode: string,
  errorSummary: string,
  extra: { readonly causes?: readonly string[]; readonly headers?: AnswerHeaders } = {},
): DirectoryError {
  const body = {
    errorCode,
    errorSummary,
    errorLink: errorCode,
    errorId: `oae${errorCode.slice(-4)}SimulatedErrorId`,
    errorCauses: (extra.causes ?? []).map((cause) => ({ errorSummary: cause })),
  };
  return new DirectoryError(status, body, extra.headers);
}

export const validationFailed = (field: string, cause: string) =>
  oktaError(400, 'E0000001', `Api validation failed: ${field}`, { causes: [`${field}: ${cause}`] });
/** The error of the Users API and the Groups API for an unsupported filter. */
export const invalidSearch = () => oktaError(400, 'E0000031', 'Invalid search criteria.');
/** The error of the System Log API for an invalid filter or parameter. */
export const invalidLogFilter = (summary: string) => oktaError(400, 'E0000053', summary);
export const accessDenied = (headers: AnswerHeaders = {}) =>
  oktaError(403, 'E0000006', 'You do not have permission to perform the requested action', { headers });
export const notFound = (what: string, id: string) =>
  oktaError(404, 'E0000007', `Not found: Resource not found: ${id} (${what})`);
export const invalidToken = (headers: AnswerHeaders = {}) =>
  oktaError(401, 'E0000011', 'Invalid token provided', { headers });
export const tooManyRequests = () =>
  oktaError(429, 'E0000047', 'API call exceeded rate limit due to too many requests.');

/** Returns an error of the token endpoint (RFC 6749, section 5.2). */
export const oauthError = (
  status: number,
  error: string,
  error_description: string,
  headers: AnswerHeaders = {},
) => new DirectoryError(status, { error, error_description }, headers);

const page = (status: number, title: string) =>
  new DirectoryError(status, `<html><head><title>${status} ${title}</title></head></html>`);

/** The errors that a fault can cause, by name: documented errors, and pages of a proxy. */
export const OKTA_ERRORS: Readonly<Record<string, () => DirectoryError>> = {
  apiValidationFailed: () => validationFailed('limit', 'must be a number'),
  invalidSearchCriteria: invalidSearch,
  invalidToken: () => invalidToken(),
  accessDenied: () => accessDenied(),
  notFound: () => notFound('UserGroup', '00g1emaKYZTWRYYRRTSK'),
  methodNotAllowed: () =>
    oktaError(405, 'E0000022', 'The endpoint does not support the provided HTTP method'),
  tooManyRequests,
  internalError: () => oktaError(500, 'E0000009', 'Internal Server Error'),
  badGateway: () => page(502, 'Bad Gateway'),
  serviceUnavailable: () => page(503, 'Service Temporarily Unavailable'),
  gatewayTimeout: () => page(504, 'Gateway Time-out'),
};

export const RANDOM_FAILURES = [
  'tooManyRequests',
  'internalError',
  'badGateway',
  'serviceUnavailable',
  'gatewayTimeout',
];
