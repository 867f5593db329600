import { groupsOfDirectory } from '../../contract/directory-settings.ts';
import { namedAttributes } from '../../contract/settings.ts';
import { defined } from '../../domain/defined.ts';
import { once } from '../../domain/once.ts';
import { readerHealthOf } from '../../domain/source.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { Lease } from '../../sync/ports/reconcile.ts';
import { mapConcurrently } from '../../sync/tuning.ts';
import { underLease } from '../../sync/under-lease.ts';
import { DirectoryError, type ReaderPosition } from '../ports.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { afterFailure, asksFacts, flipOf, isShortForLong, isUnreadable } from '../rules/schedule.ts';
import type { DirectoryRunReport, ReaderPorts, ReaderRun } from './context.ts';
import { createKnownUsers, LeaseEndedError, newReport, noteAnswer, othersOf, storeGroup } from './context.ts';
import { endMissing, ListingError, takeListing } from './listing.ts';
import { createMemberQuestions } from './member-questions.ts';
import { endYields } from './other-source.ts';
import { type TakenReports, takeReports } from './reports.ts';
import { syncGroup, takePushed } from './sync-group.ts';

/** A run lists all groups if the last list is older than this. So it finds new and missing groups without a report. */
const LISTED_EVERY_MS = 3_600_000;
/** The number of concurrent reads of groups. It makes about 1,200 calls a minute, half of Google's limit. */
const READ_AT_ONCE = 8;

/**
 * After the deadline, the run has this time to finish the groups that it has begun to read. The function reserves two
 * minutes, more than this time and the time limit of one call (30 s).
 */
const FINISH_MS = 60_000;

export interface ReadingOptions {
  /** The time in milliseconds since 1970 after which the run begins to read no further group. */
  readonly deadlineMs: number;
  /** Whether to read all groups, even groups that are not due. The next runs read the groups that are left. */
  readonly isFull?: boolean;
  /** Whether an operator has confirmed that the missing groups are deleted. */
  readonly acceptsDeletions?: boolean;
}

/**
 * Reads the directory of a connection and sends the differences from the desired state.
 *
 *     lease, block writes of earlier runs ──▶ record what the directory reports ──▶ move the cursor
 *       ──▶ list the groups (hourly, or if this saves calls) ──▶ read groups that are due
 *
 * The item of each group stores when it is due. So if a run ends early, the next run continues.
 * @returns undefined while another run reads the directory
 * @throws DirectoryError `denied`, or ListingError. The run stops, because further answers may look empty too
 * @throws DirectoryError of another kind if the changes or the list could not be read. Before this error, except for
 * `busy`, the run has read the due groups
 */
export async function readDirectory(
  connection: Connection,
  ports: ReaderPorts,
  options: ReadingOptions,
): Promise<DirectoryRunReport | undefined> {
  const { everyMinutes } = ports;
  const task = { connection: connection.name, task: 'directory', everyMinutes } as const;
  return underLease(task, ports, (lease) =>
    noteHealth(connection, ports, () => readWithLease(connection, ports, { ...options, lease })),
  );
}

/** Begins a run. A run that began before the directory was replaced may have stored its groups and cursor since. */
async function beginRun({ name, settings }: Connection, reader: ReaderPorts['reader'], lease: Lease) {
  const begun = await reader.begin(name, lease);
  if (begun === undefined || begun.position?.directory === groupsOfDirectory(settings.directory))
    return begun;
  await reader.forget(name);
  return reader.begin(name, lease);
}

