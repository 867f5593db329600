import { hasDeparted } from '../domain/group.ts';
import type { GroupState, StateChange, ViewPointer } from '../domain/group-state.ts';
import { type Removals, removalsAfter } from '../domain/hold.ts';
import type { GroupRef, IntentId } from '../domain/ids.ts';
import { WAKE_GRACE_MS } from '../domain/wake-up.ts';
import type { Dirty } from '../sync/ports/desired.ts';
import type { Commit, ReportedError } from '../sync/ports/groups.ts';
import { OF_THIS_SCHEMA } from './item-form.ts';
import { dueText, groupKey, IN_SYNC, MEMBER_PREFIX, NOT_DUE, placed } from './keys.ts';
import { all, type Change, type Condition, equal, exists, less, missing, type Table } from './table.ts';

/*
 * The operations that begin or end a write, each with its condition on the group item and its change of the item:
 *
 *     openIntent      no intent, or this intent; view, uncertain,   stores the intent
 *                     dirty as read
 *     commit          this intent                                   stores view and version, ends the intent
 *       to clean      also rev, removals as read, not paused        also clears the dirty mark
 *     postpone        dirty, no other intent                        stores a wake-up, releases the intent
 *     dropIntent      this intent                                   ends the intent
 *     storeObserved   as openIntent; suspected change as read       stores view and version
 *     settle          no intent; rev, view, uncertain and removals  clears the dirty mark, or stores a wake-up
 *                     as read, not paused
 *     fail            intent and rev as read                        clears the dirty mark
 *
 * For a superseded worker, the condition fails, and the item does not change. If the group was dirty when it was read,
 * `openIntent` and `storeObserved` require the dirty mark. Otherwise a worker could link a group that a later worker
 * has settled, and no wake-up would follow. The dirty mark stays from `openIntent` to `commit`.
 */
/** The group belongs to no open move. While a move is open, only the move changes the state of the platform group. */
export const IS_AT_REST = missing('openMove');
export const intentIs = (id: IntentId): Condition => equal('intent.id', id);
export const viewIsAs = ({ link }: GroupState): Condition =>
  link === undefined ? missing('link') : equal('link.view.id', link.view.id);
/** The record of uncertain writes is unchanged since the read. So no other worker has added an uncertain write. */
const uncertainIsAs = ({ uncertain }: GroupState): Condition =>
  uncertain === undefined ? missing('uncertain') : equal('uncertain.untilMs', uncertain.untilMs);
export const unwrittenSince = (seen: GroupState): Condition =>
  all(missing('intent'), viewIsAs(seen), uncertainIsAs(seen));
export const unsettledSince = (seen: GroupState): Condition =>
  seen.dirtySinceMs === undefined ? unwrittenSince(seen) : all(unwrittenSince(seen), exists('dirtySince'));
export const intentIsAs = ({ intent }: GroupState): Condition =>
  intent === undefined ? missing('intent') : intentIs(intent.id);
/** The suspected change is unchanged since the read. A suspected change that was recorded after the fetch must stay. */
export const suspectedChangeIsAs = ({ suspectedChange }: GroupState): Condition =>
  suspectedChange === undefined
    ? missing('suspectedChange')
    : equal('suspectedChange.atMs', suspectedChange.atMs);
export const revIsAs = ({ rev }: GroupState): Condition => (rev === 0 ? missing('rev') : equal('rev', rev));
/** The list of removals is unchanged since the read. A newer list keeps the group dirty for the next run of apply. */
export const removalsAre = ({ removals }: { readonly removals?: Removals | undefined }): Condition =>
  removals === undefined ? missing('removals') : equal('removals.id', removals.id);

/** The attribute with the time of the first 404. Removed, for example, when the platform shows the group. */
export const MISSING_SINCE = 'missingSince';
export const RELEASED = ['released', 'movedTo'];

/** Returns the list of removals after a write. After the deletion of the platform group, the whole list ends. */
export function openRemovals({ seen, platform, consumes }: Commit): StateChange {
  const removals = consumes === undefined ? seen.removals : platform && removalsAfter(seen, consumes);
  return removals?.id === seen.removals?.id ? {} : { removals };
}

/**
 * Returns the change that ends the work of apply on a group. It sets `inSync` if each wanted member is one user of the
 * view, the view has no further user, and no removals are held. After the next change, apply may then read only the
 * changed members (`sync/match/changed-members.ts`).
 */
export function settledChange(seen: GroupState, view: ViewPointer | undefined, how: SettledAs) {
  const { set, remove } = doneChange(seen, view, how);
  const sinceMs = seen.unwrittenSinceMs ?? seen.dirtySinceMs;
  if (sinceMs === undefined || !leavesChanges(seen, how)) return { set, remove };
  return {
    set: { ...set, [UNWRITTEN]: sinceMs },
    remove: remove.filter((name) => name !== UNWRITTEN),
  };
}

