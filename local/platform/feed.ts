import { z } from 'zod';
import { badRequest } from './errors.ts';
import type { ActivityEvent } from './schemas/activity.ts';
import type { ActivityEntry, ActivityLog, CompanyState } from './state/state.ts';
import { employeeOf } from './state/state.ts';
import { timestamp } from './timestamp.ts';

/*
 * A cursor is a position in an append-only log, not a time: events of the same instant, and events written between
 * two reads, can neither be skipped nor repeated. It also carries what the first request asked for, so that `next`
 * alone continues it, and the id of the log, so that a cursor from elsewhere is refused instead of misread.
 */
const Cursor = z.strictObject({
  feed: z.string(),
  position: z.int().min(0),
  fromMs: z.number().optional(),
  untilMs: z.number().optional(),
});
type Cursor = z.infer<typeof Cursor>;

/** Specification, "Limits": the start must be less than 90 days before now. */
export const LOOK_BACK_MS = 90 * 86_400_000;

export interface FeedQuery {
  readonly next?: string | undefined;
  /** Both inclusive, milliseconds since 1970. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly limit: number;
  readonly nowMs: number;
}

export interface FeedPage {
  readonly events: ActivityEvent[];
  readonly next: string;
  /** Nothing more to read now. */
  readonly isEnd: boolean;
}

/**
 * One page of a company's activity, oldest first.
 * @throws {ApiError} 400 for a start outside the window and for a cursor that this feed did not give out
 */
export function readFeed(company: CompanyState, query: FeedQuery): FeedPage {
  const log = company.activity;
  const cursor = query.next === undefined ? begin(log, query) : decode(log, query.next);
  const untilMs = Math.min(cursor.untilMs ?? Infinity, query.endMs ?? Infinity);
  const fromMs = cursor.fromMs ?? -Infinity;
  const events: ActivityEvent[] = [];
  let { position } = cursor;
  for (let entry = log.entries[position]; entry !== undefined; entry = log.entries[position]) {
    if (entry.batch.atMs > untilMs || events.length === query.limit) break;
    position += 1;
    if (entry.batch.atMs >= fromMs) events.push(render(company, entry, position));
  }
  const following = log.entries[position];
  const isEnd = following === undefined || following.batch.atMs > untilMs;
  return { events, next: encode({ ...cursor, position }), isEnd };
}

function begin(log: ActivityLog, { startMs, endMs, nowMs }: FeedQuery): Cursor {
  if (startMs !== undefined && startMs <= nowMs - LOOK_BACK_MS) {
    throw badRequest('query.startDate: expected a time less than 90 days before now');
  }
  const fromMs = startMs ?? nowMs - LOOK_BACK_MS;
  return {
    feed: log.feed,
    position: firstAtOrAfter(log.entries, fromMs),
    // A start in the future has to hold back events that are written before it.
    ...(fromMs > nowMs ? { fromMs } : {}),
    ...(endMs === undefined ? {} : { untilMs: endMs }),
  };
}

/** Binary search: times in the log never go back. */
function firstAtOrAfter(entries: readonly ActivityEntry[], ms: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.batch.atMs ?? Infinity) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

const encode = (cursor: Cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function decode(log: ActivityLog, text: string): Cursor {
  const cursor = Cursor.safeParse(parseJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (cursor.success && cursor.data.feed === log.feed && cursor.data.position <= log.entries.length) {
    return cursor.data;
  }
  throw badRequest('query.next: expected a cursor that this company’s activity feed has given out');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const KINDS = {
  created: { type: 'EXTERNAL_GROUP_ADD', name: 'Group added' },
  changed: { type: 'EXTERNAL_GROUP_UPDATE', name: 'Group changed' },
  deleted: { type: 'EXTERNAL_GROUP_REMOVE', name: 'Group removed' },
  added: { type: 'EXTERNAL_GROUP_MEMBER_ADD', name: 'Account added to group' },
  removed: { type: 'EXTERNAL_GROUP_MEMBER_REMOVE', name: 'Account removed from group' },
} as const satisfies Record<ActivityEntry['kind'], { type: string; name: string }>;

const REASONS = {
  EXTERNAL: { reason: 'CHANGE_SYNCED_FROM_EXTERNAL_APP', message: 'The change was synced from' },
  ROLE: { reason: 'CHANGED_BY_ROLE', message: 'The change was made by' },
  SYSTEM: { reason: 'CHANGED_BY_SYSTEM', message: 'The change was made by' },
} as const;

/** The event at a place of the log; its id is the place, so it is the same at every read. */
function render(
  company: CompanyState,
  { batch, kind, user }: ActivityEntry,
  sequence: number,
): ActivityEvent {
  const { initiator } = batch;
  const { reason, message } = REASONS[initiator.type];
  return {
    id: `${company.activity.feed}-${sequence}`,
    request_data: null,
    linked_events: [],
    subjects: [subject('GROUP', batch.group.id, batch.group.name), ...memberSubjects(company, user)],
    event_type: KINDS[kind].type,
    timestamp: timestamp(batch.atMs),
    company: company.id,
    spoke: batch.spoke,
    owner: initiator.role ?? company.id,
    initiator: {
      type: initiator.type,
      role: initiator.role,
      display_name: initiator.displayName,
      icon: null,
    },
    event_reason: { reason, message: `${message} ${initiator.displayName}` },
    name: KINDS[kind].name,
  };
}

function memberSubjects(company: CompanyState, user: string | null) {
  if (user === null) return [];
  const employee = employeeOf(company, user);
  const account = subject('SPOKE_USER', user, employee?.name ?? user);
  return employee === undefined ? [account] : [account, subject('ROLE', employee.id, employee.name)];
}

const subject = (type: string, instance: string, name: string) => ({
  instance,
  type,
  display_name: name,
  icon: null,
});
