import { type DirectoryAnswer, type DirectoryWorld, headersOf } from '../exchange.ts';

/** The longest wait. A limit counts the calls of one minute ("Rate limits"), so a longer wait means a wrong clock. */
const LONGEST_WAIT_MS = 61_000;
/** Time that is added to `X-Rate-Limit-Reset` after a 429, because that header has whole seconds. */
const MARGIN_MS = 1_000;
/** The part of a limit that the calls of this process can use. */
const OWN_SHARE = 1 / 2;
/** The part of a limit that this process leaves to other programs. */
const RESERVED_SHARE = 1 / 10;

export interface RateLimits {
  /** Sends one call as soon as the limit of its operation allows the call. */
  run(operation: string, send: () => Promise<DirectoryAnswer>): Promise<DirectoryAnswer>;
}

interface Window {
  limit: number;
  /** The lowest number of remaining calls that an answer has shown in this minute; 0 after a 429. */
  remaining: number;
  resetMs: number;
  /** The calls that this process has sent in this minute. */
  own: number;
  /** The calls of this process that have no answer yet. */
  inFlight: number;
}

/**
 * Limits this process to half of each limit, and leaves the last tenth of the limit to other programs. Calls of other
 * programs do not count towards the half. Otherwise a busy program would leave groupsync only one call a minute. Okta
 * counts each operation separately. Each answer shows its limit, the remaining calls and the end of the minute.
 *
 *   in this minute                                          | the next call
 *   --------------------------------------------------------|--------------------------------------
 *   this process has sent half of the limit                 | waits until the minute ends
 *   at most a tenth remains after the calls without answer  | waits until the minute ends
 *   Okta answered 429                                       | waits until a second after the minute
 *   otherwise                                               | is sent at once
 */
export function createRateLimits({ clock, sleep }: Pick<DirectoryWorld, 'clock' | 'sleep'>): RateLimits {
  const windows = new Map<string, Window>();
  const windowOf = (operation: string) => {
    const window = windows.get(operation) ?? { limit: 0, remaining: 0, resetMs: 0, own: 0, inFlight: 0 };
    windows.set(operation, window);
    return window;
  };
  const waitFor = async (window: Window) => {
    for (;;) {
      const waitMs = window.resetMs - clock();
      if (waitMs <= 0 || isFree(window)) return;
      await sleep(waitMs);
    }
  };
  return {
    async run(operation, send) {
      const window = windowOf(operation);
      await waitFor(window);
      window.own += 1;
      window.inFlight += 1;
      try {
        const answer = await send();
        updateWindow(window, answer, clock());
        return answer;
      } finally {
        window.inFlight -= 1;
      }
    },
  };
}

const isFree = ({ limit, remaining, own, inFlight }: Window): boolean =>
  own < Math.floor(limit * OWN_SHARE) && remaining - inFlight > limit * RESERVED_SHARE;

function updateWindow(window: Window, answer: DirectoryAnswer, nowMs: number): void {
  const number = (name: string) => Number.parseInt(headersOf(answer, `x-rate-limit-${name}`)[0] ?? '', 10);
  const limit = number('limit');
  const remaining = number('remaining');
  const endMs = number('reset') * 1_000;
  if (Number.isNaN(limit + remaining + endMs)) return;
  const latestMs = nowMs + LONGEST_WAIT_MS;
  const isNew = nowMs >= window.resetMs;
  window.limit = limit;
  window.remaining = isNew ? remaining : Math.min(window.remaining, remaining);
  if (isNew) {
    // A new minute has begun. Only the answered call and the calls without an answer belong to this minute.
    window.own = window.inFlight;
    window.resetMs = Math.min(endMs, latestMs);
  }
  if (answer.status !== 429) return;
  window.remaining = 0;
  window.resetMs = Math.min(Math.max(endMs, nowMs) + MARGIN_MS, latestMs);
}
