import * as z from 'zod';
import { DirectoryError, type DirectoryErrorKind } from '../../sync/ports/directory.ts';
import { ErrorCode } from '../error-code.ts';
import type { DirectoryAnswer } from '../exchange.ts';

/** "Microsoft Graph error responses and resource types". */
const GraphError = z.object({ error: z.object({ code: ErrorCode }) });
/** RFC 6749, section 5.2, with the numbers of Microsoft. */
const TokenError = z.object({
  error: ErrorCode.optional().catch(undefined),
  error_codes: z.array(z.number()).default([]),
});

/** Returns the error for an answer of Microsoft Graph other than 200. */
export function graphRefusal(
  operation: string,
  answer: DirectoryAnswer,
  body: unknown,
  nowMs: number,
): DirectoryError {
  const code = GraphError.safeParse(body).data?.error.code;
  // The status 410 alone shows that a link to changes is not valid any more.
  const reason = code ?? (answer.status === 410 ? 'gone' : undefined);
  return refusal(operation, answer, { kind: kindOf(answer.status, reason), reason, nowMs });
}

/**
 * Returns the error for an answer of the token endpoint other than 200. The credential is refused with 400, 401, 403 and
 * 404.
 */
export function tokenRefusal(
  operation: string,
  answer: DirectoryAnswer,
  body: unknown,
  nowMs: number,
): DirectoryError {
  const { error, error_codes: codes = [] } = TokenError.safeParse(body).data ?? {};
  const reason = codes[0] === undefined ? error : `AADSTS${codes[0]}`;
  const kind = kindOf(answer.status, reason);
  const isRefused = kind === 'odd' || kind === 'missing';
  return refusal(operation, answer, { kind: isRefused ? 'denied' : kind, reason, nowMs });
}

interface Judged {
  readonly kind: DirectoryErrorKind;
  readonly reason: string | undefined;
  readonly nowMs: number;
}

function refusal(
  operation: string,
  { status, retryAfter }: DirectoryAnswer,
  { kind, reason, nowMs }: Judged,
): DirectoryError {
  const suffix = reason === undefined ? '' : ` (${reason})`;
  const message = `${operation}: the directory answered ${status}${suffix}`;
  return new DirectoryError(kind, message, { reason, retryAfterMs: waitOf(retryAfter, nowMs) });
}

/** @param code the code in the answer; undefined if the answer is not one of Microsoft Graph */
function kindOf(status: number, code: string | undefined): DirectoryErrorKind {
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'denied';
  // A proxy or a wrong address answers 404 too, but without the code. That is no proof that an object is gone.
  if (status === 404 && code !== undefined) return 'missing';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'odd';
}

/** Returns the time of the header `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). */
function waitOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const untilMs = Date.parse(header);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}
