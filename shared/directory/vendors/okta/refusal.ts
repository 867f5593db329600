import { jsonValue } from '../../../contract/json.ts';
import type { DirectoryError, DirectoryErrorKind } from '../../ports.ts';
import { type DirectoryAnswer, headersOf } from '../exchange.ts';
import { kindOf, refused, signInKindOf } from '../refusal.ts';
import { ApiError, ProofRefusal, TokenRefusal } from './schemas.ts';

/** Returns the error for an answer of the API other than 200. */
export function apiRefusal(operation: string, answer: DirectoryAnswer): DirectoryError {
  const reason = apiReasonOf(answer);
  return refused(operation, answer.status, { kind: oktaKindOf(answer.status, reason), reason });
}

/** Returns the error for an answer of the token endpoint other than 200. */
export function tokenRefusal(operation: string, answer: DirectoryAnswer): DirectoryError {
  const reason = tokenReasonOf(answer);
  const kind = signInKindOf(oktaKindOf(answer.status, reason));
  return refused(operation, answer.status, { kind, reason });
}

const reasonWith =
  (form: typeof ProofRefusal | typeof TokenRefusal) =>
  (answer: DirectoryAnswer): string | undefined => {
    const body = jsonValue(answer.text);
    return (
      ApiError.safeParse(body).data?.errorCode ?? form.safeParse(body).data?.error ?? challengeOf(answer)
    );
  };

/** Returns the code of an error of the API, of a refused proof (RFC 9449), or of a refused token (RFC 6750). */
export const apiReasonOf = reasonWith(ProofRefusal);

/** Returns the code of an error of the token endpoint (RFC 6749). */
export const tokenReasonOf = reasonWith(TokenRefusal);

const challengeOf = (answer: DirectoryAnswer): string | undefined =>
  /\berror="([\w.-]{1,64})"/.exec(headersOf(answer, 'www-authenticate').join())?.[1];

/** "Resource not found" in Okta's list of error codes. */
const NOT_FOUND = 'E0000007';

function oktaKindOf(status: number, reason: string | undefined): DirectoryErrorKind {
  const kind = kindOf(status, reason === NOT_FOUND);
  // Okta can answer a refused proof with 400.
  return kind === 'invalid' && ProofRefusal.shape.error.safeParse(reason).success ? 'denied' : kind;
}
