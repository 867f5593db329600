import * as z from 'zod';
import type { ConnectionSettings } from '../../contract/settings.ts';
import { type Call, type Caller, type CallOptions, checked, type Endpoint } from '../call.ts';
import { answered, InvalidRequestError, UnexpectedBodyError } from '../errors.ts';
import { openEnum, text } from '../schemas/field.ts';

/** An entry that is not an object is read as an empty object, so that it does not hide the other entries. */
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
 * Workforce Platform API, Activity event, under the specification's own names. Types appear that the specification does
 * not list: an unknown `event_type`, subject or initiator is data.
 */
const ActivityEvent = z.lazy(() =>
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
export type ActivityEvent = z.infer<typeof ActivityEvent> & { readonly id: string };

const isKnown = (event: z.infer<typeof ActivityEvent>): event is ActivityEvent => event.id !== undefined;

/**
 * The last page of a feed may have a few malformed events only. If it has this many, at least one must be as specified.
 */
const MANY_EVENTS = 10;

/**
 * The feed's envelope: `{data: {events, next}, error}` as specified. Some platforms send `data` or `events` as null, which is an
 * empty page. A null, absent or empty `next` all mean "no more for now". An odd event must not hide all others
 * for as long as the feed tells of it; a list of many of nothing else is no list of events.
 */
const ActivityEnvelope = z.lazy(() => {
  const events = listed(ActivityEvent).refine((list) => list.length < MANY_EVENTS || list.some(isKnown), {
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

/** Names that the specification leaves open, and the page size (1 to 1000). */
export type ActivityNames = Readonly<ConnectionSettings['activity']>;

export const DEFAULT_ACTIVITY: ActivityNames = {
  startParam: 'startDate',
  endParam: 'endDate',
  sizeParam: 'limit',
  pageSize: 1000,
};

const MAX_PAGE_SIZE = 1_000;

/** @throws TypeError for a page size that the platform does not give. */
export function activityNames(given: Partial<ActivityNames> = {}): ActivityNames {
  const names = { ...DEFAULT_ACTIVITY, ...given };
  if (Number.isInteger(names.pageSize) && names.pageSize > 0 && names.pageSize <= MAX_PAGE_SIZE) return names;
  throw new TypeError(
    `activity.pageSize: expected a whole number from 1 to ${MAX_PAGE_SIZE}, got ${names.pageSize}`,
  );
}

/**
 * Where to begin: after a cursor that an earlier page gave, or at an instant (milliseconds since 1970, inclusive, less
 * than 90 days ago; default: as far back as the platform goes), optionally up to another.
 */
type ActivityStart =
  | { readonly cursor: string }
  | { readonly sinceMs?: number | undefined; readonly untilMs?: number | undefined };

const WINDOW_MS = 90 * 24 * 3_600_000;
/** A feed may give a new cursor with nothing behind it for ever; after this many the rest can wait for the next run. */
const MAX_EMPTY_PAGES = 20;

interface Settings {
  readonly names: ActivityNames;
  readonly clock: () => number;
}

/** Workforce Platform API, Company activity. */
export const activityResource = (call: Caller, settings: Settings) => ({
  /**
   * `GET /company_activity`, page after page until there is no more for now; at least one page. The first request
   * carries the start date, every later one the cursor alone. The end may repeat events that were read before. `next`
   * is the cursor to store once a page's events are recorded, null if none has come yet; `done` marks the last page.
   * An event without an id is left out.
   * @throws ReportedError if the envelope's `error` is not null; UnexpectedBodyError for another envelope;
   * InvalidRequestError for a start 90 days ago or longer.
   */
  follow: (start: ActivityStart = {}, options?: CallOptions) => follow(call, settings, start, options),
});

async function* follow(call: Caller, settings: Settings, start: ActivityStart, options?: CallOptions) {
  let cursor = cursorOf(start);
  let query = cursor === null ? firstQuery(start, settings) : { next: cursor };
  const seen = new Set<string>();
  for (let emptyPages = 0; ; ) {
    const { events: told, next }: Feed = await call({ endpoint: FEED, query, decoding }, options);
    const events = told.filter(isKnown);
    emptyPages = events.length === 0 ? emptyPages + 1 : 0;
    // Null, absent, empty, and the same cursor again all mean that there is no more.
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

/** @throws UnexpectedBodyError if an earlier page gave the same cursor: the pages would never end */
function refuseCircle(next: string, seen: ReadonlySet<string>): void {
  const circle = 'expected data.next to move on, got a cursor of an earlier page';
  if (seen.has(next)) throw new UnexpectedBodyError(circle, answered(FEED), 'data.next');
}

/** Made once: a schema costs more than the request that it checks. */
const Start = z.lazy(() => z.strictObject({ sinceMs: z.int().optional(), untilMs: z.int().optional() }));

/** The first request: dates in UTC with milliseconds, as RFC 3339 writes them. */
function firstQuery(start: ActivityStart, { names, clock }: Settings): Record<string, string> {
  const { sinceMs, untilMs } = checked(Start, start, FEED);
  if (sinceMs !== undefined && sinceMs <= clock() - WINDOW_MS) {
    const facts = { method: FEED.method, pathTemplate: FEED.path, sent: 'no' } as const;
    throw new InvalidRequestError('sinceMs: expected an instant less than 90 days ago', facts);
  }
  return {
    ...(sinceMs === undefined ? {} : { [names.startParam]: new Date(sinceMs).toISOString() }),
    ...(untilMs === undefined ? {} : { [names.endParam]: new Date(untilMs).toISOString() }),
    [names.sizeParam]: String(names.pageSize),
  };
}

type Feed = { readonly events: readonly z.infer<typeof ActivityEvent>[]; readonly next: string | null };

const decoding: Call<Feed>['decoding'] = {
  schema: ActivityEnvelope.transform(({ data }) => ({
    events: data?.events ?? [],
    next: data?.next || null,
  })),
  envelope: envelopeOf,
  errorMember: 'error',
  // An odd detail of an event is left out; an odd cursor must not look like the end of the feed.
  exact: (path) => path.join('.') === 'data.next',
  oddOf: ({ events }) => events.flatMap((event, at) => (isKnown(event) ? [] : [`data.events[${at}].id`])),
};
