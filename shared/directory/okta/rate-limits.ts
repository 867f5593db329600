import type { DirectoryAnswer, DirectoryWorld } from '../exchange.ts';
import { headersOf } from '../exchange.ts';

/** A limit counts the calls of one minute ("Rate limits"). So no wait is longer, whatever the clocks show. */
const LONGEST_WAIT_MS = 61_000;
/** `X-Rate-Limit-Reset` has whole seconds. */
const MARGIN_MS = 1_000;

export interface RateLimits {
  /** Sends one call, as soon as the limit of its operation allows that. */
  run(operation: string, send: () => Promise<DirectoryAnswer>): Promise<DirectoryAnswer>;
}

/** The calls of one operation. */
interface Window {
  /** The calls that may still be sent until `resetMs`. */
  free: number;
  resetMs: number;
  /** The calls without an answer. */
  inFlight: number;
}

/**
 * Keeps to half of each limit, so that the other half is left to the sign-ins and other programs of the organisation.
 * Okta counts each operation by itself, and each answer shows its limit, the remaining calls and the end of the minute.
 *
 *   the last answer                    | the next call
 *   -----------------------------------|-----------------------------
 *   more than half of the limit is left | is sent at once
 *   at most half of the limit is left   | waits until the minute ends
 *   429                                 | waits until the minute ends
 */
export function createRateLimits({ clock, sleep }: Pick<DirectoryWorld, 'clock' | 'sleep'>): RateLimits {
  const windows = new Map<string, Window>();
  const windowOf = (operation: string) => {
    const window = windows.get(operation) ?? { free: Number.POSITIVE_INFINITY, resetMs: 0, inFlight: 0 };
    windows.set(operation, window);
    return window;
  };
  const waitFor = async (window: Window) => {
    for (;;) {
      const waitMs = window.resetMs - clock();
      if (waitMs <= 0 || window.free - window.inFlight > 0) return;
      await sleep(waitMs);
    }
  };
  return {
    async run(operation, send) {
      const window = windowOf(operation);
      await waitFor(window);
      window.inFlight += 1;
      try {
        const answer = await send();
        Object.assign(window, limitIn(answer, clock()));
        return answer;
      } finally {
        window.inFlight -= 1;
      }
    },
  };
}

function limitIn(answer: DirectoryAnswer, nowMs: number): Pick<Window, 'free' | 'resetMs'> | undefined {
  const number = (name: string) => Number.parseInt(headersOf(answer, `x-rate-limit-${name}`)[0] ?? '', 10);
  const limit = number('limit');
  const remaining = number('remaining');
  const endMs = number('reset') * 1_000;
  if (Number.isNaN(limit + remaining + endMs)) return undefined;
  const latestMs = nowMs + LONGEST_WAIT_MS;
  if (answer.status !== 429) {
    return { free: remaining - Math.floor(limit / 2), resetMs: Math.min(endMs, latestMs) };
  }
  return { free: 0, resetMs: Math.min(Math.max(endMs, nowMs) + MARGIN_MS, latestMs) };
}