export interface SettledAs extends Pick<Commit, 'settled' | 'counts'> {
  readonly failing?: ReportedError | undefined;
  /** Whether the group is excluded, or its changes are only shown. */
  readonly isUnwritten?: boolean;
}

/** Whether a later plan may contain removals that the settled group leaves out. Their authors are searched since now. */
const leavesChanges = ({ registers }: GroupState, { settled, isUnwritten = false }: SettledAs): boolean =>
  isUnwritten ||
  settled === 'unrestated' ||
  settled === 'unnamed' ||
  (settled === 'held' && hasDeparted(registers));

function doneChange(
  { rev, ref, removals }: GroupState,
  view: ViewPointer | undefined,
  { settled, counts: { wanted, applied, pending }, failing }: SettledAs,
) {
  if (failing !== undefined) {
    const { reported, ...error } = failing;
    const set = { ...placed(ref, NOT_DUE), failedAt: error.atMs, lastError: { ...error } };
    return {
      set: { ...set, failureReport: { digest: reported } },
      remove: [...DONE_WITH, ...PARTIAL_READ_HINTS],
    };
  }
  const isInSync = settled === 'in_sync' && view?.size === wanted && applied === wanted && pending === 0;
  if (!isInSync || removals !== undefined)
    return { set: placed(ref, NOT_DUE), remove: [...CLEAN, ...PARTIAL_READ_HINTS] };
  const set = { ...placed(ref, IN_SYNC), inSync: { rev, view: view.id } };
  return { set, remove: [...CLEAN, 'changedMembers'] };
}

const UNWRITTEN = 'unwrittenSince';
export const PARTIAL_READ_HINTS = ['changedMembers', 'inSync'];
export const WAKE_UP = ['wakeAt', 'wakeIsSent'];
const DONE_WITH = ['dirtySince', UNWRITTEN, ...WAKE_UP, 'attempts', 'releasedPlatformId'];
const CLEAN = [...DONE_WITH, 'lastError', 'failedAt', 'refusedFields', 'failureReport'];

/**
 * Returns the attributes of a scheduled wake-up. The index sorts groups by `dueMs`. From this time on, the requeue job
 * treats the wake-up as lost. If `isSent` is false, only the requeue job sends a message.
 */
export const wakeUpFields = (
  ref: GroupRef,
  wakeAtMs: number,
  { dueMs = wakeAtMs + WAKE_GRACE_MS, isSent = true }: { dueMs?: number | undefined; isSent?: boolean } = {},
) => ({
  wakeAt: wakeAtMs,
  wakeIsSent: isSent,
  ...placed(ref, dueText(dueMs)),
});

/**
 * Returns the change that marks a group dirty. One write sets rev, the dirty mark and the wake-up, so a crash cannot
 * separate them. A stored wake-up keeps its time, except with `isAtOnce`. The time in the index always changes, so the
 * requeue job may find a lost wake-up a little later. `set` and `remove` are further changes in the same write.
 */
export const dirtying = (
  ref: GroupRef,
  { nowMs, wakeAtMs, dueMs, isAtOnce = false, isAgain = false }: Dirty,
  { set = {}, setIfMissing = {}, remove = [] }: Omit<Change, 'add'> = {},
) => {
  const { wakeAt, wakeIsSent, ...due } = wakeUpFields(ref, wakeAtMs, { dueMs, isSent: dueMs !== wakeAtMs });
  const wakeUp = { wakeAt, wakeIsSent };
  return {
    add: { rev: 1 },
    set: { ...set, group: ref.group, ...due, ...(isAtOnce ? wakeUp : {}) },
    setIfMissing: { ...OF_THIS_SCHEMA, ...setIfMissing, dirtySince: nowMs, ...(isAtOnce ? {} : wakeUp) },
    remove: ['failedAt', ...(isAgain ? [] : ['calledMs', 'attempts']), ...remove],
  };
};

export async function collectTombstones(table: Table, { ref }: GroupState, nowMs: number): Promise<number> {
  const { pk } = groupKey(ref);
  // If the member was added again after the read, the register has no expiry, so this condition prevents its deletion.
  const stillEnded = less('expiresAt', Math.floor(nowMs / 1_000));
  let collected = 0;
  for await (const page of table.query({ partition: pk, prefix: MEMBER_PREFIX })) {
    const over = page.filter(({ expiresAt }) => typeof expiresAt === 'number' && expiresAt * 1_000 < nowMs);
    for (const { sk } of over) if (await table.delete({ pk, sk }, stillEnded)) collected += 1;
  }
  return collected;
}
