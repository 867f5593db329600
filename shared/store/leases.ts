import type { ConnectionName } from '../domain/ids.ts';
import { TASKS, type Task, TaskRuns } from '../domain/task.ts';
import type { Lease } from '../sync/ports/reconcile.ts';
import { OF_THIS_SCHEMA, storedAt } from './item-form.ts';
import { leaseKey } from './keys.ts';
import { all, any, equal, less, missing, type Table } from './table.ts';

interface Span {
  readonly nowMs: number;
  readonly lengthMs: number;
  /** The interval of the schedule that starts this run. */
  readonly everyMinutes?: number | undefined;
}

/** How a run of a task ended. `failure`: the message of its error. */
interface RunEnd {
  readonly atMs: number;
  readonly failure?: string | undefined;
}

/** A lease's item also stores the runs of its task, so a run costs no further write. */
export function createLeases(table: Table) {
  const read = async (connection: ConnectionName, task: Task): Promise<TaskRuns> =>
    (await storedAt(table, leaseKey(connection, task), TaskRuns, `the runs of ${task}`)) ?? {};
  return {
    read,

    /** Returns the runs of each task of a connection. */
    readAll: async (connection: ConnectionName): Promise<ReadonlyMap<Task, TaskRuns>> =>
      new Map(await Promise.all(TASKS.map(async (task) => [task, await read(connection, task)] as const))),

    /** Returns undefined while another worker holds the lease. */
    async take(connection: ConnectionName, name: string, { nowMs, lengthMs, everyMinutes }: Span) {
      const schedule = everyMinutes === undefined ? {} : { everyMinutes };
      const outcome = await table.update(
        leaseKey(connection, name),
        {
          set: { ...OF_THIS_SCHEMA, untilMs: nowMs + lengthMs, startedMs: nowMs, ...schedule },
          add: { token: 1 },
        },
        any(missing('untilMs'), less('untilMs', nowMs)),
      );
      return outcome.written ? { name, token: Number(outcome.item['token']) } : undefined;
    },

    /** Ends the lease early. The call has no effect if another worker already holds the lease. */
    async release(connection: ConnectionName, { name, token }: Lease, ended?: RunEnd): Promise<void> {
      await table.update(leaseKey(connection, name), changeOf(ended), all(equal('token', token)));
    },
  };
}

function changeOf({ atMs, failure }: Partial<RunEnd> = {}) {
  if (atMs === undefined) return { remove: ['untilMs'] };
  if (failure === undefined) return { set: { endedMs: atMs }, remove: ['untilMs', 'failure', 'failures'] };
  return { set: { failure: { atMs, message: failure } }, remove: ['untilMs'], add: { failures: 1 } };
}
