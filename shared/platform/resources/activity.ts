import * as z from 'zod';
import type { ConnectionSettings } from '../../contract/settings.ts';
import { type Call, type Caller, type CallOptions, checked, type Endpoint } from '../call.ts';
import { answered, InvalidRequestError, UnexpectedBodyError } from '../errors.ts';
import { openEnum, text } from '../schemas/field.ts';

/** A list in which an entry that is not an object is read as an empty object. */
const listed = <Item extends z.ZodType>(item: Item) =>
  z.preprocess((list) => (Array.isArray(list) ? list.map(orNothing) : list), z.array(item));

const orNothing = (entry: unknown): unknown =>
  typeof entry !== 'object' || entry === null || Array.isArray(entry) ? {} : entry;

const Subject = z.lazy(() =>
  z.object({
    instance: text,
    type: openEnum(['GROUP', 'SPOKE_USER', 'ROLE', 'SPOKE', 'RPASS_ITEM']).nullish(),
    display_name: text,
    icon: text,
  }),
);

const Initiator = z.lazy(() =>
  z.object({
    type: openEnum(['ROLE', 'SYSTEM', 'EXTERNAL']).nullish(),
    role: text,
    display_name: text,
    icon: text,
  }),
);

/**
 * Workforce Platform API, Activity event, with the field names of the specification. A platform may send an
 * `event_type`, subject or initiator that the specification does not list. This is not an error.
 */
const ListedActivity = z.lazy(() =>
  z.object({
    id: z.string().min(1).optional(),
    request_data: z.unknown().optional(),
    linked_events: z.array(z.unknown()).nullish(),
    subjects: listed(Subject).nullish(),
    event_type: openEnum([
      'EXTERNAL_GROUP_ADD',
      'EXTERNAL_GROUP_REMOVE',
      'EXTERNAL_GROUP_MEMBER_ADD',
      'EXTERNAL_GROUP_MEMBER_REMOVE',
    ]).nullish(),
    timestamp: text,
    company: text,
    spoke: text,
    owner: text,
    initiator: Initiator.nullish(),
    event_reason: z.object({ reason: text, message: text }).nullish(),
    name: text,
  }),
);
export type ListedActivity = z.infer<typeof ListedActivity> & { readonly id: string };

const isKnown = (event: z.infer<typeof ListedActivity>): event is ListedActivity => event.id !== undefined;

/**
 * A page with at least this number of events is an error if no event has an id. A shorter page is accepted, because the
 * last page of a feed may contain only a few malformed events.
 */
const MANY_EVENTS = 10;

/**
 * The feed's envelope: `{data: {events, next}, error}`. Some platforms send null as `data` or `events`, which means an
 * empty page. If `next` is null, absent or empty, there are no more events at the moment. One malformed event does not
 * hide the other events. A long list without any event id is an error (`MANY_EVENTS`).
 */
const ActivityEnvelope = z.lazy(() => {
  const events = listed(ListedActivity).refine((list) => list.length < MANY_EVENTS || list.some(isKnown), {
    error: 'expected events with ids, got a list of something else',
  });
  return z.object({ data: z.object({ events: events.nullable(), next: text }).nullable() });
});

/** Some platforms send `{events, next}` without the envelope. */
function envelopeOf(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  return 'events' in raw && !('data' in raw) ? { ...raw, data: raw } : raw;
}

const FEED: Endpoint = { method: 'GET', path: '/platform/api/company_activity' };

/** The page size (1 to 1000), and the names of query parameters, which the specification does not define. */
export type ActivityNames = Readonly<ConnectionSettings['activity']>;

const DEFAULT_ACTIVITY: ActivityNames = {
  startParam: 'startDate',
  endParam: 'endDate',
  sizeParam: 'limit',
  pageSize: 1000,
};

const MAX_PAGE_SIZE = 1_000;

/** @throws TypeError if the page size is not allowed */
export function activityNames(given: Partial<ActivityNames> = {}): ActivityNames {
  const names = { ...DEFAULT_ACTIVITY, ...given };
  if (Number.isInteger(names.pageSize) && names.pageSize > 0 && names.pageSize <= MAX_PAGE_SIZE) return names;
  throw new TypeError(
    `activity.pageSize: expected a whole number from 1 to ${MAX_PAGE_SIZE}, got ${names.pageSize}`,
  );
}

/**
 * Where a read begins: at the cursor of an earlier page, or at a time range in milliseconds since 1970. `sinceMs` is
 * inclusive and must be less than 90 days ago. Without `sinceMs`, the read begins with the oldest event. Without
 * `untilMs`, it continues to the end of the feed.
 */
