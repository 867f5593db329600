import { createHash } from 'node:crypto';
import { policyFor } from '../../contract/group-policy.ts';
import type { GroupId } from '../../domain/ids.ts';
import { afterReport } from '../../plan/directory/schedule.ts';
import { stampTimeOf } from '../../plan/directory/stamp.ts';
import {
  type DirectoryChange,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryUser,
  type ReaderPosition,
} from '../ports/directory.ts';
import { addGroup, originAt, type ReaderRun, send, stampOf, storeGroup } from './context.ts';
import { userMessages } from './events.ts';

/** The maximum number of remembered reports. Their item then stays far below 400 KB, the limit of DynamoDB. */
const MAX_TAKEN = 2_000;

/**
 * Records which groups the directory reports as changed. A report only names a group to read, so a late or repeated
 * report does no harm. If a report is missing, the daily read finds the change. A report that an earlier run recorded
 * costs no call.
 * @returns the position for the next run
 */
export async function takeReports(
  run: ReaderRun,
  { cursor, taken = [] }: ReaderPosition,
): Promise<ReaderPosition> {
  const changes = await run.directory.changesSince(cursor);
  const known = new Map(taken.map(({ key, atMs }) => [key, atMs]));
  const isNews = (kind: Kind) => (change: DirectoryChange) =>
    change.atMs > (known.get(digestOf(kind, change.key)) ?? 0);
  const groups = changes.groups.filter(isNews('group'));
  const users = changes.users.filter(isNews('user'));
  for (const change of groups) await takeGroup(run, change);
  for (const change of users.filter(({ isDeletion }) => !isDeletion)) await takeUser(run, change);
  const open = await takeDeletedUsers(
    run,
    users.filter(({ isDeletion }) => isDeletion),
  );
  run.report.reported += groups.length + users.length;
  const reported = [
    ...changes.groups.map(({ key, atMs }) => ({ key: digestOf('group', key), atMs })),
    ...changes.users
      .filter((change) => !open.has(change))
      .map(({ key, atMs }) => ({ key: digestOf('user', key), atMs })),
  ];
  return { cursor: changes.cursor, taken: reported.toSorted((a, b) => b.atMs - a.atMs).slice(0, MAX_TAKEN) };
}

type Kind = 'group' | 'user';

/** Hashes the key of a report. A key can be a person's address, and addresses are stored only with the person. */
const digestOf = (kind: Kind, key: string): string =>
  createHash('sha256').update(`${kind} ${key}`).digest('base64url').slice(0, 16);

export const isSelected = ({ connection }: ReaderRun, { id, name }: DirectoryGroup): boolean =>
  !policyFor(connection.settings, id, name).excluded;

async function takeGroup(run: ReaderRun, { key, atMs, isDeletion }: DirectoryChange): Promise<void> {
  const nowMs = run.ports.clock();
  const known = [...run.groups.values()].find(({ group, address }) => group === key || address === key);
  if (known !== undefined) {
    const reported = afterReport(known, atMs, nowMs);
    const isNews = reported !== known;
    // A newer change by another source does not cancel the reported deletion.
    const isDeleted = isDeletion && atMs > (known.readMs ?? 0);
    await storeGroup(run, isDeleted ? { ...reported, deletedMs: atMs, dueMs: nowMs } : reported);
    if (isNews) await markAbove(run, known.group, atMs);
    return;
  }
  const group = isDeletion ? undefined : await run.directory.group(key);
  if (group === undefined) return;
  // The group may be known under another address.
  const other = run.groups.get(group.id);
  if (other !== undefined) await storeGroup(run, afterReport(other, atMs, nowMs));
  else if (isSelected(run, group)) await addGroup(run, group);
  await markAbove(run, group.id, atMs);
}

/** Marks as reported the reader's groups for which SCIM or an event has sent a change. This run reads these groups. */
export async function takePushed(run: ReaderRun): Promise<void> {
  const { connection, ports } = run;
  for (const pushed of await ports.reader.pushed(connection.name)) {
    const known = run.groups.get(pushed.group);
    if (known !== undefined) await storeGroup(run, afterReport(known, pushed.atMs, ports.clock()));
    await ports.reader.dropPushed(connection.name, pushed);
  }
}

/** Marks the groups that contain `child` as reported. */
async function markAbove(run: ReaderRun, child: GroupId, atMs: number): Promise<void> {
  const above = [...run.groups.values()].filter(({ below = [] }) => below.includes(child));
  for (const group of above) await storeGroup(run, afterReport(group, atMs, run.ports.clock()));
}

/**
 * Takes the state of a reported user. If an inactive user is active again, the user's groups are read again, because
 * they may have changed meanwhile.
 */
async function takeUser(run: ReaderRun, { key, atMs }: DirectoryChange): Promise<void> {
  const { directory, users, ports } = run;
  const askedAtMs = ports.clock();
  const user = await directory.user(key);
  if (user === undefined || !(await isKnownUser(run, user))) return;
  const comesBack = users.comesBack(user);
  await sendUser(run, user, askedAtMs);
  if (comesBack) await markGroupsOf(run, user, atMs);
}

/**
 * Takes the state of users whose deletion is reported. Memberships end with the user, and no log reports that. So the
 * user becomes inactive, and the user's groups are read again. One list serves all users of a run.
 * @returns the reports of users that the directory does not list as deleted yet. The next run takes them
 */
async function takeDeletedUsers(
  run: ReaderRun,
  changes: readonly DirectoryChange[],
): Promise<ReadonlySet<DirectoryChange>> {
  const open = new Set(changes);
  if (changes.length === 0) return open;
  const byKey = new Map(changes.map((change) => [change.key.toLowerCase(), change]));
  for (const { user, asOfMs } of await deletedUsersOf(run)) {
    const address = user.attributes.get('email') ?? '';
    const change = byKey.get(user.id) ?? byKey.get(address.toLowerCase());
    if (change === undefined) continue;
    open.delete(change);
    if (!(await isKnownUser(run, user))) continue;
    await sendUser(run, user, asOfMs);
    await markGroupsOf(run, user, change.atMs);
  }
  return open;
}

/**
 * Returns the deleted users, or none if the directory does not list them. An administrator may have no right to this
 * list, and the daily read ends the memberships too. So an error of this list stops no run.
 */
async function deletedUsersOf({ directory }: ReaderRun) {
  const found: { readonly user: DirectoryUser; readonly asOfMs: number }[] = [];
  try {
    for await (const { items, asOfMs } of directory.deletedUsers()) {
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

/** Marks the user's groups as reported. */
async function markGroupsOf(run: ReaderRun, { id }: DirectoryUser, atMs: number): Promise<void> {
  const { ports, connection } = run;
  for await (const groups of ports.users.groupsOf(connection.name, id)) {
    for (const group of groups) {
      const known = run.groups.get(group);
      if (known !== undefined) await storeGroup(run, afterReport(known, atMs, ports.clock()));
    }
  }
}
