import { type DirectoryChange, DirectoryError, type ReaderPosition } from '../ports/directory.ts';
import type { ReaderRun } from './context.ts';
import { keyDigest } from './key-digest.ts';
import { reportAllGroups, takeGroup } from './reported-groups.ts';
import {
  isByAddress,
  readGroupsOfAllUsers,
  takeDeletedUsers,
  takeUser,
  unknownUsers,
} from './reported-users.ts';

/**
 * The maximum number of remembered reports. This limit keeps the item of the reports below 400 KB, the limit of
 * DynamoDB.
 */
const MAX_TAKEN = 8_000;
/** If more reports than this would each need a request for a user, the run reads all groups instead. */
const MAX_USERS = 1_000;

export interface TakenReports {
  /** The position for the next run. If a report failed or the run had no time left, the cursor does not change. */
  readonly position: ReaderPosition;
  /** Whether the directory no longer knows the cursor. All groups then count as reported. */
  readonly isReset: boolean;
  /** The error of the first failed call; undefined if no call failed. */
  readonly failure: Failure | undefined;
}

interface Failure {
  readonly error: unknown;
}

interface Report extends DirectoryChange {
  readonly kind: 'group' | 'user';
}

/**
 * Records which groups and users the directory reports as changed. A report only names what to read, so a late or
 * repeated report does no harm. If a report is missing, the daily read finds the change.
 *
 * If the run has no time left, or a call fails, the cursor stays. The next run then receives the same reports again,
 * and records the reports that this run has not recorded. A report that is already recorded costs no call.
 */
export async function takeReports(
  run: ReaderRun,
  { cursor, taken = [] }: ReaderPosition,
): Promise<TakenReports> {
  const changes = await run.directory.changesSince(cursor);
  const { isReset = false } = changes;
  if (isReset) await reportAllGroups(run);
  const all: readonly Report[] = [
    ...changes.groups.map((change) => ({ ...change, kind: 'group' as const })),
    ...changes.users.map((change) => ({ ...change, kind: 'user' as const })),
  ];
  // The oldest report comes first, so that the deletion of a group is recorded before a new group with the same
  // address.
  const reports = all.toSorted((a, b) => a.atMs - b.atMs || Number(b.isDeletion) - Number(a.isDeletion));
  const known = new Map(taken.map(({ key, atMs }) => [key, atMs]));
  const news = reports.filter((report) => report.atMs > (known.get(digestOf(report)) ?? 0));
  const left = new Set(news);
  const { isWhole, failure } = await takeAll(run, news, left);
  run.report.reported += news.length - left.size;
  const recorded = reports
    .filter((report) => !left.has(report))
    .map((report) => ({ key: digestOf(report), atMs: report.atMs }))
    .toSorted((a, b) => b.atMs - a.atMs);
  const position = { cursor: isWhole ? changes.cursor : cursor, taken: recorded.slice(0, MAX_TAKEN) };
  return { position, isReset, failure };
}

const digestOf = ({ kind, key, isDeletion }: Report): string =>
  keyDigest(`${kind} ${isDeletion ? 'deletion ' : ''}${key}`);

interface Recording {
  /** False if a report failed, or if the run had no time left for a report. */
  readonly isWhole: boolean;
  readonly failure: TakenReports['failure'];
}

/**
 * Records the reports one after the other, and removes each recorded report from `left`.
 * @throws DirectoryError `denied`, because earlier answers of the directory may then be wrong too
 */
async function takeAll(run: ReaderRun, news: readonly Report[], left: Set<Report>): Promise<Recording> {
  const isGroup = ({ kind }: Report) => kind === 'group';
  const isListed = (report: Report) => report.isDeletion && isByAddress(report);
  const failures: Failure[] = [];
  const ofUsers = news.filter((report) => !isGroup(report));
  try {
    await takeEach(run, news.filter(isGroup), { left, failures, take: takeGroup });
    for (const report of await unknownUsers(run, ofUsers)) left.delete(report);
    const users = ofUsers.filter((one) => left.has(one) && !isListed(one));
    if (users.filter(({ found }) => found === undefined).length > MAX_USERS) {
      await readGroupsOfAllUsers(run, Math.max(...users.map(({ atMs }) => atMs)));
      for (const report of users) left.delete(report);
    } else {
      await takeEach(run, users, { left, failures, take: takeUser });
    }
    if (left.size > 0 && isTimeUp(run)) return { isWhole: false, failure: failures[0] };
    const listed = ofUsers.filter((one) => left.has(one) && isListed(one));
    for (const report of await takeDeletedUsers(run, listed)) left.delete(report);
    return { isWhole: failures.length === 0, failure: failures[0] };
  } catch (error) {
    if (error instanceof DirectoryError && error.kind === 'denied') throw error;
    return { isWhole: false, failure: { error } };
  }
}

interface Taking {
  readonly left: Set<Report>;
  readonly failures: Failure[];
  /** Returns false if the next run must take the report again. */
  readonly take: (run: ReaderRun, report: Report) => Promise<boolean>;
}

/**
 * Records reports until the run has no time left. An error `odd` about one report does not stop the recording. Other
 * errors do.
 */
async function takeEach(
  run: ReaderRun,
  reports: readonly Report[],
  { left, failures, take }: Taking,
): Promise<void> {
  for (const report of reports) {
    if (isTimeUp(run)) return;
    try {
      if (await take(run, report)) left.delete(report);
    } catch (error) {
      if (!(error instanceof DirectoryError) || error.kind !== 'odd') throw error;
      failures.push({ error });
    }
  }
}

const isTimeUp = ({ ports, deadlineMs }: ReaderRun): boolean => ports.clock() >= deadlineMs;
