import type { ReaderGroup } from '../../domain/reader-group.ts';
import { type ReaderHealth, readerHealthOf } from '../../domain/source.ts';
import { afterFailure, isShortForLong, isUnreadable } from '../../plan/directory/schedule.ts';
import { mapConcurrently } from '../async-collections.ts';
import type { Connection } from '../ports/connections.ts';
import { DirectoryError, type ReaderPosition } from '../ports/directory.ts';
import type { Lease } from '../ports/reconcile.ts';
import type { DirectoryRunReport, ReaderPorts, ReaderRun } from './context.ts';
import { LeaseLostError, noteAnswer, othersOf, storeGroup } from './context.ts';
import { endMissing, ListingError, takeListing } from './listing.ts';
import { takePushed, takeReports } from './reports.ts';
import { createKnownUsers } from './stored.ts';
import { syncGroup } from './sync-group.ts';

/** How long another run must wait for one that died; longer than a function lives (15 minutes). */
const LEASE_MS = 16 * 60_000;
/** New groups are found, and missing ones noticed, within this time even if no report names them. */
const LISTED_EVERY_MS = 3_600_000;
/** Groups that are read together: some hundred calls a minute, far below every limit. */
const READ_AT_ONCE = 4;

export interface ReadingOptions {
  /** Milliseconds since 1970 after which no group is begun. */
  readonly deadlineMs: number;
  /** Every group is read, due or not. What is left when the time is up is read in the next runs. */
  readonly isFull?: boolean;
  /** An operator has looked at the missing groups: they are deleted, however many they are. */
  readonly acceptsDeletions?: boolean;
}

/**
 * Reads the directory of a connection and sends what differs from desired state.
 *
 *     lease, fence ──▶ record what the directory reports ──▶ list the groups (hourly) ──▶ move the cursor ──▶ read groups that are due
 *
 * What is due is stored with each group. So a first load, and every other long read, goes on in the next run.
 * @returns undefined while another run reads the directory
 * @throws DirectoryError `denied`, ListingError: nothing more is read, because answers may look empty
 */
export async function readDirectory(
  connection: Connection,
  ports: ReaderPorts,
  { deadlineMs, isFull = false, acceptsDeletions = false }: ReadingOptions,
): Promise<DirectoryRunReport | undefined> {
  const span = { nowMs: ports.clock(), lengthMs: LEASE_MS };
  const lease = await ports.leases.take(connection.name, 'directory', span);
  if (lease === undefined) return undefined;
  try {
    return await noteHealth(connection, ports, () =>
      readWithLease(connection, ports, { lease, deadlineMs, isFull, acceptsDeletions }),
    );
  } finally {
    await ports.leases.release(connection.name, lease);
  }
}

interface LeasedReading extends ReadingOptions {
  readonly lease: Lease;
}

async function readWithLease(
  connection: Connection,
  ports: ReaderPorts,
  { lease, deadlineMs, isFull = false, acceptsDeletions = false }: LeasedReading,
): Promise<ReaderRun | undefined> {
  const begun = await ports.reader.begin(connection.name, lease);
  if (begun === undefined) return undefined;
  const known = await ports.reader.groups(connection.name);
  const run: ReaderRun = {
    connection,
    ports,
    lease,
    deadlineMs,
    acceptsDeletions,
    directory: await ports.directories.open(connection),
    users: createKnownUsers(connection.name, ports.users),
    others: othersOf(connection, ports),
    listed: new Map(),
    groups: new Map(known.map((group) => [group.group, group])),
    report: {
      connection: connection.name,
      groups: 0,
      reported: 0,
      read: 0,
      sent: 0,
      failed: 0,
      waiting: 0,
      unreadable: [],
    },
  };
  if (isFull) await markAllDue(run);
  const isListed = isFull || acceptsDeletions;
  await findChanges(isListed ? unlisted(begun.position) : begun.position, run);
  await readDue(run);
  return run;
}

/**
 * Stores what alarms need to know of a run: that the reader stops, and of how many groups lists are short. It is one read of
 * the table, and a write only when that changes.
 */
async function noteHealth(
  { name }: Connection,
  ports: ReaderPorts,
  read: () => Promise<ReaderRun | undefined>,
): Promise<DirectoryRunReport | undefined> {
  const before = readerHealthOf(await ports.sources.read(name));
  try {
    const run = await read();
    if (run === undefined) return undefined;
    const shortGroups = [...run.groups.values()].filter(isShortForLong).length;
    if (before.stopped !== undefined || (before.shortGroups ?? 0) !== shortGroups) {
      await ports.sources.noteReader(name, shortGroups === 0 ? {} : { shortGroups });
    }
    return run.report;
  } catch (error) {
    if (isStop(error) && before.stopped?.reason !== error.message) {
      await ports.sources.noteReader(name, stoppedBy(error.message, before, ports.clock()));
    }
    throw error;
  }
}

