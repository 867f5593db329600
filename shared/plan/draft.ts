import type { ConnectionSettings, Mode } from '../contract/settings.ts';
import type { GroupField, WrittenFields } from '../domain/group-fields.ts';
import { FIELD_NAMES, fieldsFrom, GROUP_FIELDS } from '../domain/group-fields.ts';
import type { MemberId, PlatformUserId } from '../domain/ids.ts';
import { type View, WHOLE_GROUP, wantedBefore } from '../domain/view.ts';
import { fieldMatches } from './names.ts';
import { compareText, NO_PLAN, type Plan, type PlanAction, type PlanChange, sortChanges } from './plan.ts';
import { isPersonal, type RemovalCause, removalText, type WhyNot } from './removal-cause.ts';

export interface WantedGroup extends WrittenFields {
  readonly users: ReadonlyMap<PlatformUserId, MemberId>;
}

export interface DraftInput extends Pick<ConnectionSettings, 'onGroupDeleted'> {
  readonly mode: Mode;
  /** The wanted group; undefined if the directory does not have the group. */
  readonly wanted: WantedGroup | undefined;
  /** The last known view of the linked platform group; undefined if there is no linked group. */
  readonly current: View | undefined;
  /** Whether to send the whole group (PUT). A PUT follows an adoption or an external change. */
  readonly whole: boolean;
  /** Users that the write must not remove now. */
  readonly held: ReadonlySet<PlatformUserId>;
  readonly isDeletionHeld?: boolean | undefined;
  /** Users that a later write adds, because the platform refused a write that contained them. */
  readonly isolated?: ReadonlySet<PlatformUserId> | undefined;
  /** Fields that this write does not change: refused, in use by another group, or to be tried later. */
  readonly withheld?: ReadonlySet<GroupField> | undefined;
  /** Users of blocked people. No policy and no hold keeps them in the group. */
  readonly blocked?: ReadonlySet<PlatformUserId> | undefined;
  /** Whether the registers of the group may be outdated, because the table was restored (`isRestated`). */
  readonly isUnrestated?: boolean | undefined;
  readonly whyNot: ReadonlyMap<PlatformUserId, WhyNot>;
}

/**
 * Returns the write that makes the platform group equal to the wanted group. The changes are sorted, so `plan` prints
 * exactly the request that apply sends. In the mode `report`, the plan is shown and not written.
 */
export function draftPlan(input: DraftInput): Plan {
  const { current, mode } = input;
  const wanted = input.wanted && withoutIsolated(provenOf(input.wanted, input), input);
  if (current === undefined)
    return wanted === undefined || input.isUnrestated ? NO_PLAN(undefined) : planCreation(wanted, mode);
  if (wanted === undefined && mode === 'report') return NO_PLAN(current);
  const plan = wanted === undefined ? planDeparture(input, current) : planUpdate(input, wanted, current);
  const { after, ...others } = withoutBlocked(plan, input);
  return { ...others, after: after && { ...after, ...wantedBefore([current], after.users) } };
}

/** Also removes the blocked users that the plan leaves in the group. */
function withoutBlocked(plan: Plan, input: DraftInput): Plan {
  const { blocked } = input;
  const { after, action, changes, removals } = plan;
  const left = [...(after?.users.keys() ?? [])].filter((user) => blocked?.has(user));
  if (after === undefined || left.length === 0) return plan;
  const users = new Map([...after.users].filter(([user]) => !blocked?.has(user)));
  const unkept = left.map((user) => removed(user, whyRemoved(user, input)));
  return {
    ...plan,
    action: action === 'none' ? 'patch' : action,
    changes: sortChanges([...changes, ...unkept]),
    after: { ...after, users },
    removals: [...removals, ...left].sort(compareText),
  };
}

/** Returns why a user leaves the group if no register explains it. */
export const causeByMark = (user: PlatformUserId, view: View | undefined): RemovalCause =>
  view?.users.get(user) === false ? 'drift' : 'rebound';

/**
 * Returns why a user leaves the group. A block comes before other causes, because it is why the guard does not judge the
 * removal. An adoption and a change of the mode come next, because they are why the removal waits.
 */
export function whyRemoved(
  user: PlatformUserId,
  { blocked, whyNot, current, wanted }: Pick<DraftInput, 'blocked' | 'whyNot' | 'current' | 'wanted'>,
): WhyNot {
  const unknown: WhyNot = { member: null, cause: causeByMark(user, current) };
  const { member, ...own } = whyNot.get(user) ?? unknown;
  if (blocked?.has(user)) return { member, cause: 'blocked' };
  const known = wanted === undefined && !isPersonal(own.cause) ? ({ cause: 'group_deleted' } as const) : own;
  const waits = current?.waits?.get(user);
  return waits === undefined
    ? { member, ...known }
    : { member, cause: waits, detail: removalText(known.cause, own.detail), event: own.event };
}

