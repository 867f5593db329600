import { createHash } from 'node:crypto';
import * as z from 'zod';
import { endpoint } from '../engine/dialect.ts';
import type { LogEntry, User } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { listAnswer, type Org } from './api.ts';
import { invalidLogFilter, validationFailed } from './errors.ts';
import { eventsOf, type LoggedEvent } from './events.ts';
import { FilterError, type FilterFields, filterFor, timeOf } from './filter.ts';
import { displayNameOf, loginOf } from './org.ts';

const LOG_SCOPES = ['okta.logs.read', 'okta.logs.manage'];
const DAY_MS = 86_400_000;
/** Okta documents: "Log data older than 90 days isn't returned" ("Data retention"). */
const KEPT_MS = 90 * DAY_MS;
/** Okta documents: "The since parameter is over 180 days prior to the current day" ("Errors"). */
const OLDEST_SINCE_MS = 180 * DAY_MS;
const DEFAULT_PERIOD_MS = 7 * DAY_MS;

interface StoredEvent {
  readonly uuid: string;
  readonly publishedMs: number;
  /** The time at which the log stored the event. */
  readonly storedMs: number;
  readonly seq: number;
  readonly actor: User | undefined;
  readonly actorEmail: string;
  readonly event: LoggedEvent;
}

export const logEndpoints = (org: Org) => [
  endpoint({
    method: 'GET',
    path: '/api/v1/logs',
    operation: 'listLogEvents',
    scopes: LOG_SCOPES,
    query: z.object({
      since: z.string().optional(),
      until: z.string().optional(),
      after: z.string().optional(),
      filter: z.string().optional(),
      q: z.string().optional(),
      sortOrder: z.enum(['ASCENDING', 'DESCENDING']).default('ASCENDING'),
      limit: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(0).max(1_000)).default(100),
    }),
    handle(call) {
      const { simulation } = org;
      const { since, until, after, filter, q, sortOrder } = call.query;
      if (q !== undefined) throw validationFailed('q', 'This parameter is not simulated.');
      const isWanted = logFilter(filter);
      // A request in ascending order without `until` is a polling request. Every other request is a bounded request.
      const isPolling = until === undefined && sortOrder === 'ASCENDING';
      // The next links of a polling request repeat its `since`, which can be long ago. The cursor has priority over
      // `since`.
      const isContinued = isPolling && after !== undefined;
      const period = periodOf(isContinued ? undefined : since, until, simulation.clock());
      if (isContinued) period.fromMs = 0;
      const timeIn = isPolling ? storedTime : publishedTime;
      const found = storedEvents(simulation).filter(
        (event) =>
          timeIn(event) >= period.fromMs &&
          timeIn(event) <= period.toMs &&
          event.publishedMs >= simulation.clock() - KEPT_MS &&
          isWanted(event),
      );
      return listAnswer(org, call, {
        key: ['logs', since, until, filter, sortOrder],
        items: found,
        idOf: ({ uuid, storedMs }) => `${uuid}/${storedMs}`,
        rankOf: (event) => rankOf(event, timeIn(event), sortOrder),
        isEndless: isPolling,
        bodyOf: logEvent,
      });
    },
  }),
];

const storedTime = ({ storedMs }: StoredEvent) => storedMs;
const publishedTime = ({ publishedMs }: StoredEvent) => publishedMs;

function rankOf({ seq }: StoredEvent, ms: number, sortOrder: 'ASCENDING' | 'DESCENDING'): string {
  const isAscending = sortOrder === 'ASCENDING';
  const time = isAscending ? ms : Number.MAX_SAFE_INTEGER - ms;
  const place = isAscending ? seq : 1e9 - seq;
  return `${String(Math.floor(time)).padStart(17, '0')}/${String(place).padStart(10, '0')}`;
}

/** @throws {DirectoryError} 400 for a time that is not in ISO 8601, and for a time that is too long ago */
function periodOf(since: string | undefined, until: string | undefined, nowMs: number) {
  const toMs = until === undefined ? nowMs : timeParameter('until', until);
  const fromMs = since === undefined ? toMs - DEFAULT_PERIOD_MS : timeParameter('since', since);
  if (fromMs < nowMs - OLDEST_SINCE_MS) {
    throw invalidLogFilter(
      'Invalid parameter: The since parameter is over 180 days prior to the current day.',
    );
  }
  return { fromMs, toMs };
}

function timeParameter(name: string, text: string): number {
  try {
    return timeOf(text);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw validationFailed(
      name,
      'The date format in your query is not recognized. Please enter dates using ISO8601.',
    );
  }
}

/**
 * Returns the events that the log has stored. Each event is stored after a random lag, so an older event can follow a
 * newer event. A few events are stored twice with the same uuid, and a few are never stored.
 */
