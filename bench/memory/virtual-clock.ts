interface Wait {
  readonly endMs: number;
  readonly resolve: () => void;
}

/**
 * Creates a clock for work that mostly waits for answers. When all work waits, the clock moves to the end of the
 * earliest wait. So concurrent waits overlap, and the speed of the machine has no effect.
 */
export function createVirtualClock(startMs: number) {
  let nowMs = startMs;
  let requests = 0;
  let isScheduled = false;
  let waits: readonly Wait[] = [];

  const endEarliest = () => {
    isScheduled = false;
    const [earliest, ...others] = waits;
    if (requests > 0 || earliest === undefined) return;
    waits = others;
    nowMs = Math.max(nowMs, earliest.endMs);
    earliest.resolve();
    schedule();
  };
  /** Advances the clock only after all work that can continue without waiting. */
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(endEarliest);
  };
  const until = (endMs: number) =>
    new Promise<void>((resolve) => {
      waits = [...waits, { endMs, resolve }].sort((a, b) => a.endMs - b.endMs);
      schedule();
    });

  return {
    nowMs: () => Math.floor(nowMs),
    sleep: (ms: number) => until(nowMs + ms),
    /** Sends a request that takes the given simulated time. */
    async request<Result>(seconds: number, send: () => Promise<Result>): Promise<Result> {
      const endMs = nowMs + 1_000 * seconds;
      requests += 1;
      try {
        return await send();
      } finally {
        requests -= 1;
        await until(endMs);
      }
    },
  };
}