async function readWithLease(
  connection: Connection,
  ports: ReaderPorts,
  { lease, deadlineMs, isFull = false, acceptsDeletions = false }: ReadingOptions & { readonly lease: Lease },
): Promise<ReaderRun | undefined> {
  const begun = await beginRun(connection, ports.reader, lease);
  if (begun === undefined) return undefined;
  const known = await ports.reader.groups(connection.name);
  const { settings } = connection;
  const { include, exclude } = settings.groups;
  const scope = JSON.stringify([namedAttributes(settings), include, exclude, settings.nested]);
  const isOther = begun.position !== undefined && begun.position.scope !== scope;
  // A cursor may cover only the attributes for which it was taken.
  const position = isOther ? undefined : begun.position;
  // The time of a read comes from an HTTP header, which has a precision of a second.
  const sinceMs = later(position?.fullMs, connection.restoredAtMs);
  const fullMs = isFull || isOther ? Math.floor(ports.clock() / 1_000) * 1_000 : sinceMs;
  const directory = await ports.directories.open(connection, deadlineMs + FINISH_MS);
  const run: ReaderRun = {
    connection,
    ports,
    lease,
    deadlineMs,
    fullMs,
    scope,
    acceptsDeletions,
    directory,
    questions: createMemberQuestions(directory),
    users: createKnownUsers(connection.name, ports.users, directory.lagMs),
    others: once(() => othersOf(connection.name, ports)),
    listed: new Map(),
    groups: new Map(known.map((group) => [group.group, dueIfOlder(group, fullMs)])),
    report: newReport(connection.name),
  };
  const isListed = isFull || acceptsDeletions;
  const failure = await tryFindChanges(isListed ? withListDue(position) : position, run);
  await readDue(run);
  await endYields(run);
  if (failure !== undefined) throw failure.error;
  return run;
}

/**
 * Stores the facts about a run that people must know: whether the reader stopped, and the number of groups that it
 * cannot read completely. The function reads the table once, and writes only if a fact has changed.
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
    const nowMs = ports.clock();
    const isIncomplete = (group: ReaderGroup) => isShortForLong(group) || isUnreadable(group, nowMs);
    const shortGroups = [...run.groups.values()].filter(isIncomplete).length;
    const flips = flipsOf(run, nowMs);
    const known = [before.stopped === undefined, before.shortGroups ?? 0, before.flips ?? []];
    const health = { ...(shortGroups > 0 && { shortGroups }), ...(flips.length > 0 && { flips }) };
    if (String(known) !== String([true, shortGroups, flips])) await ports.sources.noteReader(name, health);
    return run.report;
  } catch (error) {
    if (isStop(error) && before.stopped?.reason !== error.message) {
      const sinceMs = before.stopped?.sinceMs ?? ports.clock();
      await ports.sources.noteReader(name, { ...before, stopped: { sinceMs, reason: error.message } });
    }
    throw error;
  }
}

const MAX_FLIPS = 5;

function flipsOf({ groups }: ReaderRun, nowMs: number): readonly string[] {
  const all = [...groups.values()].flatMap((group) => {
    const times = flipOf(group, nowMs)?.map((ms) => new Date(ms).toISOString());
    return times === undefined ? [] : [`${group.group} (${times.join(', ')})`];
  });
  return all.slice(0, MAX_FLIPS);
}

/** Returns whether this error means that every answer of the directory may look empty. */
const isStop = (error: unknown): error is Error =>
  error instanceof ListingError || (error instanceof DirectoryError && error.kind === 'denied');

const later = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

/** Returns the group. The group is due now if it was last read before `fullMs` and its last read did not fail. */
function dueIfOlder(group: ReaderGroup, fullMs: number | undefined): ReaderGroup {
  const { readMs = 0, failingMs, missingMs, dueMs } = group;
  const isOlder = fullMs !== undefined && readMs < fullMs;
  const keepsTime = failingMs !== undefined || missingMs !== undefined;
  return isOlder && !keepsTime ? { ...group, dueMs: Math.min(dueMs, fullMs) } : group;
}

/** Returns the position without the time of the last listing, so that this run lists the groups. */
const withListDue = (position: ReaderPosition | undefined): ReaderPosition | undefined =>
  position && { ...position, listedMs: 0 };

/**
 * Finds changed groups.
 * @returns the error of a failed call. The run continues after this error, because a report or page that fails in each
 * run must not stop the reads of groups
 * @throws an error that must end the run
 */
async function tryFindChanges(position: ReaderPosition | undefined, run: ReaderRun) {
  try {
    await findChanges(position, run);
    return undefined;
  } catch (error) {
    if (endsRun(error)) throw error;
    return { error };
  }
}

const endsRun = (error: unknown): boolean =>
  !(error instanceof DirectoryError) || error.kind === 'denied' || error.kind === 'busy';

/**
 * Finds changed groups. The first cursor is taken before the first listing. A cursor is stored only after all reports
 * before it are recorded, except reports that the next run receives again. If a call fails, the progress is stored
 * before the error is thrown.
 */
