import type { ReconcileReport } from '../contract/answers/reconcile.ts';
import type { ReconcileInvocation } from '../contract/invocation.ts';
import type { ReconcilePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { PlatformFailure } from '../sync/ports/platform.ts';
import { followFeed } from '../sync/reconcile/feed.ts';
import { checkHealth, type HealthPorts, readLevels } from '../sync/reconcile/levels.ts';
import { type NotifyPorts, notify, notifyOfHour } from '../sync/reconcile/notify.ts';
import { sweep } from '../sync/reconcile/sweep.ts';
import { type RequeuePorts, requeueDue } from '../sync/requeue.ts';
import type { SourcePorts } from '../sync/sources.ts';
import type { Metrics } from './metrics.ts';
import { reportFeed, reportLevels, reportSweep } from './report.ts';

export type ReconcileTaskPorts = ReconcilePorts & RequeuePorts & HealthPorts & SourcePorts & NotifyPorts;

interface Run {
  readonly ports: ReconcileTaskPorts;
  readonly metrics: Metrics;
  /** A long task stops at this time, and the next run continues it. Milliseconds since 1970. */
  readonly deadlineMs: number;
}

/** Runs one task for one connection, and emits its metrics. */
export async function runReconcile(
  connection: Connection,
  { task, all = false, silent = false }: ReconcileInvocation,
  { ports, metrics, deadlineMs }: Run,
): Promise<object> {
  switch (task) {
    case 'pump': {
      const report = await requeueDue(connection.name, ports, { everything: all });
      const levels = await readLevels(connection, ports);
      reportLevels(connection.name, levels, metrics);
      await notify(levels.found, ports, connection.name);
      if (report.stuck !== undefined) throw unhandled(report.stuck);
      return report;
    }
    case 'feed': {
      const run = await followFeed(connection, ports, deadlineMs);
      if (run === undefined)
        return { connection: connection.name, skipped: 'another run is reading the feed' };
      reportFeed(run, metrics);
      await notifyOfHour(connection.name, ports);
      if (run.failure !== undefined) throw incomplete(run.report, run.failure);
      return run.report;
    }
    case 'sweep': {
      const run = await sweep(connection, ports, deadlineMs);
      reportSweep(run, metrics);
      if (run.unreadable.length > 0) throw unhandled(run.unreadable.map((id) => `group ${id}`));
      return run.report;
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

/** The maximum number of groups that an error message names. */
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
