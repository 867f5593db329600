const systemNow = Date.now.bind(Date);

export interface SimulatedClock {
  readonly now: () => number;
  /** Moves the clock forward to `ms`, in milliseconds since 1970. An earlier time has no effect. */
  readonly moveTo: (ms: number) => void;
  /** Gives the process the clock of the system again. */
  readonly end: () => void;
}

/**
 * Replaces the clock of this process with a clock that begins at `startMs`. It continues like the clock of the system,
 * and `moveTo` skips time. Handlers, queues and the platform simulator all use `Date.now`, so they agree on the time.
 */
export function startSimulatedClock(startMs: number): SimulatedClock {
  let offsetMs = startMs - systemNow();
  const now = () => systemNow() + offsetMs;
  Date.now = now;
  return {
    now,
    moveTo(ms) {
      offsetMs = Math.max(offsetMs, ms - systemNow());
    },
    end() {
      offsetMs = 0;
      Date.now = systemNow;
    },
  };
}
