import { selectionOf } from '../../contract/group-policy.ts';
import { type GroupId, groupId, type MemberId } from '../../domain/ids.ts';
import { isRestated } from '../../plan/restore.ts';
import { DirectoryError, type DirectoryGroup, type DirectoryUser, type ReportedChange } from '../ports.ts';
import { afterNaming, namedWithinLag } from '../rules/named.ts';
import { outcomeOf, type ReadOutcome } from '../rules/outcome.ts';
import { differenceOf, type GroupRead } from '../rules/read.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { afterChange, afterOldList, afterRead, afterReport, asksFacts } from '../rules/schedule.ts';
import { stampTimeOf } from '../rules/stamp.ts';
import {
  addGroup,
  maySend,
  noteAnswer,
  originAt,
  type ReaderRun,
  readStored,
  send,
  stampOf,
  storeGroup,
} from './context.ts';
import { changeMessages, type Origin, snapshotMessage, userMessages } from './events.ts';
import { contentDigest, memberDigest } from './key-digest.ts';
import { comparedOf, leaveOut, withOwner } from './other-source.ts';
import { checkCounts, type GroupWithNested, readWhole } from './whole-group.ts';

/**
 * Reads a whole group, compares it with the desired state, and sends the differences.
 *
 *     read the directory ──▶ read desired state ──▶ send users, then the group ──▶ store the time of the next read
 *
 * After a crash at any arrow, the next run reads the group again. A repeated event has no further effect.
 * @returns false if the directory has no such group
 */
export async function syncGroup(given: ReaderGroup, run: ReaderRun): Promise<boolean> {
  const { directory, connection, ports, users, report } = run;
  const known = await withOwner(given, run);
  if (known.other !== undefined && known.other !== known.group) return leaveOut(known, run);
  const found = await readNow(known, run);
  if (found === undefined) return false;
  if (found.isOld) {
    report.read += 1;
    await storeGroup(run, afterOldList(known, ports.clock()));
    return true;
  }
  await takeEarlierAddress(known, found, run);
  await users.read(found.users.keys());
  const described = { ...found, users: await withPrimaryAddresses(run, found.users) };
  const origin = originAt(run, stampTimeOf(described.asOfMs, known.sentMs));
  const stamp = stampOf(origin);
  const stored = await readStored({ connection: connection.name, group: known.group }, ports, users);
  const content = contentDigest(described.users.keys());
  const differs = (one: GroupWithNested) => differenceOf(readOf(one, content), stored, stamp);
  // A removal of members is allowed only after a comparison of the list with the directory's count.
  const isUnsure = differs(described).removed.length > 0 && described.unchecked.size > 0;
  const whole = isUnsure ? await checkCounts(directory, described) : described;
  if (whole === undefined) return false;
  const nowMs = ports.clock();
  const difference = differs(whole);
  const outcome = outcomeOf(readOf(whole, content), difference, known, { nowMs, lagMs: directory.lagMs });
  if (!maySend(run, known)) {
    report.read += 1;
    await noteAnswer(run);
    const done = { outcome, content, whole, news: [], stampMs: origin.stampMs, nowMs };
    await storeGroup(run, comparedOf(nextOf(known, run, done), { whole, difference, nowMs }));
    return true;
  }
  const news = [...whole.users.values()].filter((user) => users.isNews(user, stamp));
  const messages = messagesOf(outcome, whole, origin);
  // The users are noted before the messages are sent, because groups that are read at the same time share members. The
  // notes are never wrong, because the whole run fails if a message cannot be sent.
  for (const user of news) users.noteSent(user, stamp);
  await send(run, [...userMessages(news, origin), ...messages]);
  if (outcome.kind === 'equal') await noteRestated(known, run);
  report.read += 1;
  await noteAnswer(run);
  if (messages.length > 0) report.sent += 1;
  await storeGroup(
    run,
    nextOf(known, run, { outcome, content, whole, news, stampMs: origin.stampMs, nowMs }),
  );
  return true;
}

/**
 * Confirms the registers of a group that equals the directory, after a restore of the table. The requeue job then wakes
 * the group. A list that is sent as one snapshot needs no note.
 */
