import { eachField, fieldsFrom, fieldsOf, type GroupField, isSameValue } from '../domain/group-fields.ts';
import type { GroupState, GuardRecord, Intent, Uncertain } from '../domain/group-state.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import { type ObservedGroup, type UserChange, type View, withUnwanted } from '../domain/view.ts';
import { marksAfter } from './draft.ts';
import { foldName, renamedTo } from './names.ts';

export type UncertainWrites = Omit<Uncertain, 'change'> & { readonly change: UserChange };

export const NO_CHANGE: UserChange = { added: new Set(), removed: new Set() };
export const NOTHING_SENT: Uncertain['sent'] = eachField(() => []);

type Users = Pick<View, 'users' | 'hidden'> | undefined;

/** Returns the user changes between two views. An undefined view stands for a missing group. */
export function changeBetween(before: Users, after: Users): UserChange {
  const [old, now] = [before?.users, after?.users];
  return {
    added: new Set([...(now?.keys() ?? [])].filter((user) => !old?.has(user))),
    removed: new Set(
      [...(old?.keys() ?? []), ...(before?.hidden?.keys() ?? [])].filter(
        (user) => !now?.has(user) && !after?.hidden?.has(user),
      ),
    ),
  };
}

/** Returns the view of an existing group after a change; undefined after a deletion. */
export function changedView(base: View, intent: Intent, { added, removed }: UserChange = NO_CHANGE) {
  if (intent.action === 'delete') return undefined;
  const { alias, hidden = new Map(), ...others } = base;
  const stay = [...base.users].filter(([user]) => !removed.has(user));
  const users = new Map([...stay, ...[...added].map((user) => [user, true] as const)]);
  const stillHidden = [...hidden].filter(([user]) => !added.has(user) && !removed.has(user));
  return {
    ...others,
    ...(base.name === intent.name && alias !== undefined && { alias }),
    ...(stillHidden.length > 0 && { hidden: new Map(stillHidden) }),
    ...fieldsOf(intent),
    users,
  };
}

/** Merges two changes. Returns `one` itself if `other` adds nothing. */
function mergeChanges(one: UserChange, other: UserChange): UserChange {
  const hasNews =
    [...other.added].some((user) => !one.added.has(user)) ||
    [...other.removed].some((user) => !one.removed.has(user));
  if (!hasNews) return one;
  return {
    added: new Set([...one.added, ...other.added]),
    removed: new Set([...one.removed, ...other.removed]),
  };
}

/** Returns the record of one write. The guard keeps `removals` reserved. */
export function uncertainWrite(
  { reserved: _, consumes: __, ...intent }: Intent,
  change: UserChange,
  how: Pick<Uncertain, 'untilMs' | 'removals' | 'consumes' | 'isAnswered'>,
): UncertainWrites {
  if (intent.action === 'delete') return { deletion: intent, sent: NOTHING_SENT, change: NO_CHANGE, ...how };
  const sent = eachField((field) => [intent[field]].filter((value) => value != null));
  return { write: intent, sent, change, ...how };
}

/**
 * Merges the records of earlier and later writes. The result explains every change that `earlier` or `later` explains,
 * and lasts until the later deadline. The result keeps the larger guard record, because only one of two writes from the
 * same version can succeed.
 */
export function mergeUncertain(earlier: UncertainWrites, later: UncertainWrites): UncertainWrites {
  const write = later.write ?? earlier.write;
  const deletion = laterDeletion(earlier.deletion, later.deletion);
  const removals = largerRecord(earlier.removals, later.removals);
  const consumes = [...(earlier.consumes ?? []), ...(later.consumes ?? [])];
  return {
    ...(write && { write }),
    ...(deletion && { deletion }),
    sent: eachField((field) => [...new Set([...earlier.sent[field], ...later.sent[field]])]),
    change: mergeChanges(earlier.change, later.change),
    untilMs: Math.max(earlier.untilMs, later.untilMs),
    ...(removals && { removals }),
    ...(consumes.length > 0 && { consumes: [...new Set(consumes)] }),
    ...(earlier.isAnswered && later.isAnswered && { isAnswered: true }),
  };
}

/**
 * Returns the later deletion. If `later` has no count of DELETEs without effect, it keeps the count of an earlier
 * deletion of the same platform group.
 */
function laterDeletion(earlier: Intent | undefined, later: Intent | undefined): Intent | undefined {
  if (later === undefined) return earlier;
  const isSame = earlier?.platformId === later.platformId;
  if (later.tries !== undefined || earlier?.tries === undefined || !isSame) return later;
  return { ...later, tries: earlier.tries };
}

const largerRecord = (one: GuardRecord | undefined, other: GuardRecord | undefined) =>
  other === undefined || (one !== undefined && one.removals >= other.removals) ? one : other;

/**
 * Returns the record after a change of the group's view. An uncertain write may have sent the whole list of users. If
 * such a write takes effect late, it undoes the changes that were made later. Hidden users of the new view count as
 * present, because they may be in the group:
 *
 *   view [a] ── uncertain: [a b] ──▶ view [a c] ── the write takes effect ──▶ [a b]: b may be added, c may be removed
 */
export const rebasedRecord = (
  record: UncertainWrites,
  before: View | undefined,
  after: View,
): UncertainWrites =>
  before === undefined
    ? record
    : {
        ...record,
        change: mergeChanges(record.change, changeBetween(withUnwanted(after, undefined), before)),
      };

/** The parts of an observed group that the uncertain writes may have made. */
export interface LateWrites {
  /** The fields that these writes may have set, and the users that they may have added. */
  readonly view: View;
  readonly removed: ReadonlySet<PlatformUserId>;
}

export function lateWrites(
  { sent }: Uncertain,
  { added, removed }: UserChange,
  observed: ObservedGroup,
  base: View | undefined,
): LateWrites {
  // The platform may have stored the name in another form.
  const isSent = (name: string) => base?.name !== name && foldName(name) === foldName(observed.name);
  const written = (field: GroupField) => sent[field].find((one) => isSameValue(field, observed[field], one));
  const name = written('name') ?? sent.name.find(isSent);
  const view = {
    ...fieldsFrom((field) => written(field) ?? base?.[field]),
    ...(name !== undefined && { name }),
    users: new Map([...added].map((user) => [user, true])),
    ...(base && marksAfter(base, base.users, undefined)),
  };
  return { view: name === undefined ? view : renamedTo(view, observed), removed };
}

/** Returns a deletion of the linked group that may still take effect, because a DELETE has no version token. */
export const uncertainDeletion = ({ uncertain, link }: GroupState): Intent | undefined =>
  uncertain?.deletion?.platformId === link?.id ? uncertain?.deletion : undefined;

/** The fields of `Views` for a group without an open intent and without uncertain writes. */
export const NO_WRITES = { prepared: undefined, created: undefined, uncertain: undefined };
