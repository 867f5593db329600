import type { PlatformGroupId } from '../../domain/ids.ts';
import type { Connection } from '../ports/connections.ts';
import { type Platform, PlatformFailure } from '../ports/platform.ts';
import type { FeedEvent, FeedPage, FeedPosition, Lease } from '../ports/reconcile.ts';
import type { ReconcilePorts } from './ports.ts';
import { emptyTally, type ReconcileReport, reportOf, type Tally } from './report.ts';
import { suspectTouched, type Touch } from './suspect.ts';
import { type SweepRun, sweep } from './sweep.ts';

const DAY_MS = 24 * 3_600_000;
/** The platform lists less than 90 days (specification, "Company activity"); a day is left for clocks and delays. */
const LOOK_BACK_MS = 89 * DAY_MS;
/** Pages that are gathered before their groups are compared and the position moves. */
const PAGES_PER_STEP = 10;
/** How long another run must wait for one that died; longer than a function lives (15 minutes). */
const LEASE_MS = 16 * 60_000;

export interface FeedRun {
  readonly report: ReconcileReport;
  /** Made where events may have been missed: everything was compared. */
  readonly sweep?: SweepRun;
}

interface Reading {
  readonly connection: Connection;
  readonly platform: Platform;
  readonly ports: ReconcilePorts;
  readonly lease: Lease;
  readonly tally: Tally;
  /** Milliseconds since 1970 by which the run should have come to its end. */
  readonly deadlineMs: number;
}

/**
 * Follows the activity feed from where the last run stopped.
 *
 *     read up to ten pages ──▶ compare the groups they name, mark suspects, wake ──▶ move the position ──▶ again
 *
 * The position moves only after everything before it is recorded (invariant 8): a crash reads the same pages again,
 * and marking a suspect twice is marking it once.
 * @returns undefined while another run is at it
 */
export async function followFeed(
  connection: Connection,
  ports: ReconcilePorts,
  deadlineMs: number,
): Promise<FeedRun | undefined> {
  const startedAtMs = ports.clock();
  const span = { nowMs: startedAtMs, lengthMs: LEASE_MS };
  const lease = await ports.leases.take(connection.name, 'feed', span);
  if (lease === undefined) return undefined;
  try {
    const platform = await ports.platforms.open(connection);
    const tally = emptyTally();
    const before = await ports.feed.read(connection.name);
    const reading = { connection, platform, ports, lease, tally, deadlineMs };
    const after = await readToTheEnd(before ?? firstPosition(startedAtMs), reading);
    const report = await reportOf(connection, tally, {
      drift: ports.drift,
      cursor: after.cursor,
      sinceMs: before?.readAtMs ?? 0,
      startedAtMs,
      nowMs: ports.clock(),
    });
    return after.needsSweep ? { report, sweep: await sweepInstead(after, reading) } : { report };
  } finally {
    await ports.leases.release(connection.name, lease);
  }
}

/** The gap is closed only when the sweep has come to its end. */
async function sweepInstead(
  position: FeedPosition,
  { connection, ports, lease }: Reading,
): Promise<SweepRun> {
  const run = await sweep(connection, ports);
  await ports.feed.write(connection.name, { ...position, needsSweep: false }, lease);
  return run;
}

const firstPosition = (nowMs: number): FeedPosition => ({
  cursor: null,
  recentIds: [],
  lastEventAt: null,
  readAtMs: nowMs,
  needsSweep: false,
});

async function readToTheEnd(start: FeedPosition, reading: Reading): Promise<FeedPosition> {
  let position = await withFreshCursor(start, reading);
  for (;;) {
    const step = await takeStep(position, reading);
    position = step.position;
    if (step.done || reading.ports.clock() >= reading.deadlineMs) return position;
  }
}

/** A position that was not moved for longer than the platform remembers has missed events. */
async function withFreshCursor(start: FeedPosition, { ports }: Reading): Promise<FeedPosition> {
  const isTooOld = ports.clock() - start.readAtMs > LOOK_BACK_MS;
  return isTooOld ? { ...start, cursor: null, lastEventAt: null, needsSweep: true } : start;
}

