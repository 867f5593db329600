import { selectionOf } from '../../contract/group-policy.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import type { DirectoryGroup, ReportedChange } from '../ports.ts';
import { afterNaming } from '../rules/named.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { afterChange, afterReport } from '../rules/schedule.ts';
import { addGroup, type ReaderRun, storeGroup } from './context.ts';
import { memberDigest } from './key-digest.ts';

export const isSelected = ({ connection }: ReaderRun, group: DirectoryGroup): boolean =>
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

/** The part of a report that concerns the lists of members. */
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
