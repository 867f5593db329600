import { createHash } from 'node:crypto';
import { policyFor } from '../../contract/group-policy.ts';
import type { GroupId } from '../../domain/ids.ts';
import { afterReport } from '../../plan/directory/schedule.ts';
import type { DirectoryChange, DirectoryGroup, ReaderPosition } from '../ports/directory.ts';
import { addGroup, type ReaderRun, storeGroup } from './context.ts';
import { takeUsers } from './user-reports.ts';

/** The maximum number of remembered reports. Their item then stays far below 400 KB, the limit of DynamoDB. */
const MAX_TAKEN = 2_000;

/** The position for the next run. */
export interface TakenReports extends ReaderPosition {
  /** Whether the reports do not cover the time since the last run. */
  readonly isReset?: boolean;
}

/**
 * Records which groups the directory reports as changed. A report only names a group to read, so a late or repeated
 * report does no harm. If a report is missing, the daily read finds the change. A report that an earlier run recorded
 * costs no call.
 * @returns the position for the next run
 */
export async function takeReports(
  run: ReaderRun,
  { cursor, taken = [] }: ReaderPosition,
): Promise<TakenReports> {
  const changes = await run.directory.changesSince(cursor);
  const { isReset = false } = changes;
  if (isReset) await markAllReported(run);
  const known = new Map(taken.map(({ key, atMs }) => [key, atMs]));
  const isNews = (kind: Kind) => (change: DirectoryChange) =>
    change.atMs > (known.get(digestOf(kind, change.key)) ?? 0);
  const groups = changes.groups.filter(isNews('group'));
  const users = changes.users.filter(isNews('user'));
  for (const change of groups) await takeGroup(run, change);
  const open = await takeUsers(run, users);
  run.report.reported += groups.length + users.length;
  const reported = [
    ...changes.groups.map(({ key, atMs }) => ({ key: digestOf('group', key), atMs })),
    ...changes.users
      .filter((change) => !open.has(change))
      .map(({ key, atMs }) => ({ key: digestOf('user', key), atMs })),
  ];
  return { cursor: changes.cursor, taken: reported.toSorted((a, b) => b.atMs - a.atMs).slice(0, MAX_TAKEN) };
}

/** The changes since the last cursor are unknown. A full read finds them, and no stored state is discarded. */
async function markAllReported(run: ReaderRun): Promise<void> {
  const nowMs = run.ports.clock();
  for (const group of run.groups.values()) await storeGroup(run, afterReport(group, nowMs, nowMs));
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