function withoutIsolated(wanted: WantedGroup, { isolated, current }: DraftInput): WantedGroup {
  if (isolated === undefined || isolated.size === 0) return wanted;
  const mayBeSent = (user: PlatformUserId) => !isolated.has(user) || current?.users.has(user) === true;
  return { ...wanted, users: new Map([...wanted.users].filter(([user]) => mayBeSent(user))) };
}

/** Without complete registers, the group keeps its fields and gets no new member. */
function provenOf(wanted: WantedGroup, { isUnrestated, current }: DraftInput): WantedGroup {
  if (isUnrestated !== true || current === undefined) return wanted;
  const users = [...wanted.users].filter(([user]) => current.users.has(user));
  return { ...wanted, ...fieldsFrom((field) => current[field]), users: new Map(users) };
}

function planCreation(wanted: WantedGroup, mode: Mode): Plan {
  const reason = 'the directory has this group, the platform does not';
  const additions = [...wanted.users].map(([user, member]) => added(user, member));
  return {
    action: 'create',
    changes: sortChanges([{ kind: 'create_group', before: null, after: wanted.name, reason }, ...additions]),
    after: {
      ...wanted,
      users: new Map([...wanted.users.keys()].map((user) => [user, true])),
      ...asMode(mode),
    },
    removals: [],
    departs: false,
  };
}

export const asMode = (mode: Mode): Pick<View, 'mode'> => (mode === 'authoritative' ? {} : { mode });

export const releasesDeleted = (given: Pick<DraftInput, 'mode' | 'onGroupDeleted'>): boolean =>
  given.mode === 'additive' || given.onGroupDeleted === 'release';

/**
 * Plans what happens to the platform group of a deleted directory group. A release first removes the users that the
 * directory has wanted, so that no person keeps access by accident. While one of these removals is held, the link stays.
 */
function planDeparture(input: DraftInput, current: View): Plan {
  if (releasesDeleted(input)) return planRelease(input, current);
  if (input.isDeletionHeld) return planLeavers(input, current);
  const everybody = [...current.users.keys()].sort(compareText);
  return {
    action: 'delete',
    changes: [
      { kind: 'delete_group', before: current.name, after: null, reason: removalText('group_deleted') },
    ],
    after: undefined,
    removals: everybody,
    departs: true,
  };
}

/** While the deletion of the group is held, only people who ended or are suspended leave the group. */
function planLeavers(input: DraftInput, current: View): Plan {
  const { held, whyNot, blocked } = input;
  const leaves = (user: PlatformUserId) =>
    isPersonal(whyNot.get(user)?.cause) && !held.has(user) && blocked?.has(user) !== true;
  const removals = [...current.users.keys()].filter(leaves).sort(compareText);
  if (removals.length === 0) return NO_PLAN(current);
  return {
    action: 'patch',
    changes: sortChanges(removals.map((user) => removed(user, whyRemoved(user, input)))),
    after: { ...current, users: new Map([...current.users].filter(([user]) => !leaves(user))) },
    removals,
    departs: false,
  };
}

function planRelease(input: DraftInput, current: View): Plan {
  const { held, blocked } = input;
  const leaving = [...current.users].filter(([user, isMarked]) => isMarked || blocked?.has(user));
  if (leaving.length === 0)
    return { action: 'release', changes: [], after: undefined, removals: [], departs: true };
  const stays = (user: PlatformUserId) => held.has(user) || blocked?.has(user) === true;
  const users = new Map([...current.users].filter(([user, isMarked]) => !isMarked || stays(user)));
  const removals = [...current.users.keys()].filter((user) => !users.has(user)).sort(compareText);
  return {
    action: removals.length === 0 ? 'none' : 'patch',
    changes: removals.map((user) => removed(user, whyRemoved(user, input))),
    after: { ...current, users },
    removals,
    departs: true,
  };
}

function updateAction(changes: readonly PlanChange[], isWhole: boolean): PlanAction {
  if (changes.length === 0) return 'none';
  return isWhole ? 'put' : 'patch';
}

