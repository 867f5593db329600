import * as z from 'zod';
import { MINUTE_MS } from './duration.ts';
import { type Frozen, number, text } from './forms.ts';

/** The scheduled work on each connection that stores its runs. */
export const TASKS = ['people', 'feed', 'sweep', 'directory'] as const;
export type Task = (typeof TASKS)[number];

/** The stored runs of a task of a connection. All times are milliseconds since 1970. */
export const TaskRuns = z.lazy(() =>
  z.object({
    /** The end of the lease; absent while no run has it. */
    untilMs: number.exactOptional(),
    startedMs: number.exactOptional(),
    /** The interval of the schedule in minutes. Absent before the first scheduled run. */
    everyMinutes: number.exactOptional(),
    /** The end of the last run that did not fail. */
    endedMs: number.exactOptional(),
    /** The last failure. Absent after a run that did not fail. */
    failure: z.object({ atMs: number, message: text }).exactOptional(),
    /** The number of failed runs since the last run that did not fail. */
    failures: number.exactOptional(),
  }),
);
export type TaskRuns = Frozen<z.infer<typeof TaskRuns>>;

/** A failed run is repeated once after this time. So a single error of the platform does not delay leavers for hours. */
const REPEATED_AFTER_MS = 5 * MINUTE_MS;
/** A connection may wait for its turn in one run and not in the next, so it is due a little before its interval ends. */
const EARLY_MS = 5 * MINUTE_MS;

/** Whether a scheduled run must begin. A run that was killed is repeated when its lease ends. */
export function isTaskDue(
  { startedMs, untilMs, failure, failures }: TaskRuns,
  everyMinutes: number,
  nowMs: number,
): boolean {
  const usualMs = everyMinutes * MINUTE_MS - EARLY_MS;
  if (startedMs === undefined) return true;
  if (untilMs !== undefined) return nowMs >= untilMs;
  if (failure === undefined) return nowMs - startedMs >= usualMs;
  return nowMs - failure.atMs >= (failures === 1 ? Math.min(REPEATED_AFTER_MS, usualMs) : usualMs);
}
