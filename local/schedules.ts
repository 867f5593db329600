/** A part that runs again and again, never twice at once. */
export interface Schedule {
  readonly name: string;
  readonly everySeconds: () => number;
  readonly isEnabled: () => boolean;
  /** Takes effect at once: the next run is one whole period away. */
  readonly update: (change: { enabled: boolean; everySeconds: number }) => void;
  /** Runs it now, in addition to its schedule. If a run is in progress, the call shares that run. */
  readonly runNow: () => Promise<void>;
  /** No run begins after this; resolves when the current run is done. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs `task` every so many seconds, counted from the end of one run to the start of the next. The first run is one
 * period from now. A run that fails is reported and the next one comes in its time.
 */
export function startSchedule(options: {
  name: string;
  everySeconds: number;
  task: () => Promise<void>;
  onError: (name: string, error: unknown) => void;
}): Schedule {
  const { name, task, onError } = options;
  let { everySeconds } = options;
  let enabled = true;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const arm = () => {
    clearTimeout(timer);
    if (enabled && !stopped) timer = setTimeout(() => void runNow(), everySeconds * 1000);
  };
  const runNow = (): Promise<void> => {
    if (stopped) return Promise.resolve();
    clearTimeout(timer);
    running ??= task()
      .catch((error: unknown) => onError(name, error))
      .finally(() => {
        running = undefined;
        arm();
      });
    return running;
  };

  arm();
  return {
    name,
    everySeconds: () => everySeconds,
    isEnabled: () => enabled,
    update(change) {
      ({ enabled, everySeconds } = change);
      if (running === undefined) arm();
    },
    runNow,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