async function noteRestated({ group }: ReaderGroup, { connection, ports }: ReaderRun): Promise<void> {
  if (connection.restoredAtMs === undefined) return;
  const ref = { connection: connection.name, group };
  const state = await ports.groups.read(ref);
  if (state === undefined || isRestated(state, connection.restoredAtMs)) return;
  const nowMs = ports.clock();
  await ports.groups.restate(ref, { nowMs, wakeAtMs: nowMs, dueMs: nowMs });
}

/**
 * Reads the group. If only its members have changed, the name and address of the last read are used.
 * @returns undefined if the directory has no such group
 */
async function readNow(known: ReaderGroup, run: ReaderRun): Promise<GroupWithNested | undefined> {
  const { directory, listed, questions } = run;
  const { name = '', address } = known;
  const { nested } = run.connection.settings;
  const named = namedWithinLag(known, { nowMs: run.ports.clock(), lagMs: directory.lagMs });
  const reading = { listed, questions, nested, named, known: known.below ?? [] };
  if (asksFacts(known)) return readWhole(directory, known.group, reading);
  try {
    return await readWhole(directory, known.group, { ...reading, facts: { name, address } });
  } catch (error) {
    const mayBeGone = error instanceof DirectoryError && error.kind === 'missing';
    if (mayBeGone && (await directory.group(known.group)) === undefined) return undefined;
    throw error;
  }
}

/**
 * Handles a changed address of this group. Marks the group that now has the earlier address as reported, because a
 * report with the earlier address may be about that group.
 */
async function takeEarlierAddress(
  { address, readMs, reportedMs }: ReaderGroup,
  { group, asOfMs }: GroupWithNested,
  run: ReaderRun,
): Promise<void> {
  if (readMs !== undefined && group.address !== address)
    await takeKey(run, address, { atMs: reportedMs ?? asOfMs });
}

const readOf = ({ group, users, isShort, isCounted }: GroupWithNested, content: string): GroupRead => ({
  name: group.name,
  members: new Set(users.keys()),
  isShort,
  isCounted,
  content,
});

function messagesOf(outcome: ReadOutcome, { group }: GroupWithNested, origin: Origin): readonly string[] {
  const named = { id: group.id, name: group.name };
  if (outcome.kind === 'snapshot') return [snapshotMessage(named, outcome.members, origin)];
  if (outcome.kind === 'changes') return changeMessages(named, outcome, origin);
  return [];
}

interface Done {
  readonly outcome: ReadOutcome;
  readonly content: string;
  readonly whole: GroupWithNested;
  readonly news: readonly DirectoryUser[];
  readonly stampMs: number;
  readonly nowMs: number;
}

function nextOf(known: ReaderGroup, { directory }: ReaderRun, done: Done): ReaderGroup {
  const { outcome, content, whole, news, stampMs, nowMs } = done;
  const next = afterRead(known, {
    outcome,
    content,
    address: whole.group.address,
    asOfMs: whole.asOfMs,
    stampMs,
    below: whole.below,
    belowAddresses: whole.belowAddresses,
    counted: whole.counted,
    nowMs,
    lagMs: directory.lagMs,
  });
  const { name } = whole.group;
  const owned = known.other === undefined ? { ...next, name } : { ...next, name, other: known.other };
  // `sentMs` makes the stamp of the group's next event not earlier than the stamps of the messages about its users.
  return news.length === 0 ? owned : { ...owned, sentMs: stampMs };
}

/**
 * If more addresses of one group differ than this, the addresses of a whole domain have probably changed. The listed
 * addresses are then used without a question.
 */
const MOST_ALIASES = 50;

/**
 * Returns the users of a group with their primary addresses. A list may show a member under an alias. So each user
 * whose listed address differs from the stored address is requested, except users of other companies.
 */
async function withPrimaryAddresses(
  { directory, users }: Pick<ReaderRun, 'directory' | 'users'>,
  listed: ReadonlyMap<MemberId, DirectoryUser>,
): Promise<ReadonlyMap<MemberId, DirectoryUser>> {
  const differing = [...listed.values()].filter((user) => {
    const stored = users.addressOf(user.id);
    return user.isExternal !== true && stored !== undefined && stored !== user.attributes.get('email');
  });
  if (differing.length === 0 || differing.length > MOST_ALIASES) return listed;
  const result = new Map(listed);
  for (const { id } of differing) {
    const user = await directory.user(id);
    if (user !== undefined) result.set(id, user);
  }
  return result;
}

