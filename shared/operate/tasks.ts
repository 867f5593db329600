import type { TaskReport } from '../contract/answers/status.ts';
import { duration, MINUTE_MS } from '../domain/duration.ts';
import { isTaskDue, type Task, type TaskRuns } from '../domain/task.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { shortened } from './names.ts';

/** A task is late if this many intervals and 15 minutes have passed since its last run, and since `connect`. */
const LATE_AFTER = 3;
const LATE_MS = 15 * MINUTE_MS;

/** The command that runs the task now. */
const COMMANDS: Readonly<Record<Task, string>> = {
  people: 'groupsync people refresh',
  feed: 'groupsync reconcile',
  sweep: 'groupsync reconcile --sweep',
  directory: 'groupsync directory read',
};

/** Returns the last run of each task of a connection. A connection without a directory has no task `directory`. */
export async function reportTasks(
  { name, settings, connectedMs }: Pick<Connection, 'name' | 'settings' | 'connectedMs'>,
  { leases, clock }: Pick<ToolPorts, 'leases' | 'clock'>,
): Promise<readonly TaskReport[]> {
  const nowMs = clock();
  return [...(await leases.readAll(name))]
    .filter(([task]) => task !== 'directory' || settings.directory !== null)
    .map(([task, stored]) => {
      const runs = withoutFormer(stored, connectedMs);
      const state = stateOf(runs, nowMs);
      const isLate = state !== 'running' && isTaskLate(runs, connectedMs, nowMs);
      return {
        task,
        state,
        since: state === 'running' ? instant(runs.startedMs) : null,
        endedAgeMs: runs.endedMs === undefined ? null : Math.max(0, nowMs - runs.endedMs),
        failure: runs.failure ? { at: instant(runs.failure.atMs), message: runs.failure.message } : null,
        next: state === 'failed' || isLate ? COMMANDS[task] : null,
      };
    });
}

/** The failure of a removed connection with the same name says nothing about this connection. */
const withoutFormer = ({ failure, ...runs }: TaskRuns, connectedMs = 0): TaskRuns =>
  failure === undefined || failure.atMs < connectedMs ? runs : { ...runs, failure };

const instant = (ms = 0): string => new Date(ms).toISOString();

function isTaskLate({ endedMs, everyMinutes = 0 }: TaskRuns, connectedMs: number | undefined, nowMs: number) {
  const ageMs = nowMs - Math.max(endedMs ?? connectedMs ?? nowMs, connectedMs ?? 0);
  return ageMs > Math.max(LATE_MS, LATE_AFTER * everyMinutes * MINUTE_MS);
}

function stateOf(runs: TaskRuns, nowMs: number): TaskReport['state'] {
  const { untilMs = 0, everyMinutes, failure, endedMs } = runs;
  if (untilMs > nowMs) return 'running';
  if (failure !== undefined) return 'failed';
  if (endedMs === undefined) return 'waiting';
  return everyMinutes !== undefined && isTaskDue(runs, everyMinutes, nowMs) ? 'waiting' : 'ended';
}

/** Formats the last run of a task: “ended 12 min ago”, “failed at …: reason; ended 1 h ago”. */
export function formatTask({ state, since, endedAgeMs, failure }: TaskReport): string {
  const ended = endedAgeMs === null ? 'has not ended yet' : `ended ${duration(endedAgeMs)} ago`;
  const failed =
    failure === null ? '' : `failed at ${failure.at.slice(0, 19)}Z: ${shortened(failure.message)}; `;
  const running = since === null ? '' : `runs since ${since.slice(0, 19)}Z; `;
  const waiting = state === 'waiting' ? '; waits for its next run' : '';
  return `${running}${failed}${ended}${waiting}`;
}
