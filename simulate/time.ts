export type Time = ReturnType<typeof createTime>;

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * The number of events per turn of the event loop. The number is large because each turn polls the operating system.
 * The microtasks and ticks of one event end before the next event starts.
 */
const AT_A_TURN = 100;

/** Creates the simulated time. */
export function createTime(startMs: number) {
  let now = startMs;
  /** The waiting tasks. The last element is the next task. */
  const queue: Due[] = [];
  /** Calls a function at this time. If the time is in the past, calls the function as soon as possible. */
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
    /** Waits in simulated time. With 0, all other tasks that are due now run first. */
    sleep: (ms: number) => new Promise<void>((resolve) => at(now + ms, resolve)),
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
