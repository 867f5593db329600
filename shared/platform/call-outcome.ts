import type { CallOutcome } from '../sync/ports/platform.ts';
import type { AttemptFacts } from './call.ts';

/** The statuses below 500 that count as failed calls. */
const REFUSALS: ReadonlySet<number> = new Set([401, 402, 403, 429]);

/**
 * Returns the outcome of a call after its last attempt. Any status from 300 to 499 that is not in `REFUSALS`, such as
 * 404 or 409, counts as a success: it shows that the platform works.
 * @returns undefined if another attempt follows, or if the caller ended the call
 */
export function outcomeOf({
  method,
  pathTemplate,
  status,
  error,
  waitMs,
}: AttemptFacts): CallOutcome | undefined {
  if (waitMs !== undefined || error === 'AbortedError') return undefined;
  const endpoint = `${method} ${pathTemplate}`;
  if (error === undefined) return { endpoint, failure: undefined };
  if (status === undefined) return { endpoint, failure: error };
  if (status >= 500 || REFUSALS.has(status)) return { endpoint, failure: String(status) };
  return { endpoint, failure: status < 300 ? error : undefined };
}
