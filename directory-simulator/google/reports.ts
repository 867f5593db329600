import * as z from 'zod';
import type { LogEntry } from '../engine/directory.ts';
import type { Simulation } from '../engine/simulation.ts';
import { type ActivityEvent, type Application, eventOf } from './activities.ts';
import { apiMethod, listAnswer, pageParameters, withEtag } from './api.ts';
import { invalidInput } from './errors.ts';
import { AUDIT_SCOPES } from './scopes.ts';

/** The period that the log shows: "the most recent 180 days" (activities.list, endTime). */
const KEPT_MS = 180 * 86_400_000;

const Time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

interface Activity {
  readonly entry: LogEntry;
  readonly event: ActivityEvent;
}

/** Returns activities.list of the Reports API, for the applications `admin` and `groups_enterprise`. */
export const reportMethods = (simulation: Simulation) => [
  apiMethod(simulation, {
    path: '/admin/reports/v1/activity/users/:userKey/applications/:applicationName',
    operation: 'reports.activities.list',
    scopes: AUDIT_SCOPES,
    params: z.object({
      userKey: z.string(),
      applicationName: z.enum(['admin', 'groups_enterprise']),
    }),
    query: {
      startTime: Time.optional(),
      endTime: Time.optional(),
      eventName: z.string().optional(),
      filters: z.string().optional(),
      customerId: z.string().optional(),
      ...pageParameters(1_000, 1_000),
    },
    handle({ params: { userKey, applicationName }, query }) {
      const nowMs = simulation.clock();
      const fromMs = Math.max(query.startTime ?? 0, nowMs - KEPT_MS);
      const toMs = query.endTime ?? nowMs;
      if (query.startTime !== undefined && query.startTime >= Math.min(toMs, nowMs)) {
        throw invalidInput('startTime');
      }
      const isWanted = filterOf(query.filters);
      const found = visibleActivities(simulation, applicationName).filter(
        ({ entry, event }) =>
          entry.atMs >= fromMs &&
          entry.atMs <= toMs &&
          (userKey === 'all' || entry.actorEmail === userKey) &&
          (query.eventName ?? event.name) === event.name &&
          isWanted(event),
      );
      return listAnswer(simulation, {
        key: [applicationName, userKey, query.eventName, query.filters, String(query.startTime)],
        kind: 'reports#activities',
        field: 'items',
        items: found,
        idOf: ({ entry }) => String(entry.seq),
        rankOf: newestFirst,
        bodyOf: (activity) => activityBody(simulation.directory(), applicationName, activity),
        query,
      });
    },
  }),
];

/**
 * Returns the entries that the log shows at this time. Each entry appears after a random lag, and a few never appear.
 */
function visibleActivities(simulation: Simulation, application: Application): readonly Activity[] {
  const { lagSeconds, lostLogEntries, loggedIdentifier } = simulation.settings();
  const nowMs = simulation.clock();
  return simulation.directory().log.flatMap((entry) => {
    const event = eventOf(application, entry, loggedIdentifier);
    if (event === undefined) return [];
    const random = simulation.random(`log/${application}/${entry.seq}`);
    const visibleFromMs = entry.atMs + random.fraction() * lagSeconds.log * 1_000;
    const isLost = random.chance(lostLogEntries);
    return isLost || visibleFromMs > nowMs ? [] : [{ entry, event }];
  });
}

const newestFirst = ({ entry }: Activity) =>
  `${String(Number.MAX_SAFE_INTEGER - entry.atMs).padStart(17, '0')}${String(1e9 - entry.seq)}`;

function activityBody(
  { customerId, domain }: { readonly customerId: string; readonly domain: string },
  applicationName: Application,
  { entry, event }: Activity,
) {
  return withEtag({
    kind: 'audit#activity',
    id: {
      time: new Date(entry.atMs).toISOString(),
      uniqueQualifier: String(entry.seq * 7_919_317_131),
      applicationName,
      customerId,
    },
    actor: { callerType: 'USER', email: entry.actorEmail, profileId: '100000000000000000001' },
    ownerDomain: domain,
    ipAddress: '192.0.2.7',
    events: [event],
  });
}

/**
 * Parses the parameter `filters`: clauses `NAME==value` or `NAME<>value`, separated by commas.
 * @throws {DirectoryError} 400 for another operator
 */
function filterOf(text: string | undefined): (event: ActivityEvent) => boolean {
  const clauses = (text ?? '')
    .split(',')
    .filter((clause) => clause !== '')
    .map((clause) => {
      const [, name, operator, value] = /^(\w+)(==|<>)(.*)$/.exec(clause) ?? [];
      if (operator === undefined) throw invalidInput('filters');
      return { name, isEqual: operator === '==', value };
    });
  return ({ parameters }) =>
    clauses.every(({ name, isEqual, value }) => {
      const parameter = parameters.find((one) => one.name === name);
      return parameter !== undefined && (parameter.value === value) === isEqual;
    });
}