/** Errors after which every answer of the directory may look empty. */
const isStop = (error: unknown): error is Error =>
  error instanceof ListingError || (error instanceof DirectoryError && error.kind === 'denied');

const stoppedBy = (reason: string, before: ReaderHealth, nowMs: number): ReaderHealth => ({
  ...(before.shortGroups !== undefined && { shortGroups: before.shortGroups }),
  stopped: { sinceMs: before.stopped?.sinceMs ?? nowMs, reason },
});

async function markAllDue(run: ReaderRun): Promise<void> {
  const nowMs = run.ports.clock();
  for (const group of run.groups.values()) {
    if (group.dueMs > nowMs) await storeGroup(run, { ...group, dueMs: nowMs });
  }
}

/** Has the groups listed in this run. */
const unlisted = (position: ReaderPosition | undefined): ReaderPosition | undefined =>
  position && { ...position, listedMs: 0 };

/** The cursor is taken before the first listing, and moves after everything before it is stored. */
async function findChanges(position: ReaderPosition | undefined, run: ReaderRun): Promise<void> {
  const { directory, ports, connection, lease } = run;
  const nowMs = ports.clock();
  await takePushed(run);
  const reported =
    position === undefined ? { cursor: directory.cursorAt(nowMs) } : await takeReports(run, position);
  const isListingDue = nowMs - (position?.listedMs ?? 0) >= LISTED_EVERY_MS || isListingCheaper(run);
  if (isListingDue) await takeListing(run);
  const listedMs = isListingDue ? nowMs : position?.listedMs;
  const next = { ...reported, ...(listedMs !== undefined && { listedMs }) };
  if (!(await ports.reader.write(connection.name, next, lease))) {
    throw new LeaseLostError('another run reads the directory: this one was paused for too long');
  }
  await noteAnswer(run);
}

/** A page of the list shows 200 groups with their names and counts. Each group that it does not show costs a call. */
const LISTED_AT_ONCE = 200;

function isListingCheaper({ groups, ports }: ReaderRun): boolean {
  const nowMs = ports.clock();
  const due = [...groups.values()].filter(({ dueMs }) => dueMs <= nowMs);
  return due.length > groups.size / LISTED_AT_ONCE + 1;
}

/** Groups that are due, longest first. Reported changes are due at once, so they come before the rolling read. */
async function readDue(run: ReaderRun): Promise<void> {
  const { ports, report, groups } = run;
  const nowMs = ports.clock();
  const due = [...groups.values()].filter(({ dueMs }) => dueMs <= nowMs).sort(byUrgency);
  const missing: ReaderGroup[] = [];
  let isStopped = false;
  let failure: { readonly error: unknown } | undefined;
  const outcomes = await mapConcurrently(READ_AT_ONCE, due, async (group) => {
    if (isStopped || ports.clock() >= run.deadlineMs) return 'waiting';
    const outcome = await readOne(group, run).catch((error: unknown) => {
      failure ??= { error };
      return 'busy' as const;
    });
    // The others end what they have begun: a run leaves nothing behind that goes on.
    if (outcome === 'busy') isStopped = true;
    if (outcome === 'missing') missing.push(group);
    return outcome;
  });
  if (failure !== undefined) throw failure.error;
  const isAnotherReadable = missing.length > 0 && (report.read > 0 || (await canReadAny(run, missing)));
  await endMissing(run, missing, isAnotherReadable);
  report.groups = groups.size;
  const unreadable = [...groups.values()].filter((group) => isUnreadable(group, ports.clock()));
  report.unreadable = unreadable.map(({ group }) => group);
  report.waiting = outcomes.filter((outcome) => outcome === 'waiting' || outcome === 'busy').length;
}

/** Reported groups first, then by the time at which they were due. */
const byUrgency = (a: ReaderGroup, b: ReaderGroup): number =>
  Number(isReported(b)) - Number(isReported(a)) || a.dueMs - b.dueMs;

const isReported = ({ reportedMs = 0, readMs = 0 }: ReaderGroup): boolean => reportedMs > readMs;

/** One group that cannot be read keeps no other from being read. */
async function readOne(known: ReaderGroup, run: ReaderRun): Promise<'done' | 'missing' | 'busy'> {
  try {
    return (await syncGroup(known, run)) ? 'done' : 'missing';
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.kind === 'denied') throw error;
    if (error.kind === 'busy') return 'busy';
    // Deleted between two calls: the next run asks for it by its id.
    run.report.failed += 1;
    await storeGroup(run, afterFailure(known, error.message, run.ports.clock()));
    return 'done';
  }
}

async function canReadAny(
  { groups, directory }: ReaderRun,
  missing: readonly ReaderGroup[],
): Promise<boolean> {
  const other = [...groups.keys()].find((id) => !missing.some(({ group }) => group === id));
  return other !== undefined && (await directory.group(other)) !== undefined;
}
