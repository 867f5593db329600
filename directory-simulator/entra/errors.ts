import { DirectoryError } from '../engine/dialect.ts';

/** A constant request id. Clients must not depend on its value. */
const NO_REQUEST_ID = '00000000-0000-0000-0000-000000000000';

interface Shape {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns an error in the form of Microsoft Graph ("Microsoft Graph error responses and resource types"). */
function graphError({ status, code, message, headers = {} }: Shape): DirectoryError {
  const innerError = {
    date: '2026-01-01T00:00:00',
    'request-id': NO_REQUEST_ID,
    'client-request-id': NO_REQUEST_ID,
  };
  return new DirectoryError(status, { error: { code, message, innerError } }, headers);
}

const RETRY_AFTER_SECONDS = '10';

export const badRequest = (message: string) =>
  graphError({ status: 400, code: 'Request_BadRequest', message });
export const unsupportedQuery = (message: string) =>
  graphError({ status: 400, code: 'Request_UnsupportedQuery', message });
export const expiredPageToken = () =>
  graphError({
    status: 400,
    code: 'Directory_ExpiredPageToken',
    message: 'The specified page token value has expired and can no longer be included in your request.',
  });
export const invalidToken = (message = 'Lifetime validation failed, the token is expired.') =>
  graphError({ status: 401, code: 'InvalidAuthenticationToken', message });
export const requestDenied = () =>
  graphError({
    status: 403,
    code: 'Authorization_RequestDenied',
    message: 'Insufficient privileges to complete the operation.',
  });
export const notFound = (id: string) =>
  graphError({
    status: 404,
    code: 'Request_ResourceNotFound',
    message: `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  });
export const noSuchSegment = () =>
  graphError({ status: 400, code: 'BadRequest', message: 'Resource not found for the segment.' });
export const tooManyRequests = () =>
  graphError({
    status: 429,
    code: 'TooManyRequests',
    message: `Your request is throttled temporarily. Please try after ${RETRY_AFTER_SECONDS} seconds.`,
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  });

const DELTA_ERRORS = {
  syncStateNotFound: 'The sync state generation is not found.',
  resyncRequired: 'Resync is required.',
} as const;
export type DeltaErrorName = keyof typeof DELTA_ERRORS;

/** Returns the error for a state token that is no longer valid. `location` starts a full synchronization. */
export const syncReset = (code: DeltaErrorName, location: string) =>
  graphError({ status: 410, code, message: DELTA_ERRORS[code], headers: { location } });

interface TokenShape {
  readonly status: number;
  /** The OAuth error (RFC 6749, section 5.2). */
  readonly error: string;
  /** The number after `AADSTS`. */
  readonly code: number;
  readonly description: string;
}

/** Returns an error of the token endpoint ("Microsoft Entra authentication and authorization error codes"). */
export function tokenError({ status, error, code, description }: TokenShape): DirectoryError {
  const ids = `Trace ID: ${NO_REQUEST_ID} Correlation ID: ${NO_REQUEST_ID}`;
  return new DirectoryError(status, {
    error,
    error_description: `AADSTS${code}: ${description} ${ids} Timestamp: 2026-01-01 00:00:00Z`,
    error_codes: [code],
    timestamp: '2026-01-01 00:00:00Z',
    trace_id: NO_REQUEST_ID,
    correlation_id: NO_REQUEST_ID,
    error_uri: `https://login.microsoftonline.com/error?code=${code}`,
  });
}

/** The errors that a fault can cause, by name. */
export const ENTRA_ERRORS: Readonly<Record<string, () => DirectoryError>> = {
  badRequest: () => badRequest('Invalid request.'),
  unsupportedQuery: () => unsupportedQuery('Unsupported Query.'),
  expiredPageToken,
  invalidAuthenticationToken: () => invalidToken(),
  authorizationRequestDenied: requestDenied,
  resourceNotFound: () => notFound(NO_REQUEST_ID),
  syncStateNotFound: () => syncReset('syncStateNotFound', ''),
  resyncRequired: () => syncReset('resyncRequired', ''),
  tooManyRequests,
  internalServerError: () =>
    graphError({ status: 500, code: 'InternalServerError', message: 'Internal Server Error' }),
  badGateway: () =>
    new DirectoryError(502, '<html><title>502 - Web server received an invalid response</title></html>'),
  serviceNotAvailable: () =>
    graphError({
      status: 503,
      code: 'serviceNotAvailable',
      message: 'The service is temporarily unavailable. Please retry later.',
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    }),
  gatewayTimeout: () => graphError({ status: 504, code: 'UnknownError', message: '' }),
};

export const RANDOM_FAILURES = [
  'tooManyRequests',
  'internalServerError',
  'badGateway',
  'serviceNotAvailable',
  'gatewayTimeout',
];
