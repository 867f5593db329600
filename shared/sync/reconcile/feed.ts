import type { ReconcileReport } from '../../contract/answers.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { reportToGate, throughGate } from '../gate.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { FeedPosition, Lease } from '../ports/reconcile.ts';
import { type Checking, checkGroups } from './check-groups.ts';
import type { FeedPages } from './position.ts';
import { activityByGroup, firstPosition, freshEvents, LOOK_BACK_MS, movedOn, startOf } from './position.ts';
import { emptyTotals, reportOf, type Totals, together } from './report.ts';
import { compareAll, type SweepRun } from './sweep.ts';

/** Pages that are gathered before their groups are compared and the position moves. */
const PAGES_PER_STEP = 10;
/** How long another run must wait for one that died; longer than a function lives (15 minutes). */
const LEASE_MS = 16 * 60_000;
/** How long a cursor is tried again if its failures may have another cause. */
const TRIED_MS = 3_600_000;
/** Maximum number of refused cursors in one run. */
const MAX_REFUSALS = 3;

export interface FeedRun {
  readonly report: ReconcileReport;
  /** Platform groups that were newly found to carry the spokeId of another. */
  readonly duplicates: number;
  /** Made where events may have been missed: everything was compared. Its numbers are in the report. */
  readonly sweep?: SweepRun;
  /** Why the feed was not read to its end; what was read before is recorded and reported. */
  readonly failure?: PlatformFailure;
}

interface Reading extends Checking {
  readonly connection: Connection;
  readonly lease: Lease;
  readonly totals: Totals & { duplicates: number };
  /** Milliseconds since 1970 by which the run should have come to its end. */
  readonly deadlineMs: number;
}

/**
 * Follows the activity feed from where the last run stopped.
 *
 *     lease, fence ──▶ read up to ten pages ──▶ compare the groups they name, mark suspects, wake ──▶ move the position
 *                      ▲                                                                              │
 *                      └──────────────────────────── until the end, or time is up ◀───────────────────┘
 *
 * The position moves only after everything before it is recorded (invariant 8): a crash reads the same pages again,
 * and marking a suspect twice is marking it once. The fence is written before anything is read, so a run that was
 * paused past its lease cannot move a position that another run has begun with.
 * @returns undefined while another run is at it
 */
export const followFeed = (
  connection: Connection,
  ports: ReconcilePorts,
  deadlineMs: number,
): Promise<FeedRun | undefined> =>
  throughGate(connection, ports, () => followOpenly(connection, ports, deadlineMs));

async function followOpenly(connection: Connection, ports: ReconcilePorts, deadlineMs: number) {
  const startedAtMs = ports.clock();
  const span = { nowMs: startedAtMs, lengthMs: LEASE_MS };
  const lease = await ports.leases.take(connection.name, 'feed', span);
  if (lease === undefined) return undefined;
  try {
    const begun = await ports.feed.begin(connection.name, lease);
    if (begun === undefined) return undefined;
    const platform = await ports.platforms.open(connection);
    const reading: Reading = {
      connection,
      platform,
      ports,
      lease,
      totals: { ...emptyTotals(), duplicates: 0 },
      deadlineMs,
    };
    return await run(begun.position, startedAtMs, reading);
  } finally {
    await ports.leases.release(connection.name, lease);
  }
}

async function run(before: FeedPosition | undefined, startedAtMs: number, reading: Reading) {
  const { connection, ports } = reading;
  const { position, failure } = await readToTheEnd(before ?? firstPosition(startedAtMs), reading);
  const { duplicates, ...totals } = reading.totals;
  const report = await reportOf(connection, totals, {
    drift: ports.drift,
    cursor: position.cursor,
    drifted: [before?.writtenAtMs ?? 0, position.writtenAtMs],
    startedAtMs,
    nowMs: ports.clock(),
  });
  const ending = { duplicates, ...(failure === undefined ? {} : { failure }) };
  const isClosed = failure !== undefined && (await reportToGate(connection, failure, ports));
  if (isClosed || !position.needsSweep || ports.clock() >= reading.deadlineMs) return { report, ...ending };
  const swept = await compareAll(connection, ports, reading.deadlineMs);
  // The gap is closed only when the sweep has come to its end.
  await ports.feed.write(connection.name, { ...position, needsSweep: false }, reading.lease);
  return { report: together(report, swept.report), sweep: swept, ...ending };
}

interface Progress {
  readonly position: FeedPosition;
  readonly failure?: PlatformFailure;
}

async function readToTheEnd(start: FeedPosition, reading: Reading): Promise<Progress> {
  const { clock } = reading.ports;
  let position = withoutOldCursor(start, clock());
  for (let refusals = 0; ; ) {
    const pages = await readPages(position, reading);
    if (pages instanceof PlatformFailure) {
      const isOver = !isRefusal(pages, position, clock()) || refusals >= MAX_REFUSALS;
      if (isOver) return { position, failure: pages };
      refusals += 1;
      // Events since the last one that was read come again, by date; the ones known by id are not counted twice.
      position = { ...position, cursor: null, needsSweep: true };
      continue;
    }
    position = await record(pages, position, reading);
    if (pages.at(-1)?.done === true || clock() >= reading.deadlineMs) return { position };
  }
}

/** A position that was not moved for longer than the platform remembers has missed events. */
const withoutOldCursor = (start: FeedPosition, nowMs: number): FeedPosition =>
  nowMs - start.readAtMs > LOOK_BACK_MS
    ? { ...start, cursor: null, lastEventAt: null, needsSweep: true }
    : start;

/**
 * Whether the platform refuses the cursor. The specification gives a cursor no lifetime and no error of its own. A 4xx and
 * the `error` member of an answer 200 count at once; a failure that may have another cause, such as a 500, counts after an
 * hour. If the failure has another cause, the read by date fails as well and the position stays.
 */
function isRefusal(failure: PlatformFailure, { cursor, readAtMs }: FeedPosition, nowMs: number): boolean {
  const { whose, next } = meaningOf(failure);
  if (cursor === null || whose === 'connection') return false;
  return next === 'refuse' || next === 'odd' || nowMs - readAtMs > TRIED_MS;
}

/** @returns pages as far as they came, or why not even one did: the next step meets the same failure again */
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
  const { echoes, duplicates } = await checkGroups(connection, activity, { platform, ports });
  const moved = movedOn(position, pages, ports.clock());
  if (!(await ports.feed.write(connection.name, moved, lease))) {
    throw new Error('another run has taken over the feed: this one was paused for too long');
  }
  // Counted only now: what another run has taken over is counted there.
  totals.eventsRead += events.length;
  totals.groupsTouched += activity.size;
  totals.echoes += echoes;
  totals.duplicates += duplicates;
  return moved;
}
