export type Time = ReturnType<typeof createTime>;

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * All that follows from one event without waiting is done before the next: microtasks and ticks come between immediates.
 * So many share a turn of the event loop, in which the system is asked for news each time.
 */
const AT_A_TURN = 100;

/** Simulated time. Waiting tasks resume one at a time in the order of their instants, then in the order of their calls. */
export function createTime(startMs: number) {
  let now = startMs;
  /** Sorted, the next one last. */
  const queue: Due[] = [];
  /** Calls a function at an instant, or immediately if it is past. */
  const at = (wantedMs: number, run: () => void): void => {
    const atMs = Math.max(now, wantedMs);
    let low = 0;
    let high = queue.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((queue[middle] as Due).atMs > atMs) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, { atMs, run });
  };
  return {
    /** Milliseconds since 1970. */
    nowMs: () => now,
    at,
    /** Waits; 0 lets all tasks that are due now go first. */
    sleep: (ms: number) => new Promise<void>((resolve) => at(now + ms, resolve)),
    /** Runs all tasks up to this instant. */
    run: (untilMs: number) =>
      new Promise<void>((resolve, reject) => {
        const isDue = () => (queue.at(-1)?.atMs ?? Number.POSITIVE_INFINITY) <= untilMs;
        const one = () => {
          if (!isDue()) return;
          const { atMs, run } = queue.pop() as Due;
          now = atMs;
          try {
            run();
          } catch (error) {
            queue.length = 0;
            reject(error);
          }
        };
        const turn = () => {
          const isNext = isDue();
          for (let left = isNext ? AT_A_TURN : 0; left > 0; left -= 1) setImmediate(one);
          if (isNext) return setImmediate(turn);
          now = Math.max(now, untilMs);
          return resolve();
        };
        turn();
      }),
  };
}
