import { groupName } from '../../domain/group.ts';
import type { DirectoryGroup } from '../ports.ts';
import { isDeleted, isListingWrong } from '../rules/missing.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';
import { afterChange, afterFailure, firstSeen, isListedOtherwise } from '../rules/schedule.ts';
import { stampTimeOf } from '../rules/stamp.ts';
import { addGroup, forgetGroup, maySend, originAt, type ReaderRun, send, storeGroup } from './context.ts';
import { deletionMessage } from './events.ts';
import { isSelected, takeKey } from './sync-group.ts';

const MAX_NAMED = 1_000;

/** Thrown if the directory shows too few of the known groups. The run must then not use any answer of the directory. */
export class ListingError extends Error {
  override readonly name = 'ListingError';
}

/**
 * Lists all groups. This run then reads each new or missing group, and each group with a changed name or number of
 * members. Groups that the settings no longer select are forgotten, after their new name is read.
 * @param isFirst whether no list was taken with the present scope, or all groups must be read
 * @throws ListingError if too many known groups are missing
 */
export async function takeListing(run: ReaderRun, isFirst: boolean): Promise<void> {
  const { listed } = run;
  for await (const { items, asOfMs } of run.directory.groups()) {
    for (const group of items) listed.set(group.id, { group, asOfMs });
  }
  const missing = [...run.groups.values()].filter(({ group }) => !listed.has(group));
  refuseWrongListing(run, missing);
  const nowMs = run.ports.clock();
  for (const known of missing) await storeGroup(run, { ...known, dueMs: Math.min(known.dueMs, nowMs) });
  for (const { group } of listed.values()) await takeListed(run, group);
  if (isFirst) await addForgotten(run);
}

async function takeListed(run: ReaderRun, group: DirectoryGroup): Promise<void> {
  const known = run.groups.get(group.id);
  if (known === undefined) {
    if (isSelected(run, group)) await addGroup(run, group);
  } else if (isListedOtherwise(known, group)) await storeGroup(run, afterChange(known, run.ports.clock()));
  else if (!isSelected(run, group)) await forgetGroup(run, group.id);
}

/**
 * Adds the reader's own groups that are neither listed nor known. They may have been deleted while the settings did not
 * select them, or while the connection was removed.
 */
async function addForgotten(run: ReaderRun): Promise<void> {
  for (const { ref, registers } of (await run.others()).forgotten) {
    const { group: id } = ref;
    if (run.groups.has(id) || !isSelected(run, { id, name: groupName(registers) ?? '' })) continue;
    await storeGroup(run, firstSeen(id, id, run.ports.clock()));
  }
}

/** Throws if too many groups are missing without a reported deletion, unless an operator has accepted the deletions. */
function refuseWrongListing({ groups, acceptsDeletions }: ReaderRun, missing: readonly ReaderGroup[]): void {
  const unexplained = missing.filter(({ deletedMs }) => deletedMs === undefined).length;
  if (acceptsDeletions || !isListingWrong(groups.size, unexplained)) return;
  throw new ListingError(
    `${unexplained} of ${groups.size} known groups are missing in the directory: expected at most one, or 5 %, and never all. Check the rights of the reader. If the groups were deleted: groupsync directory read --accept-deletions`,
  );
}

/**
 * Decides about the groups that the directory did not find by their ids in this run.
 * @param isAnotherReadable whether the run could read at least one known group
 * @throws ListingError if too many groups are missing
 */
export async function endMissing(
  run: ReaderRun,
  missing: readonly ReaderGroup[],
  isAnotherReadable: boolean,
): Promise<void> {
  const nowMs = run.ports.clock();
  for (const known of missing) {
    await takeNextOwner(run, known);
    const failed = afterFailure(known, 'the directory does not find the group', nowMs);
    await storeGroup(run, { ...failed, missingMs: known.missingMs ?? nowMs });
  }
  const allMissing = [...run.groups.values()].filter(({ missingMs }) => missingMs !== undefined);
  refuseWrongListing(run, allMissing);
  for (const { group } of missing) {
    const known = run.groups.get(group);
    const isReportedDeleted = run.acceptsDeletions || known?.deletedMs !== undefined;
    const evidence = { isReportedDeleted, isAnotherReadable, nowMs };
    if (known === undefined || !isDeleted(known, evidence)) continue;
    if (maySend(run, known)) {
      await send(run, [deletionMessage(group, originAt(run, stampTimeOf(nowMs, known.sentMs)))]);
      run.report.sent += 1;
      if (run.report.deleted.length < MAX_NAMED) run.report.deleted.push(group);
    }
    await forgetGroup(run, group);
  }
}

/**
 * Adds the new group that now has the address of a missing group. Earlier reports with this address may be about the
 * new group.
 */
async function takeNextOwner(run: ReaderRun, { address, missingMs, deletedMs, reportedMs }: ReaderGroup) {
  const mayHaveOne = missingMs === undefined && (deletedMs === undefined || (reportedMs ?? 0) > deletedMs);
  if (mayHaveOne) await takeKey(run, address, { atMs: reportedMs ?? run.ports.clock() });
}