function storedEvents(simulation: Simulation): readonly StoredEvent[] {
  const { lagSeconds, lostLogEntries, repeatedItems } = simulation.settings();
  const nowMs = simulation.clock();
  return simulation.directory().log.flatMap((entry) => {
    const random = simulation.random(`log/${entry.seq}`);
    const isLost = random.chance(lostLogEntries);
    const isRepeated = random.chance(repeatedItems);
    const lagMs = () => random.fraction() * lagSeconds.log * 1_000;
    const times = [entry.atMs + lagMs(), ...(isRepeated ? [entry.atMs + lagMs()] : [])];
    if (isLost) return [];
    const visible = times.filter((ms) => ms <= nowMs);
    return visible.flatMap((storedMs) =>
      publishedEvents(simulation, entry).map((event) => ({ ...event, storedMs })),
    );
  });
}

type PublishedEvent = Omit<StoredEvent, 'storedMs'>;
const published = new WeakMap<LogEntry, readonly PublishedEvent[]>();

/** Returns the events of a change. A cache keeps them, because every poll needs them. */
function publishedEvents(simulation: Simulation, entry: LogEntry): readonly PublishedEvent[] {
  const known = published.get(entry);
  if (known !== undefined) return known;
  const view = simulation.directory().viewAt(entry.atMs);
  const events = eventsOf(entry, (id) => view.user(id)).map((event, place) => ({
    uuid: uuidOf(`${entry.seq}/${entry.atMs}/${place}`),
    publishedMs: entry.atMs,
    seq: entry.seq * 10 + place,
    actor: view.user(entry.actorEmail),
    actorEmail: entry.actorEmail,
    event,
  }));
  published.set(entry, events);
  return events;
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), '11ea', `a${hex.slice(12, 15)}`, hex.slice(15, 27)].join('-');
}

/** Returns an event in the documented form (LogEvent object). */
function logEvent({ uuid, publishedMs, actor, actorEmail, event }: StoredEvent) {
  const transactionId = `${uuid.replaceAll('-', '').slice(0, 22)}AAABjY`;
  return {
    actor: {
      id: actor?.id ?? '00usimulatedSystem00',
      type: actor === undefined ? 'SystemPrincipal' : 'User',
      alternateId: actor === undefined ? actorEmail : loginOf(actor),
      displayName: actor === undefined ? 'Okta System' : displayNameOf(actor),
      detailEntry: null,
    },
    client: {
      userAgent: { rawUserAgent: 'UNKNOWN-DOWNLOAD', os: 'Unknown', browser: 'UNKNOWN' },
      zone: 'null',
      device: 'Unknown',
      id: null,
      ipAddress: '192.0.2.7',
      geographicalContext: null,
    },
    device: null,
    authenticationContext: {
      authenticationProvider: null,
      credentialProvider: null,
      credentialType: null,
      issuer: null,
      interface: null,
      authenticationStep: 0,
      externalSessionId: `trs${transactionId}`,
    },
    displayMessage: event.displayMessage,
    eventType: event.eventType,
    outcome: { result: 'SUCCESS', reason: null },
    published: new Date(publishedMs).toISOString(),
    securityContext: { asNumber: null, asOrg: null, isp: null, domain: null, isProxy: null },
    severity: 'INFO',
    debugContext: { debugData: { requestId: transactionId } },
    legacyEventType: event.legacyEventType,
    transaction: { type: 'WEB', id: transactionId, detail: {} },
    uuid,
    version: '0',
    request: { ipChain: [{ ip: '192.0.2.7', geographicalContext: null, version: 'V4', source: null }] },
    target: event.target,
  };
}

const TEXT_OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew'] as const;
const text = (valuesOf: (event: StoredEvent) => readonly (string | null)[]) => ({
  operators: TEXT_OPERATORS,
  valuesOf,
});
const LOG_FIELDS: FilterFields<StoredEvent> = {
  eventType: text(({ event }) => [event.eventType]),
  legacyEventType: text(({ event }) => [event.legacyEventType]),
  uuid: text(({ uuid }) => [uuid]),
  severity: text(() => ['INFO']),
  'outcome.result': text(() => ['SUCCESS']),
  'actor.id': text(({ actor }) => [actor?.id ?? null]),
  'target.id': text(({ event }) => event.target.map(({ id }) => id)),
  'target.type': text(({ event }) => event.target.map(({ type }) => type)),
  'target.alternateId': text(({ event }) => event.target.map(({ alternateId }) => alternateId)),
};

/** @throws {DirectoryError} 400 E0000053 for an invalid expression */
function logFilter(filter: string | undefined): (event: StoredEvent) => boolean {
  if (filter === undefined) return () => true;
  try {
    return filterFor(filter, LOG_FIELDS);
  } catch (error) {
    if (error instanceof FilterError) throw invalidLogFilter(`Invalid filter '${filter}': ${error.message}`);
    throw error;
  }
}
