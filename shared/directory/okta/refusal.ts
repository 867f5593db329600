import { parseJson } from '../../contract/json.ts';
import { DirectoryError, type DirectoryErrorKind } from '../../sync/ports/directory.ts';
import type { DirectoryAnswer } from '../exchange.ts';
import { headersOf } from '../exchange.ts';
import { ApiError, ProofRefusal, TokenRefusal } from './schemas.ts';

/** Returns the error for an answer of the API other than 200. */
export function apiRefusal(operation: string, answer: DirectoryAnswer): DirectoryError {
  const reason = apiReasonOf(answer);
  return errorOf(operation, answer, { kind: kindOf(answer.status, reason), reason });
}

/**
 * Returns the error for an answer of the token endpoint other than 200. The application is refused with 400, 401, 403 and
 * 404.
 */
export function tokenRefusal(operation: string, answer: DirectoryAnswer): DirectoryError {
  const reason = tokenReasonOf(answer);
  const kind = kindOf(answer.status, reason);
  const isRefused = kind === 'odd' || kind === 'missing';
  return errorOf(operation, answer, { kind: isRefused ? 'denied' : kind, reason });
}

/** Returns the code of an error of the API, of a refused proof (RFC 9449), or of a refused token (RFC 6750). */
export function apiReasonOf(answer: DirectoryAnswer): string | undefined {
  const body = bodyOf(answer);
  return (
    ApiError.safeParse(body).data?.errorCode ??
    ProofRefusal.safeParse(body).data?.error ??
    challengeOf(answer)
  );
}

/** Returns the code of an error of the token endpoint (RFC 6749). */
export function tokenReasonOf(answer: DirectoryAnswer): string | undefined {
  const body = bodyOf(answer);
  return (
    ApiError.safeParse(body).data?.errorCode ??
    TokenRefusal.safeParse(body).data?.error ??
    challengeOf(answer)
  );
}

function bodyOf({ text }: DirectoryAnswer): unknown {
  const json = parseJson(text);
  return json.ok ? json.value : undefined;
}

const challengeOf = (answer: DirectoryAnswer): string | undefined =>
  /\berror="([\w.-]{1,64})"/.exec(headersOf(answer, 'www-authenticate').join())?.[1];

interface Judged {
  readonly kind: DirectoryErrorKind;
  readonly reason: string | undefined;
}

function errorOf(operation: string, { status }: DirectoryAnswer, { kind, reason }: Judged): DirectoryError {
  const suffix = reason === undefined ? '' : ` (${reason})`;
  return new DirectoryError(kind, `${operation}: the directory answered ${status}${suffix}`, { reason });
}

/** "Resource not found" in Okta's list of error codes. */
const NOT_FOUND = 'E0000007';

function kindOf(status: number, reason: string | undefined): DirectoryErrorKind {
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'denied';
  // A proxy or a wrong address answers 404 too, but without this code. That is no proof that an object is gone.
  if (status === 404 && reason === NOT_FOUND) return 'missing';
  if (status === 408 || status >= 500) return 'unavailable';
  // Okta may answer a refused proof with 400.
  return ProofRefusal.shape.error.safeParse(reason).success ? 'denied' : 'odd';
}
