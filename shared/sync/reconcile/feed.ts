import type { ActivityEvent } from '../../domain/drift.ts';
import { DAY_MS } from '../../domain/duration.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { reportToGate, throughGate } from '../gate.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { FeedEvent, FeedPage, FeedPosition, Lease } from '../ports/reconcile.ts';
import { underLease } from '../under-lease.ts';
import { type Checking, checkGroups } from './check-groups.ts';
import { emptyTotals, reportOf, type Totals, together } from './report.ts';
import { compareAll } from './sweep.ts';

/** The number of pages in one step. After a step, their groups are compared, and the position moves. */
const PAGES_PER_STEP = 10;
/** How long a failing cursor is tried again, if its failures may have another cause. */
const TRIED_MS = 3_600_000;
/** The maximum number of refused cursors in one run. */
const MAX_REFUSALS = 3;

interface Reading extends Checking {
  readonly connection: Connection;
  readonly lease: Lease;
  readonly totals: Totals;
  /** The time before which the run should end, in milliseconds since 1970. */
  readonly deadlineMs: number;
}

/**
 * Reads the activity feed from the position where the last run stopped.
 *
 *     lease, fence ──▶ read up to ten pages ──▶ compare the groups they name, mark suspects, wake ──▶ move the position
 *                      ▲                                                                              │
 *                      └──────────────────────────── until the end, or time is up ◀───────────────────┘
 *
 * The position moves only after all events before it are recorded (invariant 8). After a crash, the same pages are read
 * again. A second mark of a group does no harm. The fence is written before the feed is read, and blocks writes of
 * earlier runs. So a run that was suspended for longer than its lease cannot change the position of a later run.
 * @returns the report, with the sweep of this run if events may have been missed, and why the feed was not read to its
 * end; undefined while another run reads the feed
 */
export const followFeed = (
  connection: Connection,
  ports: ReconcilePorts,
  deadlineMs: number,
  everyMinutes?: number,
) =>
  underLease(
    { connection: connection.name, task: 'feed', everyMinutes },
    ports,
    (lease) => throughGate(connection, ports, () => followOpenly(connection, ports, { lease, deadlineMs })),
    (run) => run?.failure,
  );

async function followOpenly(
  connection: Connection,
  ports: ReconcilePorts,
  { lease, deadlineMs }: Pick<Reading, 'lease' | 'deadlineMs'>,
) {
  const startedAtMs = ports.clock();
  const begun = await ports.feed.begin(connection.name, lease);
  if (begun === undefined) return undefined;
  const platform = await ports.platforms.open(connection);
  const totals = emptyTotals();
  return run(begun.position, startedAtMs, { connection, platform, ports, lease, totals, deadlineMs });
}

async function run(before: FeedPosition | undefined, startedAtMs: number, reading: Reading) {
  const { connection, ports } = reading;
  const { position, failure } = await readToTheEnd(before ?? firstPosition(startedAtMs), reading);
  const report = await reportOf(connection, reading.totals, {
    drift: ports.drift,
    cursor: position.cursor,
    drifted: [before?.writtenAtMs ?? 0, position.writtenAtMs],
    startedAtMs,
    nowMs: ports.clock(),
  });
  const isClosed = failure !== undefined && (await reportToGate(connection, failure, ports));
  const mayNotSweep = isClosed || !position.needsSweep || ports.clock() >= reading.deadlineMs;
  const task = { connection: connection.name, task: 'sweep' } as const;
  const sweep = mayNotSweep
    ? undefined
    : await underLease(task, ports, () => compareAll(connection, ports, reading.deadlineMs));
  if (sweep === undefined) return { report, sweep, failure };
  // `needsSweep` is cleared only when the sweep is complete.
  await ports.feed.write(connection.name, { ...position, needsSweep: false }, reading.lease);
  return { report: together(report, sweep.report), sweep, failure };
}

async function readToTheEnd(start: FeedPosition, reading: Reading) {
  const { clock } = reading.ports;
  let position = withoutOldCursor(start, clock());
  for (let refusals = 0; ; ) {
    const pages = await readPages(position, reading);
    if (pages instanceof PlatformFailure) {
      const isOver = !isRefusal(pages, position, clock()) || refusals >= MAX_REFUSALS;
      if (isOver) return { position, failure: pages };
      refusals += 1;
      // A read by date returns some events again. Events whose ids are known are not counted twice.
      position = { ...position, cursor: null, needsSweep: true };
      continue;
    }
    position = await record(pages, position, reading);
    if (pages.at(-1)?.done === true || clock() >= reading.deadlineMs) return { position };
  }
}

/** Drops the cursor if no run has reached the feed's end for 89 days, because events may have been missed. */
const withoutOldCursor = (start: FeedPosition, nowMs: number): FeedPosition =>
  nowMs - start.readAtMs > LOOK_BACK_MS
    ? { ...start, cursor: null, lastEventAt: null, needsSweep: true }
    : start;

