import { parseJson } from '../../contract/json.ts';
import { DirectoryError, type DirectoryErrorKind } from '../../sync/ports/directory.ts';
import type { DirectoryAnswer } from '../exchange.ts';
import { headersOf } from '../exchange.ts';
import { ApiError, TokenRefusal } from './schemas.ts';

/** Returns the error for an answer other than 200. */
export function refusal(operation: string, answer: DirectoryAnswer): DirectoryError {
  const { status } = answer;
  const reason = reasonOf(answer);
  const suffix = reason === undefined ? '' : ` (${reason})`;
  const message = `${operation}: the directory answered ${status}${suffix}`;
  return new DirectoryError(kindOf(status, reason), message, { reason });
}

/** Returns the code of the error: of the API, of the token endpoint (RFC 6749), or of a refused token (RFC 6750). */
export function reasonOf(answer: DirectoryAnswer): string | undefined {
  const json = parseJson(answer.text);
  const body = json.ok ? json.value : undefined;
  const challenge = headersOf(answer, 'www-authenticate').join();
  return (
    ApiError.safeParse(body).data?.errorCode ??
    TokenRefusal.safeParse(body).data?.error ??
    /\berror="([\w.-]{1,64})"/.exec(challenge)?.[1]
  );
}

/** A refused proof of a key (RFC 9449). Okta may answer it with 400. */
const PROOF_REASONS = new Set(['invalid_dpop_proof', 'use_dpop_nonce']);

function kindOf(status: number, reason: string | undefined): DirectoryErrorKind {
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return 'missing';
  if (status === 408 || status >= 500) return 'unavailable';
  return reason !== undefined && PROOF_REASONS.has(reason) ? 'denied' : 'odd';
}