type ActivityStart =
  | { readonly cursor: string }
  | { readonly sinceMs?: number | undefined; readonly untilMs?: number | undefined };

const WINDOW_MS = 90 * 24 * 3_600_000;
/**
 * The read ends after this number of empty pages in a row, because a feed may send empty pages with new cursors
 * forever. The next read continues from the last cursor.
 */
const MAX_EMPTY_PAGES = 20;

interface Settings {
  readonly names: ActivityNames;
  readonly clock: () => number;
}

export const activityResource = (call: Caller, settings: Settings) => ({
  /**
   * `GET /company_activity`: reads at least one page, and continues until there are no more events. The first request
   * contains the start, and each later request contains only the cursor. The last page may repeat earlier events. The
   * caller stores the cursor `next` after it has recorded the events. If the feed has not sent a cursor, `next` is
   * null. `done` is true for the last page. An event without an id is dropped.
   * @throws ReportedError if the envelope's `error` is not null; UnexpectedBodyError for a malformed envelope or a
   * repeated cursor; InvalidRequestError if the start is malformed, or is 90 days ago or more
   */
  follow: (start: ActivityStart = {}, options?: CallOptions) => follow(call, settings, start, options),
});

async function* follow(call: Caller, settings: Settings, start: ActivityStart, options?: CallOptions) {
  let cursor = cursorOf(start);
  let query = cursor === null ? firstQuery(start, settings) : { next: cursor };
  const seen = new Set<string>();
  for (let emptyPages = 0; ; ) {
    const { events: pageEvents, next }: Feed = await call({ endpoint: FEED, query, decoding }, options);
    const events = pageEvents.filter(isKnown);
    emptyPages = events.length === 0 ? emptyPages + 1 : 0;
    // There are no more events if `next` is null, absent or empty, or repeats the cursor of the request.
    const ended = next === null || next === cursor;
    if (!ended) refuseCircle(next, seen);
    cursor = next ?? cursor;
    const done = ended || emptyPages >= MAX_EMPTY_PAGES;
    yield { events, next: cursor, done };
    if (done || cursor === null) return;
    seen.add(cursor);
    query = { next: cursor };
  }
}

const cursorOf = (start: ActivityStart): string | null =>
  'cursor' in start ? checked(z.string().min(1), start.cursor, FEED) : null;

/** @throws UnexpectedBodyError if an earlier page had the same cursor, because the read would never end */
function refuseCircle(next: string, seen: ReadonlySet<string>): void {
  const circle = 'expected a new cursor in data.next, got a cursor of an earlier page';
  if (seen.has(next)) throw new UnexpectedBodyError(circle, answered(FEED), 'data.next');
}

/** The schema is created only once, because creating it takes longer than checking a request. */
const Start = z.lazy(() => z.strictObject({ sinceMs: z.int().optional(), untilMs: z.int().optional() }));

/** Returns the query of the first request. Dates are RFC 3339 times in UTC with milliseconds. */
function firstQuery(start: ActivityStart, { names, clock }: Settings): Record<string, string> {
  const { sinceMs, untilMs } = checked(Start, start, FEED);
  if (sinceMs !== undefined && sinceMs <= clock() - WINDOW_MS) {
    const facts = { method: FEED.method, pathTemplate: FEED.path, sent: 'no' } as const;
    throw new InvalidRequestError('sinceMs: expected a time less than 90 days ago', facts);
  }
  return {
    ...(sinceMs === undefined ? {} : { [names.startParam]: new Date(sinceMs).toISOString() }),
    ...(untilMs === undefined ? {} : { [names.endParam]: new Date(untilMs).toISOString() }),
    [names.sizeParam]: String(names.pageSize),
  };
}

type Feed = { readonly events: readonly z.infer<typeof ListedActivity>[]; readonly next: string | null };

const decoding: Call<Feed>['decoding'] = {
  schema: ActivityEnvelope.transform(({ data }) => ({
    events: data?.events ?? [],
    next: data?.next || null,
  })),
  envelope: envelopeOf,
  errorMember: 'error',
  // A malformed field of an event is dropped. A malformed cursor is an error, because a missing cursor would end the
  // read.
  exact: (path) => path.join('.') === 'data.next',
  ignoredIn: ({ events }) => events.flatMap((event, at) => (isKnown(event) ? [] : [`data.events[${at}].id`])),
};
