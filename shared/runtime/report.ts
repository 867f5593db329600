import type { MetricName } from '../contract/metrics.ts';
import type { GroupRef } from '../domain/ids.ts';
import type { AttemptFacts } from '../platform/call.ts';
import type { ApplyReport } from '../sync/apply/apply.ts';
import type { IngestReport } from '../sync/ingest/ingest.ts';
import type { FeedRun } from '../sync/reconcile/feed.ts';
import type { Levels } from '../sync/reconcile/levels.ts';
import type { SweepRun } from '../sync/reconcile/sweep.ts';
import type { ScimReport } from '../sync/scim/handle.ts';
import { errorFields, type Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/* Use cases only return facts. The functions of this file write the facts as log lines and metrics. */

interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function reportIngest(report: IngestReport, { logger, metrics }: Telemetry): void {
  const byConnection = new Map<string, number>();
  for (const connection of report.acceptedFrom) {
    byConnection.set(connection, (byConnection.get(connection) ?? 0) + 1);
  }
  for (const [connection, count] of byConnection) metrics.emit('EventsReceived', count, connection);
  if (report.ignored > 0) metrics.emit('EventsIgnored', report.ignored);
  for (const { code } of report.rejected) metrics.emit('EventsRejected', 1, code);
  logger.info('ingested', {
    accepted: report.acceptedFrom.length,
    ignored: report.ignored,
    rejected: report.rejected.length,
    changedGroups: report.changedGroups.length,
    retried: report.failedMessages.size,
    notStarted: report.notStarted,
  });
  for (const cause of report.causes) logger.error('not stored', errorFields(cause));
}

export function reportApply(report: ApplyReport, { logger, metrics }: Telemetry): void {
  const { ref, outcome, writes, conflicts, lagMs, cause } = report;
  for (const kind of report.drift) metrics.emit('DriftFound', 1, kind);
  for (const { action } of writes) metrics.emit('PlatformWrites', 1, action);
  if (conflicts > 0) metrics.emit('PlatformConflicts', conflicts);
  if (lagMs !== undefined) metrics.emit('ApplyLagMs', lagMs);
  if (outcome === 'postponed') metrics.emit('ApplyFailures', 1, 'retry');
  if (outcome === 'failed') metrics.emit('ApplyFailures', 1, 'failed');
  if (report.unlinkingHeld === true) metrics.emit('SweepHalted', 1);
  if (report.keepAccess !== undefined) metrics.emit('AccessKept', report.keepAccess, ref.connection);
  const level = cause === undefined ? 'info' : 'warn';
  logger[level]('applied', {
    connection: ref.connection,
    group: ref.group,
    outcome,
    writes: writes.map(({ action }) => action),
    conflicts,
    lagMs,
    ...(cause === undefined ? {} : errorFields(cause)),
  });
}

/** Reports an error that stopped apply, for example of the table or a queue. SQS delivers the message again. */
export function reportCrash(ref: GroupRef, error: unknown, { logger, metrics }: Telemetry): void {
  metrics.emit('ApplyFailures', 1, 'retry');
  logger.error('not applied', { connection: ref.connection, group: ref.group, ...errorFields(error) });
}

const LISTS: Readonly<Record<string, string>> = {
  '/platform/api/groups': 'malformed groups in an answer of the platform',
  '/platform/api/company_activity': 'malformed events in the feed',
};

/** Logs only how many elements of a list were malformed, because other clients may have written the elements. */
export function reportOdd({ pathTemplate, ignoredFields = [] }: AttemptFacts, logger: Logger): void {
  const what = LISTS[pathTemplate];
  if (what !== undefined && ignoredFields.length > 0) logger.warn(what, { count: ignoredFields.length });
}

/** The highest normal values. The feed is read every few minutes, and the credential is checked every day. */
const USUAL = { feedAgeSeconds: 3_600, uncheckedSeconds: 25 * 3_600 };

/**
 * Emits each level that is not normal. Normal levels are not emitted: AWS bills a metric for each hour in which it has
 * a value, and alarms treat missing data as healthy.
 */
export function reportLevels(connection: string, levels: Levels, metrics: Metrics): void {
  const emit = (name: MetricName, value = 0, usual = 0) =>
    value > usual && metrics.emit(name, value, connection);
  emit('DirtyGroups', levels.dirtyGroups);
  emit('OldestDirtySeconds', levels.oldestDirtySeconds);
  emit('HoldsWaiting', levels.holdsWaiting);
  emit('PendingMembers', levels.pendingMembers);
  emit('GateClosedSeconds', levels.gateClosedSeconds);
  emit('CredentialUnauthorized', levels.unauthorized ? 1 : 0);
  emit('CredentialHolderLeaving', levels.holderLeaves ? 1 : 0);
  emit('CredentialUncheckedSeconds', levels.credentialUncheckedSeconds, USUAL.uncheckedSeconds);
  emit('SourceLateSeconds', levels.sourceLateSeconds);
  emit('ReaderLateSeconds', levels.readerLateSeconds);
  emit('ReaderStopped', levels.readerStopped ? 1 : 0);
  emit('ReaderShortGroups', levels.readerShortGroups);
  emit('FeedCursorAgeSeconds', levels.feedCursorAgeSeconds, USUAL.feedAgeSeconds);
}

export function reportFeed({ report, duplicates, sweep }: FeedRun, metrics: Metrics): void {
  if (report.eventsRead > 0) metrics.emit('FeedEventsRead', report.eventsRead);
  reportDuplicates(duplicates, metrics);
  if (sweep !== undefined) reportSweep(sweep, metrics);
}

/** Reports the drift that the sweep itself found. Apply counts the drift of single groups. */
export function reportSweep({ report, halted, duplicates, unknownUsers }: SweepRun, metrics: Metrics): void {
  if (halted) metrics.emit('SweepHalted', 1);
  reportDuplicates(duplicates, metrics);
  const { ids = 0, newRecords = 0 } = unknownUsers ?? {};
  if (newRecords > 0) metrics.emit('DriftFound', newRecords, 'unknown_users');
  if (ids > 0) metrics.emit('UnknownUsers', ids, report.connection);
}

function reportDuplicates(duplicates: number, metrics: Metrics): void {
  if (duplicates > 0) metrics.emit('DriftFound', duplicates, 'duplicate_spoke_id');
}

/**
 * Logs one line and emits a few metrics per request. Paths, filters and bodies are not logged, because they contain
 * names and addresses.
 * @param call.endpoint the result of `endpointOf`
 */
export function reportScim(
  { reply, connection, tokenExpiresSoon, staleMembers, cause }: ScimReport,
  call: { readonly method: string; readonly endpoint: string; readonly elapsedMs: number },
  { logger, metrics }: Telemetry,
): void {
  const { status } = reply;
  metrics.emit('ScimRequests', 1, connection);
  metrics.emit('ScimLatencyMs', call.elapsedMs);
  for (const { group, deleted, unknown } of staleMembers) {
    metrics.emit('ScimStaleMembers', deleted.length + unknown.length, connection);
    const some = { deleted: deleted.slice(0, MOST_LOGGED), unknown: unknown.slice(0, MOST_LOGGED) };
    logger.warn('stale members', {
      connection,
      group,
      ...some,
      deletedCount: deleted.length,
      unknownCount: unknown.length,
    });
  }
  if (tokenExpiresSoon) metrics.emit('ScimTokensEnding', 1, connection);
  if (status >= 500) metrics.emit('ScimFailures', 1);
  else if (status >= 400) metrics.emit('ScimRefusals', 1, String(status));
  const level = status >= 500 ? 'error' : 'info';
  logger[level]('answered', {
    connection,
    ...call,
    status,
    ...(cause === undefined ? {} : errorFields(cause)),
  });
}

/** The maximum number of ids of one kind in a log line. CloudWatch limits a line to 256 KB. */
const MOST_LOGGED = 100;

const ENDPOINTS = /^(?:Users|Groups|Bulk|Me|oauth|\.search|ServiceProviderConfig|ResourceTypes|Schemas)$/;

/** Returns the first part of a path after the base path if it is a known endpoint, or else `other`, for logs. */
export function endpointOf(path: string): string {
  const [, , , first = ''] = path.split('/');
  return ENDPOINTS.test(first) ? first : 'other';
}
