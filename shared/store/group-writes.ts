import type { GroupState, ViewPointer } from '../domain/group-state.ts';
import { type HeldSetName, type Hold, holdsOf } from '../domain/hold.ts';
import type { GroupRef, IntentId } from '../domain/ids.ts';
import { WAKE_GRACE_MS } from '../domain/wake-up.ts';
import type { Dirty } from '../sync/ports/desired.ts';
import type { Commit, Findings, ReportedError } from '../sync/ports/groups.ts';
import { OF_THIS_SCHEMA, plain } from './item-form.ts';
import { dueText, groupKey, IN_SYNC, MEMBER_PREFIX, NOT_DUE, placed } from './keys.ts';
import { all, type Change, type Condition, equal, exists, less, missing, type Table } from './table.ts';

/*
 * The conditions on the group item during the life of a write:
 *
 *     openIntent   no intent, view, uncertain and dirty as read  intent := this one
 *     commit       intent is this one (and rev, hold as read)    view, version, intent gone (dirty gone, or a wake-up)
 *     postpone     no intent but this one (and rev as read)      a wake-up, intent released
 *     dropIntent   intent is this one                            intent gone
 *     accept       no intent, view, uncertain and dirty as read  view, version
 *     settle       no intent, rev, view and hold as read         dirty gone
 *
 *     fail         intent and rev as they were read              dirty gone
 *
 * For a superseded worker, the condition fails, and nothing changes. The conditions also compare the dirty mark:
 * otherwise a worker could link a group that a later worker has settled, and nothing would wake the group again. The
 * dirty mark stays from openIntent to commit.
 */
export const intentIs = (id: IntentId): Condition => equal('intent.id', id);
export const viewIsAs = ({ link }: GroupState): Condition =>
  link === undefined ? missing('link') : equal('link.view.id', link.view.id);
/** The record of uncertain writes is as it was read: no other worker has opened and dropped an intent since. */
const uncertainIsAs = ({ uncertain }: GroupState): Condition =>
  uncertain === undefined ? missing('uncertain') : equal('uncertain.untilMs', uncertain.untilMs);
export const unwrittenSince = (seen: GroupState): Condition =>
  all(missing('intent'), viewIsAs(seen), uncertainIsAs(seen));
export const unsettledSince = (seen: GroupState): Condition =>
  seen.dirtySinceMs === undefined ? unwrittenSince(seen) : all(unwrittenSince(seen), exists('dirtySince'));
export const intentIsAs = ({ intent }: GroupState): Condition =>
  intent === undefined ? missing('intent') : intentIs(intent.id);
/** The suspected change is as it was read. A suspected change that was noted after the fetch stays. */
export const suspectedChangeIsAs = ({ suspectedChange }: GroupState): Condition =>
  suspectedChange === undefined
    ? missing('suspectedChange')
    : equal('suspectedChange.atMs', suspectedChange.atMs);
export const revIsAs = ({ rev }: GroupState): Condition => (rev === 0 ? missing('rev') : equal('rev', rev));
/** The hold is as it was read. A newer hold keeps the group dirty, and the next apply checks that hold. */
export const holdIsAs = ({ hold }: GroupState): Condition =>
  hold === undefined ? missing('hold') : equal('hold.digest', hold.digest);
/** The set is this one, with the same decision. Without a set, the group has none. */
export function setIs(name: HeldSetName, hold: Hold | undefined): Condition {
  if (hold === undefined) return missing(name);
  const { digest, decision } = hold;
  const isSameSet = equal(`${name}.digest`, digest);
  return decision.kind === 'waiting'
    ? isSameSet
    : all(isSameSet, equal(`${name}.decision.atMs`, decision.atMs));
}

/**
 * Limits of the lists on the group item. They are far above the usual number of entries, and far below the size of an
 * item.
 */
const MAX_OPEN_DRIFT = 500;
const MAX_UNATTRIBUTED = 100;

