/** A task that runs periodically. Two runs never overlap. */
export interface Schedule {
  readonly name: string;
  readonly everySeconds: () => number;
  readonly isEnabled: () => boolean;
  /** Changes the schedule at once. The next run starts one whole period later. */
  readonly update: (change: { enabled: boolean; everySeconds: number }) => void;
  /** Runs the task now, in addition to its schedule. If a run is in progress, the call waits for that run. */
  readonly runNow: () => Promise<void>;
  /** Prevents later runs. The promise resolves when the current run is done. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs `task` periodically. The period starts at the end of a run, and the first run starts one period from now. A
 * failed run is reported and does not stop the schedule.
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