export const isSelected = ({ connection }: ReaderRun, group: Pick<DirectoryGroup, 'id' | 'name'>): boolean =>
  selectionOf(connection.settings)(group);

/**
 * Records a report about a group. The report names the group by its id or by an address. After the deletion of a group,
 * its address in a report may mean a new group.
 */
export async function takeGroup(run: ReaderRun, report: ReportedChange): Promise<boolean> {
  const { key, isDeletion } = report;
  const named = [...run.groups.values()].filter(({ group, address }) => group === key || address === key);
  for (const known of named) await takeKnown(run, known, report);
  const isFound = named.some(({ deletedMs }) => deletedMs === undefined);
  if (isFound) return true;
  if (!isDeletion) await takeKey(run, key, report);
  else if (named.length === 0) await markAbove(run, groupId(key), report);
  return true;
}

type MemberReport = Pick<ReportedChange, 'atMs' | 'members'>;

/** Returns the reader's item of a group after a report about `changed`: the group itself, or a group within it. */
function afterMemberReport(
  { ports, directory }: ReaderRun,
  known: ReaderGroup,
  changed: GroupId,
  { atMs, members = [] }: MemberReport,
): ReaderGroup {
  const nowMs = ports.clock();
  const named = members.map(({ key, ...one }) => ({ ...one, group: changed, member: memberDigest(key) }));
  return afterNaming(afterReport(known, atMs, nowMs), named, { nowMs, lagMs: directory.lagMs });
}

async function takeKnown(run: ReaderRun, known: ReaderGroup, report: ReportedChange): Promise<void> {
  const { atMs, isDeletion, isMembership = false } = report;
  const nowMs = run.ports.clock();
  const reported = afterMemberReport(run, known, known.group, report);
  const isNews = reported !== known;
  // A later report of another change does not cancel the reported deletion.
  const isDeleted = isDeletion && atMs > (known.readMs ?? 0);
  const marked = isMembership || isDeletion ? reported : afterChange(reported, nowMs);
  await storeGroup(run, isDeleted ? { ...marked, deletedMs: atMs, dueMs: nowMs } : marked);
  if (isNews) await markAbove(run, known.group, report);
}

/**
 * Asks the directory which group has this id or address now, and marks this group and the groups around it as reported.
 * If the directory has no such group, a nested group with this key may have been deleted, so the groups around it are
 * marked.
 */
export async function takeKey(run: ReaderRun, key: string, report: MemberReport): Promise<void> {
  const group = await run.directory.group(key);
  if (group === undefined) return markAbove(run, groupId(key), report);
  const isNew = !run.groups.has(group.id);
  if (isNew && isSelected(run, group)) await addGroup(run, group);
  const known = run.groups.get(group.id);
  if (known !== undefined) await storeGroup(run, afterMemberReport(run, known, group.id, report));
  await markAbove(run, group.id, report);
}

/** Marks the reader's groups that SCIM or an event tried to change as reported, so that this run reads them. */
export async function takePushed(run: ReaderRun): Promise<void> {
  const { connection, ports } = run;
  for (const pushed of await ports.reader.pushed(connection.name)) {
    const known = run.groups.get(pushed.group);
    if (known !== undefined) await storeGroup(run, afterReport(known, pushed.atMs, ports.clock()));
    await ports.reader.dropPushed(connection.name, pushed);
  }
}

/** Marks every group as reported, because the changes since the last run are unknown. */
export async function reportAllGroups(run: ReaderRun): Promise<void> {
  const nowMs = run.ports.clock();
  for (const group of run.groups.values()) await storeGroup(run, afterReport(group, nowMs, nowMs));
}

/** Marks the groups that contain `child` as reported. A report may name the child by its address. */
async function markAbove(run: ReaderRun, child: GroupId, report: MemberReport): Promise<void> {
  const above = [...run.groups.values()].filter(
    ({ below = [], belowAddresses = [] }) => below.includes(child) || belowAddresses.includes(child),
  );
  for (const group of above) await storeGroup(run, afterMemberReport(run, group, child, report));
}