async function takeStep(
  position: FeedPosition,
  reading: Reading,
): Promise<{ readonly position: FeedPosition; readonly done: boolean }> {
  const pages = await readPages(position, reading);
  if (pages === 'refused') {
    // Events since the last one that was read come again, by date; the ones known by id are not counted twice.
    return { position: { ...position, cursor: null, needsSweep: true }, done: false };
  }
  const { connection, platform, ports, lease, tally } = reading;
  const known = new Set(position.recentIds);
  const fresh = distinct(pages.flatMap(({ events }) => events)).filter(({ id }) => !known.has(id));
  const touched = touchesOf(fresh);
  const { echoes } = await suspectTouched(connection, touched, { platform, ports });
  tally.eventsRead += fresh.length;
  tally.groupsTouched += touched.size;
  tally.echoes += echoes;
  const moved = moveOn(position, pages, ports.clock());
  if (!(await ports.feed.write(connection.name, moved, lease))) {
    throw new Error('another run has taken over the feed: this one was paused for too long');
  }
  return { position: moved, done: pages.at(-1)?.done === true };
}

/** @returns `refused` where the platform does not take the cursor any more */
async function readPages(
  { cursor, lastEventAt }: FeedPosition,
  { platform, ports }: Reading,
): Promise<readonly FeedPage[] | 'refused'> {
  const earliestMs = ports.clock() - LOOK_BACK_MS;
  const sinceMs = Math.max(earliestMs, lastEventAt === null ? earliestMs : Date.parse(lastEventAt));
  const pages: FeedPage[] = [];
  try {
    for await (const page of platform.activity(cursor === null ? { sinceMs } : { cursor })) {
      pages.push(page);
      if (pages.length >= PAGES_PER_STEP) break;
    }
    return pages;
  } catch (error) {
    const isRefused = error instanceof PlatformFailure && error.kind === 'rejected' && cursor !== null;
    // Pages that came before the refusal are recorded first; the next step meets the refusal again.
    if (isRefused) return pages.length > 0 ? pages : 'refused';
    throw error;
  }
}

function moveOn(position: FeedPosition, pages: readonly FeedPage[], nowMs: number): FeedPosition {
  const events = pages.flatMap(({ events: of }) => of);
  const last = pages.at(-1);
  const lastEventAt = events.reduce<string | null>(
    (latest, { at }) =>
      at !== null && (latest === null || Date.parse(at) > Date.parse(latest)) ? at : latest,
    position.lastEventAt,
  );
  const mayRepeat = [
    ...events.filter(({ at }) => at !== null && at === lastEventAt).map(({ id }) => id),
    ...(last?.events ?? []).map(({ id }) => id),
    ...(events.length === 0 || lastEventAt === position.lastEventAt ? position.recentIds : []),
  ];
  return {
    cursor: last?.next ?? position.cursor,
    recentIds: [...new Set(mayRepeat)].slice(0, MAX_RECENT_IDS),
    lastEventAt,
    readAtMs: last?.done === true ? nowMs : position.readAtMs,
    needsSweep: position.needsSweep,
  };
}

/** Two full pages: an item of these stays far below 400 KB. */
const MAX_RECENT_IDS = 2_000;

const distinct = (events: readonly FeedEvent[]): readonly FeedEvent[] => [
  ...new Map(events.map((event) => [event.id, event])).values(),
];

/** Of several hands on one group the person's is named: the others are rather the platform's, or our own. */
const INITIATOR_RANK: Readonly<Record<string, number>> = { ROLE: 3, SYSTEM: 2, EXTERNAL: 1 };

function touchesOf(events: readonly FeedEvent[]): ReadonlyMap<PlatformGroupId, Touch> {
  const touched = new Map<PlatformGroupId, Touch>();
  for (const { id, groups, initiator } of events) {
    for (const group of groups) {
      const known = touched.get(group);
      const isStronger = rank(initiator) >= rank(known?.initiator ?? '');
      touched.set(group, {
        initiator: isStronger ? initiator : (known?.initiator ?? initiator),
        eventIds: [...(known?.eventIds ?? []), id].slice(-MAX_EVENT_IDS),
      });
    }
  }
  return touched;
}

const rank = (initiator: string): number => INITIATOR_RANK[initiator] ?? 0;
const MAX_EVENT_IDS = 100;
