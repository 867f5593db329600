import { type MemberId, memberId } from '../../domain/ids.ts';
import { DirectoryError, type DirectoryUser, type ReaderPosition, type ReportedChange } from '../ports.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { afterReport, afterUserReport, SHOWN_AFTER_MS } from '../rules/schedule.ts';
import { stampTimeOf } from '../rules/stamp.ts';
import { originAt, type ReaderRun, send, stampOf, storeGroup } from './context.ts';
import { userDeletionMessage, userMessages } from './events.ts';
import { keyDigest } from './key-digest.ts';
import { reportAllGroups, takeGroup } from './sync-group.ts';

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

interface Report extends ReportedChange {
  readonly kind: 'group' | 'user';
}

/**
 * Records which groups and users the directory reports as changed. A report only names what to read, so a late or
 * repeated report does no harm. If a report is missing, the daily read finds the change.
 *
 * If the run has no time left, or a call fails, the cursor stays. The next run then receives the same reports again,
 * and records the reports that this run has not recorded. A report that is already recorded costs no call.
 */
export async function takeReports(run: ReaderRun, { cursor, taken = [] }: ReaderPosition) {
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

/**
 * Records the reports one after the other, and removes each recorded report from `left`. `isWhole` is false if a report
 * failed, or if the run had no time left for a report.
 * @throws DirectoryError `denied`, because earlier answers of the directory may then be wrong too
 */
async function takeAll(run: ReaderRun, news: readonly Report[], left: Set<Report>) {
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
 * Records reports until the run has no time left. An error `invalid` about one report does not stop the recording. Other
 * errors do.
 */
async function takeEach(run: ReaderRun, reports: readonly Report[], { left, failures, take }: Taking) {
  for (const report of reports) {
    if (isTimeUp(run)) return;
    try {
      if (await take(run, report)) left.delete(report);
    } catch (error) {
      if (!(error instanceof DirectoryError) || error.kind !== 'invalid') throw error;
      failures.push({ error });
    }
  }
}

const isTimeUp = ({ ports, deadlineMs }: ReaderRun): boolean => ports.clock() >= deadlineMs;

/** Whether the report names the user by an address. Ids contain no `@`. */
const isByAddress = ({ key }: ReportedChange): boolean => key.includes('@');

/**
 * Returns the reports that name a user by id, if the user is not stored. This read of the table saves a call to the
 * directory for each of these users.
 */
async function unknownUsers<Change extends ReportedChange>(
  { connection, ports }: ReaderRun,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const named = changes.filter((change) => !isByAddress(change));
  if (named.length === 0) return [];
  const ids = named.map(({ key }) => memberId(key));
  const known = await ports.users.read(connection.name, ids);
  return named.filter(({ key }) => !known.has(memberId(key)));
}

/**
 * Records the present state of a reported user. If an inactive user is active again, this run reads the user's groups,
 * because they may have changed in the meantime. If the directory's answers may lag, a later run reads the groups of
 * every reported user after the lag.
 * @returns false if the next run must request the user again
 */
async function takeUser(run: ReaderRun, report: ReportedChange): Promise<boolean> {
  if (report.isDeletion) {
    await takeDeletedUser(run, report);
    return true;
  }
  const { key, atMs, found } = report;
  const { directory, users, ports } = run;
  if (directory.lagMs > 0) await confirmGroupsOf(run, memberId(key));
  const askedAtMs = found?.asOfMs ?? ports.clock();
  const user = found?.user ?? (await directory.user(key));
  if (user === undefined || !(await isKnownUser(run, user))) return true;
  const comesBack = users.comesBack(user);
  await sendUser(run, user, askedAtMs);
  if (comesBack) await markGroupsOf(run, user.id, atMs);
  return directory.lagMs > 0 || askedAtMs - atMs >= SHOWN_AFTER_MS;
}

/**
 * Records the state of a user whose deletion is reported by id. While the directory can restore the user, the user is
 * inactive. After that, the user leaves all groups. If the directory still shows the user, its answer is recorded, but
 * may be outdated. In each case, the user's groups are read.
 */
async function takeDeletedUser(run: ReaderRun, { key, atMs, isFinal }: ReportedChange): Promise<void> {
  const { directory, ports, users } = run;
  const id = memberId(key);
  await users.read([id]);
  const askedAtMs = ports.clock();
  const user = await directory.user(key);
  if (user === undefined && isFinal === true) {
    await send(run, [userDeletionMessage(id, originAt(run, stampTimeOf(askedAtMs, undefined)))]);
  } else {
    await sendUser(run, user ?? { id, attributes: new Map(), isActive: false }, askedAtMs);
  }
  await markGroupsOf(run, id, atMs);
}

/**
 * Records the state of users whose deletion is reported by address. The memberships end with the user, but the
 * directory does not report their end. So the user becomes inactive, and the user's groups are read again. One list of
 * deleted users is enough for all reports of a run.
 * @returns the reports whose user is in this list. A later run handles the other reports
 */
async function takeDeletedUsers<Change extends ReportedChange>(run: ReaderRun, changes: readonly Change[]) {
  if (changes.length === 0) return [];
  const found = new Set<Change>();
  const byKey = new Map(changes.map((change) => [change.key.toLowerCase(), change]));
  for (const { user, asOfMs } of await deletedUsersOf(run)) {
    const address = user.attributes.get('email') ?? '';
    const change = byKey.get(user.id) ?? byKey.get(address.toLowerCase());
    if (change === undefined) continue;
    found.add(change);
    if (!(await isKnownUser(run, user))) continue;
    await sendUser(run, user, asOfMs);
    await markGroupsOf(run, user.id, change.atMs);
  }
  return [...found];
}

/**
 * Returns the deleted users that the directory lists. If a call fails, the result has only the users of earlier pages.
 * For example, the reader may lack the right to this list. The daily read also ends the memberships.
 */
async function deletedUsersOf({ directory }: ReaderRun) {
  const found: { readonly user: DirectoryUser; readonly asOfMs: number }[] = [];
  try {
    for await (const { items, asOfMs } of directory.deletedUsers?.() ?? []) {
      for (const user of items) found.push({ user, asOfMs });
    }
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error;
  }
  return found;
}

/** Returns whether the user is stored. The reader stores only users of selected groups. */
async function isKnownUser({ connection, ports, users }: ReaderRun, { id }: DirectoryUser): Promise<boolean> {
  const states = await ports.users.read(connection.name, [id]);
  if (!states.has(id)) return false;
  await users.read([id]);
  return true;
}

/** Sends the user's attributes if they differ from the stored attributes. */
async function sendUser(run: ReaderRun, user: DirectoryUser, asOfMs: number): Promise<void> {
  const origin = originAt(run, stampTimeOf(asOfMs, undefined));
  const stamp = stampOf(origin);
  if (!run.users.isNews(user, stamp)) return;
  await send(run, userMessages([user], origin));
  run.users.noteSent(user, stamp);
}

const markGroupsOf = (run: ReaderRun, id: MemberId, atMs: number): Promise<void> =>
  changeGroupsOf(run, id, (known) => afterReport(known, atMs, run.ports.clock()));

/** Makes a later run read the user's groups again after the lag. */
const confirmGroupsOf = (run: ReaderRun, id: MemberId): Promise<void> =>
  changeGroupsOf(run, id, (known) => afterUserReport(known, run.ports.clock(), run.directory.lagMs));

async function changeGroupsOf(run: ReaderRun, id: MemberId, change: (known: ReaderGroup) => ReaderGroup) {
  for await (const groups of run.ports.users.groupsOf(run.connection.name, id)) {
    for (const group of groups) {
      const known = run.groups.get(group);
      if (known !== undefined) await storeGroup(run, change(known));
    }
  }
}

/** Marks all groups that were last read before `atMs` as reported. Their lists show all users of the reader. */
async function readGroupsOfAllUsers(run: ReaderRun, atMs: number): Promise<void> {
  const nowMs = run.ports.clock();
  for (const group of run.groups.values()) {
    const isBefore = (group.readMs ?? 0) < atMs;
    if (isBefore) await storeGroup(run, afterReport(group, atMs, nowMs));
  }
}
