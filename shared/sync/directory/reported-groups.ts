import { policyFor } from '../../contract/group-policy.ts';
import type { GroupId } from '../../domain/ids.ts';
import { afterReport } from '../../plan/directory/schedule.ts';
import type { DirectoryChange, DirectoryGroup } from '../ports/directory.ts';
import { addGroup, type ReaderRun, storeGroup } from './context.ts';

export const isSelected = ({ connection }: ReaderRun, { id, name }: DirectoryGroup): boolean =>
  !policyFor(connection.settings, id, name).excluded;

export async function takeGroup(run: ReaderRun, { key, atMs, isDeletion }: DirectoryChange): Promise<void> {
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
