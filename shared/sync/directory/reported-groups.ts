import { policyFor } from '../../contract/group-policy.ts';
import { type GroupId, groupId } from '../../domain/ids.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import { afterChange, afterReport } from '../../plan/directory/schedule.ts';
import type { DirectoryChange, DirectoryGroup } from '../ports/directory.ts';
import { addGroup, type ReaderRun, storeGroup } from './context.ts';

export const isSelected = ({ connection }: ReaderRun, { id, name }: DirectoryGroup): boolean =>
  !policyFor(connection.settings, id, name).excluded;

/**
 * Takes a report about a group. The report names the group by its id or by an address. Once the group with that address
 * is deleted, a later report may mean a new group with the same address.
 */
export async function takeGroup(run: ReaderRun, report: DirectoryChange): Promise<void> {
  const { key, atMs, isDeletion } = report;
  const named = [...run.groups.values()].filter(({ group, address }) => group === key || address === key);
  for (const known of named) await takeKnown(run, known, report);
  const isFound = named.some(({ deletedMs }) => deletedMs === undefined);
  if (isFound) return;
  if (!isDeletion) await takeKey(run, key, atMs);
  else if (named.length === 0) await markAbove(run, groupId(key), atMs);
}

async function takeKnown(
  run: ReaderRun,
  known: ReaderGroup,
  { atMs, isDeletion, isMembership = false }: DirectoryChange,
): Promise<void> {
  const nowMs = run.ports.clock();
  const reported = afterReport(known, atMs, nowMs);
  const isNews = reported !== known;
  // A newer change by another source does not cancel the reported deletion.
  const isDeleted = isDeletion && atMs > (known.readMs ?? 0);
  const marked = isMembership || isDeletion ? reported : afterChange(reported, nowMs);
  await storeGroup(run, isDeleted ? { ...marked, deletedMs: atMs, dueMs: nowMs } : marked);
  if (isNews) await markAbove(run, known.group, atMs);
}

/**
 * Asks the directory which group has this id or address now, and marks the group and the groups above it as reported.
 * If there is no such group, a group that was not selected may be gone from the groups above it.
 * @param atMs the time of the report
 */
export async function takeKey(run: ReaderRun, key: string, atMs: number): Promise<void> {
  const group = await run.directory.group(key);
  if (group === undefined) return markAbove(run, groupId(key), atMs);
  const known = run.groups.get(group.id);
  if (known !== undefined) await storeGroup(run, afterReport(known, atMs, run.ports.clock()));
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

/**
 * Marks every group as reported, because the changes since the last run are unknown. A full read finds them, and no
 * stored state is discarded.
 */
export async function reportAllGroups(run: ReaderRun): Promise<void> {
  const nowMs = run.ports.clock();
  for (const group of run.groups.values()) await storeGroup(run, afterReport(group, nowMs, nowMs));
}

/** Marks the groups that contain `child` as reported. */
async function markAbove(run: ReaderRun, child: GroupId, atMs: number): Promise<void> {
  const above = [...run.groups.values()].filter(({ below = [] }) => below.includes(child));
  for (const group of above) await storeGroup(run, afterReport(group, atMs, run.ports.clock()));
}
