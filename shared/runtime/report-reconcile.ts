import type { FeedRun } from '../sync/reconcile/feed.ts';
import type { Levels } from '../sync/reconcile/levels.ts';
import type { SweepRun } from '../sync/reconcile/sweep.ts';
import type { Metrics } from './metrics.ts';

export function reportLevels(connection: string, levels: Levels, metrics: Metrics): void {
  metrics.emit('DirtyGroups', levels.dirtyGroups, connection);
  metrics.emit('OldestDirtySeconds', levels.oldestDirtySeconds, connection);
  metrics.emit('HoldsWaiting', levels.holdsWaiting, connection);
  metrics.emit('PendingMembers', levels.pendingMembers, connection);
  metrics.emit('GateClosedSeconds', levels.gateClosedSeconds, connection);
  metrics.emit('CredentialUnauthorized', levels.unauthorized ? 1 : 0, connection);
  if (levels.credentialUncheckedSeconds !== undefined) {
    metrics.emit('CredentialUncheckedSeconds', levels.credentialUncheckedSeconds, connection);
  }
  if (levels.feedCursorAgeSeconds !== undefined) {
    metrics.emit('FeedCursorAgeSeconds', levels.feedCursorAgeSeconds, connection);
  }
}

export function reportFeed({ report, duplicates, sweep }: FeedRun, metrics: Metrics): void {
  if (report.eventsRead > 0) metrics.emit('FeedEventsRead', report.eventsRead);
  reportDuplicates(duplicates, metrics);
  if (sweep !== undefined) reportSweep(sweep, metrics);
}

export function reportSweep({ halted, duplicates }: SweepRun, metrics: Metrics): void {
  if (halted) metrics.emit('SweepHalted', 1);
  reportDuplicates(duplicates, metrics);
}

/** All other drift is found, and counted, by apply. */
function reportDuplicates(count: number, metrics: Metrics): void {
  if (count > 0) metrics.emit('DriftFound', count, 'duplicate_spoke_id');
}