async function findChanges(position: ReaderPosition | undefined, run: ReaderRun): Promise<void> {
  const nowMs = run.ports.clock();
  await takePushed(run);
  const taken = await reportsOf(position, run);
  const { failure } = taken;
  // If the listing fails, the next run lists the groups.
  await writePosition(run, taken.position, taken.isReset ? undefined : position?.listedMs);
  if (failure !== undefined && endsRun(failure.error)) throw failure.error;
  const isOld = nowMs - (position?.listedMs ?? 0) >= LISTED_EVERY_MS;
  if (taken.isReset || isOld || isListingCheaper(run)) {
    await takeListing(run, !position?.listedMs);
    await writePosition(run, taken.position, nowMs);
  }
  if (failure !== undefined) throw failure.error;
  await noteAnswer(run);
}

/** Records the reported changes. If the changes cannot be read, and the run can continue, the result has the error. */
async function reportsOf(position: ReaderPosition | undefined, run: ReaderRun): Promise<TakenReports> {
  const unread = { isReset: false, failure: undefined };
  if (position === undefined) {
    return { ...unread, position: { cursor: await run.directory.cursorAt(run.ports.clock()) } };
  }
  try {
    return await takeReports(run, position);
  } catch (error) {
    if (endsRun(error)) throw error;
    return { ...unread, position, failure: { error } };
  }
}

async function writePosition(
  { ports, connection, lease, fullMs, scope }: ReaderRun,
  position: ReaderPosition,
  listedMs: number | undefined,
): Promise<void> {
  const directory = groupsOfDirectory(connection.settings.directory);
  const next = { ...position, ...defined({ listedMs, fullMs }), scope, directory };
  if (!(await ports.reader.write(connection.name, next, lease))) throw new LeaseEndedError();
}

/**
 * Returns the expected number of requests for a group's name and number of members. After a change of members, a
 * request is needed only if a member has left, so about every second time.
 */
function expectedQuestions(group: ReaderGroup): number {
  if (asksFacts(group)) return 1;
  return isReported(group) ? 0.5 : 0;
}

/** The smallest page of a list of groups. One page replaces one extra call for each group that it shows. */
const LISTED_AT_ONCE = 200;

function isListingCheaper({ groups, ports }: ReaderRun): boolean {
  const nowMs = ports.clock();
  const due = [...groups.values()].filter(({ dueMs }) => dueMs <= nowMs);
  const calls = due.reduce((sum, group) => sum + expectedQuestions(group), 0);
  return calls > groups.size / LISTED_AT_ONCE + 1;
}

/** Reads the groups that are due, in the order of `byUrgency`, and then decides about missing groups. */
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
    // The run waits for the groups that it has begun to read. Otherwise their reads would continue after the end of the
    // run.
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

/**
 * Sorts groups with reported changes first, then by due time. A group whose last read failed has no priority, because
 * its read may take long and fail again.
 */
const byUrgency = (a: ReaderGroup, b: ReaderGroup): number =>
  Number(isUrgent(b)) - Number(isUrgent(a)) || a.dueMs - b.dueMs;

const isUrgent = (group: ReaderGroup): boolean => isReported(group) && group.failingMs === undefined;

const isReported = ({ reportedMs = 0, readMs = 0 }: ReaderGroup): boolean => reportedMs > readMs;

/** Reads one group. After an error `unavailable`, `missing` or `invalid`, the run still reads the other groups. */
async function readOne(known: ReaderGroup, run: ReaderRun): Promise<'done' | 'missing' | 'busy'> {
  try {
    return (await syncGroup(known, run)) ? 'done' : 'missing';
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.kind === 'denied') throw error;
    if (error.kind === 'busy') return 'busy';
    // The group may have been deleted between two calls, or the answer was missing or not as expected. The next due
    // read requests the group again by its id.
    run.report.failed += 1;
    await storeGroup(run, afterFailure(known, error.message, run.ports.clock()));
    return 'done';
  }
}

async function canReadAny({ groups, directory }: ReaderRun, missing: readonly ReaderGroup[]) {
  const other = [...groups.keys()].find((id) => !missing.some(({ group }) => group === id));
  return other !== undefined && (await directory.group(other)) !== undefined;
}
