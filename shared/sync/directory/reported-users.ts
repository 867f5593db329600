import { type MemberId, memberId } from '../../domain/ids.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import { afterReport, afterUserReport, SHOWN_AFTER_MS } from '../../plan/directory/schedule.ts';
import { stampTimeOf } from '../../plan/directory/stamp.ts';
import { type DirectoryChange, DirectoryError, type DirectoryUser } from '../ports/directory.ts';
import { originAt, type ReaderRun, send, stampOf, storeGroup } from './context.ts';
import { userDeletionMessage, userMessages } from './events.ts';

/** Whether the report names the user by an address. Ids contain no `@`. */
export const isByAddress = ({ key }: DirectoryChange): boolean => key.includes('@');

/**
 * Returns the reports of users that groupsync does not have. One read of the table saves a call to the directory for
 * each of them.
 */
export async function unknownUsers<Change extends DirectoryChange>(
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
 * Records the present state of a reported user. If an inactive user is active again, the user's groups are read again,
 * because they may have changed meanwhile. If answers may lag, they are also read again after the lag.
 * @returns false if the next run must request the user again
 */
export async function takeUser(run: ReaderRun, report: DirectoryChange): Promise<boolean> {
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
 * Records the state of a user whose deletion is reported by id. While the user can be restored, the user is inactive;
 * after that, the user leaves all groups. If the directory still shows the user, its answer may be outdated, so the
 * user's groups are read.
 */
async function takeDeletedUser(run: ReaderRun, { key, atMs, isFinal }: DirectoryChange): Promise<void> {
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
 * Records the state of users whose deletion is reported by address. The memberships end with the user, but no log
 * reports their end. So the user becomes inactive, and the user's groups are read again. One list of deleted users is
 * enough for all users of a run.
 * @returns the reports of users that the directory lists as deleted. A later run handles the other reports
 */
export async function takeDeletedUsers<Change extends DirectoryChange>(
  run: ReaderRun,
  changes: readonly Change[],
): Promise<readonly Change[]> {
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
 * Returns the deleted users, or none if the directory does not list them. The administrator's account may have no right
 * to this list. An error does not stop the run, because the daily read ends the memberships too.
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

/** Returns whether groupsync has the user. Only users of selected groups are stored. */
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

/** Lets the user's groups be read again after the lag. */
const confirmGroupsOf = (run: ReaderRun, id: MemberId): Promise<void> =>
  changeGroupsOf(run, id, (known) => afterUserReport(known, run.ports.clock(), run.directory.lagMs));

async function changeGroupsOf(
  run: ReaderRun,
  id: MemberId,
  change: (known: ReaderGroup) => ReaderGroup,
): Promise<void> {
  for await (const groups of run.ports.users.groupsOf(run.connection.name, id)) {
    for (const group of groups) {
      const known = run.groups.get(group);
      if (known !== undefined) await storeGroup(run, change(known));
    }
  }
}

/**
 * Marks all groups that were last read before `atMs` as reported. Their lists of members also show the addresses and
 * states of the users.
 */
export async function readGroupsOfAllUsers(run: ReaderRun, atMs: number): Promise<void> {
  const nowMs = run.ports.clock();
  for (const group of run.groups.values()) {
    const isBefore = (group.readMs ?? 0) < atMs;
    if (isBefore) await storeGroup(run, afterReport(group, atMs, nowMs));
  }
}
