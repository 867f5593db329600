import { DirectoryError } from '../sync/ports/directory.ts';
import type { DirectoryWorld } from './exchange.ts';

const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 16_000;
/** If a directory demands a longer wait, the call is not retried. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Retries a call that failed with `busy` or `unavailable`, with exponential backoff and full jitter ("Directory API:
 * Limits and quotas"). If the directory demands a wait, the jitter is added to this wait. After the last attempt, or if
 * the run would end before the next attempt, the error of the call is thrown.
 * @throws DirectoryError `busy`, even for a 503, instead of a retry after more than a minute
 */
export async function retrying<Result>(world: RetryWorld, call: () => Promise<Result>): Promise<Result> {
  const { untilMs = Number.POSITIVE_INFINITY } = world;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || attempt === MAX_ATTEMPTS) throw error;
      const waitMs = waitBefore(attempt, error, world);
      if (world.clock() + waitMs >= untilMs) throw error;
      await world.sleep(waitMs);
    }
  }
}

type RetryWorld = Pick<DirectoryWorld, 'random' | 'sleep' | 'clock' | 'untilMs'>;

function waitBefore(attempt: number, error: DirectoryError, { random }: RetryWorld): number {
  const earliestMs = error.retryAfterMs ?? 0;
  if (earliestMs > MAX_RETRY_AFTER_MS) throw busy(error);
  const longestMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return earliestMs + Math.ceil(random() * longestMs);
}

const isTransient = (error: unknown): error is DirectoryError =>
  error instanceof DirectoryError && (error.kind === 'busy' || error.kind === 'unavailable');

const busy = (cause: DirectoryError): DirectoryError =>
  new DirectoryError('busy', cause.message, {
    reason: cause.reason,
    retryAfterMs: cause.retryAfterMs,
    cause,
  });