/** Returns the attributes for the external changes that a fetch found, merged with the open ones. */
export const findingsToStore = (
  seen: GroupState,
  { openDrift = [], unattributed = [], acceptedDeletion, flapDamping, audited, uncertain }: Findings = {},
) =>
  plain({
    openDrift: merged(seen.openDrift, openDrift, MAX_OPEN_DRIFT),
    unattributed: merged(seen.unattributed, unattributed, MAX_UNATTRIBUTED),
    ...{ acceptedDeletion, flapDamping, lastAudit: audited, uncertain },
  });

const merged = (before: readonly string[], more: readonly string[], most: number) =>
  more.length === 0 ? undefined : [...new Set([...before, ...more])].slice(-most);

/**
 * Returns the change that ends the work of apply on a group. If each wanted member is one user of the view, and the
 * view has no other user, apply may read only the changed members after the next change
 * (`sync/match/changed-members.ts`).
 */
export function settledChange(
  { rev, ref, ...holds }: GroupState,
  view: ViewPointer | undefined,
  {
    settled,
    counts: { wanted, applied, pending },
    failing,
  }: Pick<Commit, 'settled' | 'counts'> & { readonly failing?: ReportedError | undefined },
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
  if (!isInSync || holdsOf(holds).length > 0)
    return { set: placed(ref, NOT_DUE), remove: [...CLEAN, ...PARTIAL_READ_HINTS] };
  const set = { ...placed(ref, IN_SYNC), inSync: { rev, view: view.id } };
  return { set, remove: [...CLEAN, 'changedMembers'] };
}

export const PARTIAL_READ_HINTS = ['changedMembers', 'inSync'];
const DONE_WITH = ['dirtySince', 'wakeAt', 'attempts', 'releasedPlatformId'];
const CLEAN = [...DONE_WITH, 'lastError', 'failedAt', 'refusedFields', 'failureReport'];

/**
 * Returns the scheduled wake-up of a group, and the time from which the requeue job treats it as lost. The index sorts
 * by that time.
 */
export const wakeUpFields = (ref: GroupRef, wakeAtMs: number, dueMs = wakeAtMs + WAKE_GRACE_MS) => ({
  wakeAt: wakeAtMs,
  ...placed(ref, dueText(dueMs)),
});

/**
 * Returns the change that marks a group dirty. One write sets rev, the dirty mark and the wake-up, so that a crash
 * cannot separate them. A stored wake-up keeps its time, except with `isAtOnce`. Its place in the index changes in any
 * case, so the requeue job may find a lost wake-up a little later. `set` and `remove` are further changes in the same
 * write.
 */
export const dirtying = (
  ref: GroupRef,
  { nowMs, wakeAtMs, dueMs, isAtOnce = false, isAgain = false }: Dirty,
  { set = {}, setIfMissing = {}, remove = [] }: Omit<Change, 'add'> = {},
) => {
  const { wakeAt, ...due } = wakeUpFields(ref, wakeAtMs, dueMs);
  return {
    add: { rev: 1 },
    set: { ...set, group: ref.group, ...due, ...(isAtOnce ? { wakeAt } : {}) },
    setIfMissing: { ...OF_THIS_SCHEMA, ...setIfMissing, dirtySince: nowMs, ...(isAtOnce ? {} : { wakeAt }) },
    remove: ['failedAt', ...(isAgain ? [] : ['calledMs', 'attempts']), ...remove],
  };
};

/** Deletes expired tombstones that the store has not deleted itself. @returns how many */
export async function collectTombstones(table: Table, { ref }: GroupState, nowMs: number): Promise<number> {
  const { pk } = groupKey(ref);
  // If the member was added again meanwhile, the register has no expiry any more, and this condition keeps it.
  const stillEnded = less('expiresAt', Math.floor(nowMs / 1_000));
  let collected = 0;
  for await (const page of table.query({ partition: pk, prefix: MEMBER_PREFIX })) {
    const over = page.filter(({ expiresAt }) => typeof expiresAt === 'number' && expiresAt * 1_000 < nowMs);
    for (const { sk } of over) if (await table.delete({ pk, sk }, stillEnded)) collected += 1;
  }
  return collected;
}