/**
 * Whether the platform refuses the cursor. The specification defines neither a lifetime of a cursor nor an error for
 * it. A 4xx for which `meaningOf` returns `refuse`, or a malformed 2xx, counts as a refusal immediately. A failure that
 * may have another cause, such as a 500, counts as a refusal after an hour. If the failure does have another cause, the
 * read by date fails too, and no event is skipped.
 */
function isRefusal(failure: PlatformFailure, { cursor, readAtMs }: FeedPosition, nowMs: number): boolean {
  const { whose, next } = meaningOf(failure);
  if (cursor === null || whose === 'connection') return false;
  return next === 'refuse' || next === 'invalid' || nowMs - readAtMs > TRIED_MS;
}

/**
 * Reads the pages of one step.
 * @returns the pages before a failure; the failure if it came before the first page. After a later failure, the next
 * step reads the failed page again
 */
async function readPages(position: FeedPosition, { platform, ports }: Reading) {
  const { cursor } = position;
  const start = cursor === null ? { sinceMs: startOf(position, ports.clock()) } : { cursor };
  const pages: FeedPages[number][] = [];
  try {
    for await (const page of platform.activity(start)) {
      pages.push(page);
      if (pages.length >= PAGES_PER_STEP) break;
    }
  } catch (error) {
    if (!(error instanceof PlatformFailure)) throw error;
    if (pages.length === 0) return error;
  }
  return pages;
}

async function record(pages: FeedPages, position: FeedPosition, reading: Reading): Promise<FeedPosition> {
  const { connection, platform, ports, lease, totals } = reading;
  const events = freshEvents(pages, position);
  const activity = activityByGroup(events);
  const echoes = await checkGroups(connection, activity, { platform, ports });
  const moved = movedOn(position, pages, ports.clock());
  if (!(await ports.feed.write(connection.name, moved, lease))) {
    throw new Error('another run now reads the feed, because this run was suspended for too long');
  }
  // The events are counted only after the position was written. If another run has taken over, that run counts the
  // events.
  totals.eventsRead += events.length;
  totals.groupsTouched += activity.size;
  totals.echoes += echoes;
  return moved;
}

type FeedPages = readonly FeedPage[];

/**
 * The start of a read by date is at most this long ago. The feed contains only events that are less than 90 days old
 * (specification, "Company activity"). The remaining day is a margin for clocks and delays.
 */
const LOOK_BACK_MS = 89 * DAY_MS;
/** The maximum number of stored ids: two full pages of 1,000 events. The item stays far below 400 KB. */
const MAX_RECENT_IDS = 2_000;

const firstPosition = (nowMs: number): FeedPosition => ({
  cursor: null,
  recentIds: [],
  lastEventAt: null,
  readAtMs: nowMs,
  writtenAtMs: nowMs,
  needsSweep: false,
});

/**
 * Returns the events whose ids the position does not contain. A run may read an event twice. The feed may repeat its
 * last page, and a read by date includes the events at its start time.
 */
function freshEvents(pages: FeedPages, { recentIds }: FeedPosition): readonly FeedEvent[] {
  const known = new Set(recentIds);
  const events = pages.flatMap(({ events: of }) => of).filter(({ id }) => !known.has(id));
  return [...new Map(events.map((event) => [event.id, event])).values()];
}

function activityByGroup(events: readonly FeedEvent[]) {
  const activity = new Map<PlatformGroupId, ActivityEvent[]>();
  for (const { groups, ...event } of events) {
    for (const group of new Set(groups)) {
      const known = activity.get(group);
      if (known === undefined) activity.set(group, [event]);
      else known.push(event);
    }
  }
  return activity;
}

/** Returns the position after the pages, with the ids of the newest events for `freshEvents`. */
function movedOn(position: FeedPosition, pages: FeedPages, nowMs: number): FeedPosition {
  const events = pages.flatMap(({ events: of }) => of);
  const last = pages.at(-1);
  const newestFirst = [...events.map(({ id }) => id).reverse(), ...position.recentIds];
  return {
    cursor: last?.next ?? position.cursor,
    recentIds: [...new Set(newestFirst)].slice(0, MAX_RECENT_IDS),
    lastEventAt: newest(events, position.lastEventAt),
    readAtMs: last?.done === true ? nowMs : position.readAtMs,
    writtenAtMs: nowMs,
    needsSweep: position.needsSweep,
  };
}

/** Returns the latest timestamp, in the format of the feed. */
const newest = (events: readonly FeedEvent[], before: string | null): string | null =>
  [before, ...events.map(({ at }) => at)].reduce<string | null>(
    (latest, at) => (millis(at) > (millis(latest) || 0) ? at : latest),
    null,
  );

/** Returns the start of a read by date: the time of the newest known event; 89 days ago if older or unknown. */
function startOf({ lastEventAt }: FeedPosition, nowMs: number): number {
  const earliestMs = nowMs - LOOK_BACK_MS;
  const atMs = millis(lastEventAt);
  // The platform's clock may be ahead, so the time of an event may be in the future.
  return atMs > earliestMs ? Math.min(atMs, nowMs) : earliestMs;
}

const millis = (at: string | null): number => (at === null ? Number.NaN : Date.parse(at));
