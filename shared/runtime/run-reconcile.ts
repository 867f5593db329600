import type { ReconcileReport } from '../contract/answers/reconcile.ts';
import type { PeopleInvocation, ReconcileInvocation } from '../contract/invocation.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { Finding } from '../domain/notice.ts';
import { ownFindings } from '../plan/notice.ts';
import { refreshPeople } from '../sync/people.ts';
import type { ReconcilePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { PlatformFailure } from '../sync/ports/platform.ts';
import { followFeed } from '../sync/reconcile/feed.ts';
import { checkHealth, findProblems, type HealthPorts, recordTrend } from '../sync/reconcile/levels.ts';
import { type NotifyPorts, notify, notifyOfHour, notifyOfSweep } from '../sync/reconcile/notify.ts';
import { sweep } from '../sync/reconcile/sweep.ts';
import { type RequeuePorts, requeueDue } from '../sync/requeue.ts';
import type { SourcePorts } from '../sync/sources.ts';
import { occupied, runIfDue } from '../sync/under-lease.ts';

export type ReconcileTaskPorts = ReconcilePorts &
  RequeuePorts &
  HealthPorts &
  SourcePorts &
  NotifyPorts &
  Parameters<typeof recordTrend>[1];

interface Run {
  readonly ports: ReconcileTaskPorts;
  /** The findings of each connection, to which the requeue job adds. */
  readonly found: Map<ConnectionName, readonly Finding[]>;
  /** A long task stops at this time, and the next run continues it. Milliseconds since 1970. */
  readonly deadlineMs: number;
}

export async function runReconcile(
  connection: Connection,
  { task, all = false, silent = false, everyMinutes }: ReconcileInvocation,
  { ports, found, deadlineMs }: Run,
): Promise<object | undefined> {
  const leased = { connection: connection.name, everyMinutes };
  switch (task) {
    case 'pump': {
      const report = await requeueDue(connection.name, ports, { everything: all });
      found.set(connection.name, await notifyOfProblems(connection, ports));
      if (report.stuck !== undefined) throw unhandled(report.stuck);
      return report;
    }
    case 'feed': {
      await recordTrend(connection.name, ports);
      const run = await followFeed(connection, ports, deadlineMs, everyMinutes);
      if (run === undefined) return occupied({ ...leased, task }, ports);
      await notifyOfSweep(connection.name, run.sweep, ports);
      await notifyOfHour(connection.name, ports);
      if (run.failure !== undefined) throw incomplete(run.report, run.failure);
      return run.report;
    }
    case 'sweep': {
      return runIfDue({ ...leased, task }, ports, async () => {
        const run = await sweep(connection, ports, deadlineMs);
        await notifyOfSweep(connection.name, run, ports);
        if (run.unreadable.length > 0) throw unhandled(run.unreadable.map((id) => `group ${id}`));
        return run.report;
      });
    }
    case 'notify': {
      const { prefix, targets, send } = ports.notifier;
      const title = `${prefix} ${connection.name}: groupsync notify test was run`;
      const notice = [
        title,
        'Notifications about holds, closed gates and similar events are sent here.',
      ] as const;
      const failed = silent ? new Map<string, string>() : await send(notice);
      return { notified: targets.map((target) => ({ target, failure: failed.get(target) ?? null })) };
    }
    case 'health':
      return { connection: connection.name, ...(await checkHealth(connection, ports)) };
  }
}

/** @returns the report; undefined if the run is not due */
export const runPeople = (
  connection: Connection,
  { everyMinutes }: PeopleInvocation,
  ports: Parameters<typeof refreshPeople>[1] & Pick<ReconcilePorts, 'leases'>,
): Promise<object | undefined> =>
  runIfDue({ connection: connection.name, task: 'people', everyMinutes }, ports, () =>
    refreshPeople(connection, ports),
  );

/** Notifies about the problems of the connection itself. @returns all problems */
async function notifyOfProblems(connection: Connection, ports: ReconcileTaskPorts) {
  const problems = await findProblems(connection, ports);
  await notify(ownFindings(problems), ports, connection.name);
  return problems;
}

const NAMED = 10;

/**
 * The error of a run that found faults which need an operator, and did all its other work. The run throws the error,
 * because only a failed run fires an alarm.
 */
const unhandled = (stuck: readonly string[]): Error =>
  new Error(`could not be handled (${stuck.length}): ${stuck.slice(0, NAMED).join('; ')}`);

/** The error of a run that recorded a part of the feed and could not read the remaining part. */
const incomplete = ({ eventsRead, groupsTouched }: ReconcileReport, cause: PlatformFailure): Error =>
  new Error(`reading the feed failed after ${eventsRead} events of ${groupsTouched} groups`, { cause });
