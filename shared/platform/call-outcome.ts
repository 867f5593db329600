import type { CallOutcome } from '../sync/ports/platform.ts';
import type { AttemptFacts } from './call.ts';

/** The statuses from 400 to 499 that count as failed calls. */
const FAILURES: ReadonlySet<number> = new Set([401, 402, 403, 408, 429]);

/**
 * Returns the outcome of a call after its last attempt. The other statuses from 400 to 499, such as 404 or 409, count
 * as a success, because they show that the platform works.
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
  if (status < 300) return { endpoint, failure: error };
  const isFailed = status < 400 || status >= 500 || FAILURES.has(status);
  return { endpoint, failure: isFailed ? String(status) : undefined };
}