function planUpdate(input: DraftInput, directory: WantedGroup, current: View): Plan {
  const wanted = { ...asAllowed(directory, current, input), users: directory.users };
  const users = mergeUsers({
    wanted: new Set(wanted.users.keys()),
    current: current.users,
    mode: input.mode,
    keep: (user) => input.held.has(user) || (input.isUnrestated === true && !input.whyNot.has(user)),
  });
  const removals = [...current.users.keys()].filter((user) => !users.has(user)).sort(compareText);
  const changes = [
    ...fieldChanges(wanted, current),
    ...[...users.keys()]
      .filter((user) => !current.users.has(user))
      .map((user) => added(user, wanted.users.get(user) ?? null)),
    ...removals.map((user) => removed(user, whyRemoved(user, input))),
  ];
  const isWhole = input.whole && wanted.spokeId !== null && !input.withheld?.size;
  return {
    action: updateAction(changes, isWhole),
    changes: sortChanges(changes),
    after: {
      ...wanted,
      ...namesAfter(wanted, current),
      users,
      ...marksAfter(current, users, wanted.users),
    },
    removals,
    departs: false,
  };
}

/** Returns the wanted fields. Fields without a wanted value, and fields that this write must not change, stay. */
function asAllowed(wanted: WantedGroup, current: View, { withheld }: DraftInput): WrittenFields {
  const isKept = (field: GroupField) => wanted[field] == null || withheld?.has(field) === true;
  return fieldsFrom((field) => (isKept(field) ? current : wanted)[field]);
}

/**
 * Returns the mode and the waiting removals of the view. A removal no longer waits if the directory wants the user, and
 * a deletion no longer waits if the directory has the group.
 * @param wanted the wanted users; undefined if the directory does not have the group, or if this is not known
 */
export function marksAfter(
  { mode, waits = new Map() }: View,
  there: ReadonlyMap<PlatformUserId, unknown>,
  wanted: ReadonlyMap<PlatformUserId, unknown> | undefined,
): Pick<View, 'mode' | 'waits'> {
  const stillWaits = (user: PlatformUserId) =>
    user === WHOLE_GROUP ? wanted === undefined : there.has(user) && wanted?.has(user) !== true;
  const left = [...waits].filter(([user]) => stillWaits(user));
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(left.length === 0 ? {} : { waits: new Map(left) }),
  };
}

/** Returns the names after the write. If the platform shows a normalised form of the wanted name, the name stays. */
function namesAfter(wanted: WrittenFields, current: View): Pick<View, 'name' | 'alias'> {
  const { name, alias } = current;
  if (!fieldMatches(current, 'name', wanted.name)) return { name: wanted.name };
  return alias === undefined ? { name } : { name, alias };
}

const fieldChanges = (wanted: WrittenFields, current: View): readonly PlanChange[] =>
  FIELD_NAMES.flatMap((field) => {
    const { change: kind, reason } = GROUP_FIELDS[field];
    const after = wanted[field];
    return after == null || fieldMatches(current, field, after)
      ? []
      : [{ kind, before: current[field] ?? null, after, reason }];
  });

export const added = (user: PlatformUserId, member: MemberId | null): PlanChange => ({
  kind: 'add_member',
  member,
  before: null,
  after: user,
  reason: 'the directory has them in this group',
});

export const removed = (user: PlatformUserId, { member, cause, detail }: WhyNot): PlanChange => ({
  kind: 'remove_member',
  member,
  before: user,
  after: null,
  reason: removalText(cause, detail),
});

export interface MergeInput {
  readonly mode: Mode;
  readonly wanted: ReadonlySet<PlatformUserId>;
  /** Users in the group on the platform; `true` if the directory has wanted them at any time since the link. */
  readonly current: ReadonlyMap<PlatformUserId, boolean>;
  /** Whether a user must stay, because the removal is held. */
  readonly keep: (user: PlatformUserId) => boolean;
}

/**
 * Returns the users of the group after the write; `true` for users that the directory has wanted since the link
 * ("marked"). In the table, "there" means in the platform group:
 *
 *     wanted | there | marked | authoritative   | additive
 *     -------|-------|--------|-----------------|---------------------------------
 *      yes   |  no   |   –    | add, marked     | add, marked
 *      yes   |  yes  | yes/no | stays, marked   | stays, marked
 *      no    |  yes  |  yes   | remove          | remove
 *      no    |  yes  |  no    | remove          | stays
 *
 * If `keep` returns true, the user stays instead of being removed.
 */
export function mergeUsers({ wanted, current, mode, keep }: MergeInput): Map<PlatformUserId, boolean> {
  const merged = new Map<PlatformUserId, boolean>();
  for (const [user, isMarked] of current) {
    if (wanted.has(user)) merged.set(user, true);
    else if ((mode === 'additive' && !isMarked) || keep(user)) merged.set(user, isMarked);
  }
  for (const user of wanted) if (!merged.has(user)) merged.set(user, true);
  return merged;
}
