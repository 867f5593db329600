import { DirectoryError, type DirectoryErrorKind } from '../ports.ts';

interface Refusal {
  readonly kind: DirectoryErrorKind;
  readonly reason: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

export function refused(operation: string, status: number, { kind, ...rest }: Refusal): DirectoryError {
  const suffix = rest.reason === undefined ? '' : ` (${rest.reason})`;
  return new DirectoryError(kind, `${operation}: the directory answered ${status}${suffix}`, rest);
}

/**
 * @param isOfDirectory whether the body comes from the directory. A proxy, or the server of a wrong address, can answer
 * 404 without the directory's code. Such a 404 does not prove that an object is gone.
 */
export function kindOf(status: number, isOfDirectory: boolean): DirectoryErrorKind {
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'denied';
  if (status === 404 && isOfDirectory) return 'missing';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'invalid';
}

/** Returns the kind of error of a failed sign-in. Each status except 408, 429 and 5xx means a refused credential. */
export const signInKindOf = (kind: DirectoryErrorKind): DirectoryErrorKind =>
  kind === 'invalid' || kind === 'missing' ? 'denied' : kind;
