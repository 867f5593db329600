import * as z from 'zod';
import { activityEvent, feedPage, firstAtOrAfter } from '../../simulate/platform/rules.ts';
import { badRequest } from './errors.ts';
import type { ActivityEvent } from './schemas/activity.ts';
import { type ActivityEntry, type ActivityLog, type CompanyState, employeeOf } from './state/state.ts';

/*
 * A cursor is a position in an append-only log. So each event is shown exactly once, even if several events have the
 * same time, or if new events are written between two reads. The cursor also contains the filter of the first request,
 * for later requests with only `next`, and the id of the log, so that a cursor of another log is rejected.
 */
const Cursor = z.strictObject({
  feed: z.string(),
  position: z.int().min(0),
  fromMs: z.number().optional(),
  untilMs: z.number().optional(),
});
type Cursor = z.infer<typeof Cursor>;

/** Specification, "Limits": the start must be less than 90 days before now. */
const LOOK_BACK_MS = 90 * 86_400_000;

interface FeedQuery {
  readonly next?: string | undefined;
  /** The start and the end of the period, in milliseconds since 1970. Both are inclusive. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly limit: number;
  readonly nowMs: number;
}

interface FeedPage {
  readonly events: ActivityEvent[];
  readonly next: string;
  readonly isEnd: boolean;
}

/**
 * Returns one page of a company's activity, oldest first.
 * @throws {ApiError} 400 for a start that is too long ago, and for a cursor of another feed
 */
export function readFeed(company: CompanyState, query: FeedQuery): FeedPage {
  const log = company.activity;
  const cursor = query.next === undefined ? begin(log, query) : decode(log, query.next);
  const untilMs = Math.min(cursor.untilMs ?? Infinity, query.endMs ?? Infinity);
  const { fromMs, position: from } = cursor;
  const page = feedPage(log.entries, { position: from, fromMs, untilMs, limit: query.limit });
  const events = page.entries.map(({ entry, sequence }) => render(company, entry, sequence));
  return { events, next: encode({ ...cursor, position: page.position }), isEnd: page.isEnd };
}

function begin(log: ActivityLog, { startMs, endMs, nowMs }: FeedQuery): Cursor {
  if (startMs !== undefined && startMs <= nowMs - LOOK_BACK_MS) {
    throw badRequest('query.startDate: expected a time less than 90 days before now');
  }
  const fromMs = startMs ?? nowMs - LOOK_BACK_MS;
  return {
    feed: log.feed,
    position: firstAtOrAfter(log.entries, fromMs),
    // If the start is in the future, later pages must also leave out the events before the start.
    fromMs: fromMs > nowMs ? fromMs : undefined,
    untilMs: endMs,
  };
}

const encode = (cursor: Cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function decode(log: ActivityLog, text: string): Cursor {
  const cursor = Cursor.safeParse(parseJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (cursor.success && cursor.data.feed === log.feed && cursor.data.position <= log.entries.length) {
    return cursor.data;
  }
  throw badRequest('query.next: expected a cursor from this company’s activity feed');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function render(company: CompanyState, entry: ActivityEntry, sequence: number): ActivityEvent {
  const place = { id: `${company.activity.feed}-${sequence}`, company: company.id };
  return activityEvent(entry, place, (user) => employeeOf(company, user));
}
