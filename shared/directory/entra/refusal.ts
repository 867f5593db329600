import * as z from 'zod';
import type { DirectoryError } from '../../sync/ports/directory.ts';
import { ErrorCode } from '../error-code.ts';
import type { DirectoryAnswer } from '../exchange.ts';
import { kindOf, refused, signInKindOf } from '../refusal.ts';

/** The error of an answer of Graph ("Microsoft Graph error responses and resource types"). */
const GraphError = z.object({ error: z.object({ code: ErrorCode }) });
/** The error of the token endpoint (RFC 6749, section 5.2), with Microsoft's error numbers. */
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
  // An answer 410 without a code also means that a link to changes is no longer valid.
  const reason = code ?? (answer.status === 410 ? 'gone' : undefined);
  const kind = kindOf(answer.status, reason !== undefined);
  return refused(operation, answer.status, { kind, reason, retryAfterMs: waitOf(answer, nowMs) });
}

/** Returns the error for an answer of the token endpoint other than 200. */
export function tokenRefusal(
  operation: string,
  answer: DirectoryAnswer,
  body: unknown,
  nowMs: number,
): DirectoryError {
  const { error, error_codes: codes = [] } = TokenError.safeParse(body).data ?? {};
  const reason = codes[0] === undefined ? error : `AADSTS${codes[0]}`;
  const kind = signInKindOf(kindOf(answer.status, reason !== undefined));
  return refused(operation, answer.status, { kind, reason, retryAfterMs: waitOf(answer, nowMs) });
}

/**
 * Returns the wait in ms that `Retry-After` demands. The header contains seconds or a date (RFC 9110, section 10.2.3).
 */
function waitOf({ retryAfter: header }: DirectoryAnswer, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const untilMs = Date.parse(header);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}
