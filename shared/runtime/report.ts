import type { DeliveryOf } from '../domain/delivery.ts';
import type { GroupRef } from '../domain/ids.ts';
import type { AttemptFacts } from '../platform/call.ts';
import type { ScimReport } from '../scim/server/handle.ts';
import type { ApplyReport } from '../sync/apply/apply.ts';
import type { IngestReport } from '../sync/ingest/ingest.ts';
import type { Ports } from '../sync/ports/bundles.ts';
import { errorFields, type Logger } from './logger.ts';

/* Use cases only return facts. The functions of this file write the facts as log lines. */

export function reportIngest(report: IngestReport, logger: Logger): void {
  logger.info('ingested', {
    accepted: report.acceptedFrom.length,
    ignored: report.ignored,
    rejected: report.rejected.length,
    codes: [...new Set(report.rejected.map(({ code }) => code))],
    changedGroups: report.changedGroups.length,
    retried: report.failedMessages.size,
    notStarted: report.notStarted,
  });
  for (const cause of report.causes) logger.error('not stored', errorFields(cause));
}

type DeliveryPorts = Pick<Ports, 'sleep' | 'newId'> & {
  readonly deliveries: Pick<Ports['deliveries'], 'record'>;
};

/** A slow table must not delay the answer to a client for longer than this. */
const MAX_WAIT_MS = 200;

/**
 * Stores the records of deliveries, with one attempt for each. Call it after the work and before the answer. The log
 * gets the number of records that are not stored in time.
 */
export async function reportDeliveries(
  records: readonly DeliveryOf[],
  { deliveries, sleep, newId }: DeliveryPorts,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  if (records.length === 0) return;
  let unrecorded = records.length;
  const waiting = new AbortController();
  const store = async ({ connection, delivery }: DeliveryOf) => {
    await deliveries.record(connection, { id: newId(), ...delivery });
    unrecorded -= 1;
  };
  const wait = sleep(MAX_WAIT_MS, waiting.signal).catch(() => undefined);
  await Promise.race([Promise.allSettled(records.map(store)), wait]);
  waiting.abort();
  if (unrecorded > 0) logger.warn('deliveries not recorded', { count: unrecorded });
}

export function reportApply(report: ApplyReport, logger: Logger): void {
  const { ref, outcome, writes, conflicts, lagMs, cause } = report;
  const level = cause === undefined ? 'info' : 'warn';
  logger[level]('applied', {
    connection: ref.connection,
    group: ref.group,
    outcome,
    writes: writes.map(({ action }) => action),
    conflicts,
    drift: report.drift,
    lagMs,
    ...(cause === undefined ? {} : errorFields(cause)),
  });
}

/** Reports an error that stopped apply, for example of the table or a queue. SQS delivers the message again. */
export const reportCrash = ({ connection, group }: GroupRef, error: unknown, logger: Logger): void =>
  logger.error('not applied', { connection, group, ...errorFields(error) });

const LISTS: Readonly<Record<string, string>> = {
  '/platform/api/groups': 'malformed groups in an answer of the platform',
  '/platform/api/company_activity': 'malformed events in the feed',
};

/** Logs only how many elements of a list were malformed, because other clients may have written the elements. */
export function reportIgnored({ pathTemplate, ignoredFields = [] }: AttemptFacts, logger: Logger): void {
  const what = LISTS[pathTemplate];
  if (what !== undefined && ignoredFields.length > 0) logger.warn(what, { count: ignoredFields.length });
}

/**
 * Logs one line per request. Paths, filters and bodies are not logged, because they contain
 * names and addresses.
 * @param call.endpoint the result of `endpointOf`
 */
export function reportScim(
  { reply, connection, staleMembers, cause }: ScimReport,
  call: { readonly method: string; readonly endpoint: string; readonly elapsedMs: number },
  logger: Logger,
): void {
  const { status } = reply;
  for (const { group, deleted, unknown } of staleMembers) {
    const some = { deleted: deleted.slice(0, MOST_LOGGED), unknown: unknown.slice(0, MOST_LOGGED) };
    logger.warn('stale members', {
      connection,
      group,
      ...some,
      deletedCount: deleted.length,
      unknownCount: unknown.length,
    });
  }
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

const ENDPOINTS = /^(?:Users|Groups|Me|oauth|\.search|ServiceProviderConfig|ResourceTypes|Schemas)$/;

/** Returns the first part of a path after the base path if it is a known endpoint, or else `other`, for logs. */
export function endpointOf(path: string): string {
  const [, , , first = ''] = path.split('/');
  return ENDPOINTS.test(first) ? first : 'other';
}
