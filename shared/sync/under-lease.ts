import { MINUTE_MS } from '../domain/duration.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { isTaskDue, type Task } from '../domain/task.ts';
import type { Ports } from './ports/bundles.ts';
import { ANSWER_PREFIX } from './ports/platform.ts';
import type { Lease } from './ports/reconcile.ts';

/** The duration of the lease. It is longer than the longest run of a function (15 minutes). */
const LEASE_MS = 16 * MINUTE_MS;

/** The task of a connection, and the interval at which a schedule runs it. */
interface LeasedTask {
  readonly connection: ConnectionName;
  readonly task: Task;
  readonly everyMinutes?: number | undefined;
}

/** The platform's answer may contain names. The rest is at most 1,000 characters long. */
const withoutAnswer = ({ message }: Error): string => message.split(ANSWER_PREFIX, 1).join().slice(0, 1_000);

/**
 * Runs a task of a connection under its lease, and stores how the run ended. Scheduled runs and operators' runs take
 * the same lease.
 * @param failureOf the failure that a result contains
 * @returns undefined while another run of the task has the lease
 */
export async function underLease<Result>(
  { connection, task, everyMinutes }: LeasedTask,
  { leases, clock }: Pick<Ports, 'leases' | 'clock'>,
  run: (lease: Lease) => Promise<Result>,
  failureOf: (result: Result) => Error | undefined = () => undefined,
): Promise<Result | undefined> {
  const lease = await leases.take(connection, task, { nowMs: clock(), lengthMs: LEASE_MS, everyMinutes });
  if (lease === undefined) return undefined;
  const end = (failure?: Error) =>
    leases.release(connection, lease, { atMs: clock(), failure: failure && withoutAnswer(failure) });
  try {
    const result = await run(lease);
    await end(failureOf(result));
    return result;
  } catch (error) {
    // If this write fails too, the lease ends by its time.
    await end(error as Error).catch(() => {});
    throw error;
  }
}

/**
 * Runs a task of a connection under its lease. A scheduled run begins only if it is due.
 * @returns the report, or the reason why the run could not begin; undefined if the run is not due
 */
export async function runIfDue<Report extends object>(
  task: LeasedTask,
  ports: Pick<Ports, 'leases' | 'clock'>,
  run: () => Promise<Report>,
) {
  const { connection, everyMinutes } = task;
  const isDue =
    everyMinutes === undefined ||
    isTaskDue(await ports.leases.read(connection, task.task), everyMinutes, ports.clock());
  if (!isDue) return undefined;
  return (await underLease(task, ports, run)) ?? (await occupied(task, ports));
}

/** Describes the run that has the lease, for the report of a run that could not begin. */
export async function occupied({ connection, task }: LeasedTask, { leases }: Pick<Ports, 'leases'>) {
  const { startedMs = 0 } = await leases.read(connection, task);
  const since = new Date(startedMs).toISOString();
  return { connection, skipped: `another run of ${task} began at ${since} and has not ended`, since };
}

export const isOccupied = (report: unknown): boolean =>
  typeof report === 'object' && report !== null && 'skipped' in report && 'since' in report;
