import type { GroupTreatment } from '../contract/group-policy.ts';
import type { ConnectionSettings } from '../contract/settings.ts';
import type { GroupField, WrittenFields } from '../domain/group-fields.ts';
import { FIELD_NAMES, fieldsFrom, GROUP_FIELDS } from '../domain/group-fields.ts';
import type { MemberId, PlatformUserId } from '../domain/ids.ts';
import type { AcceptedDrift, View } from '../domain/view.ts';
import { fieldMatches } from './names.ts';
import { compareText, NO_PLAN, type Plan, type PlanAction, type PlanChange, sortChanges } from './plan.ts';
import { removalText, type WhyNot } from './removal-cause.ts';

/** The content that a directory group should have on the platform. */
export interface WantedGroup extends WrittenFields {
  /** The users that the group should have, each with its directory member. */
  readonly users: ReadonlyMap<PlatformUserId, MemberId>;
}

export interface DraftInput
  extends Pick<ConnectionSettings, 'membership' | 'onGroupDeleted'>,
    Pick<GroupTreatment, 'mode'> {
  /** The wanted group; undefined if the directory does not have the group. */
  readonly wanted: WantedGroup | undefined;
  /** The last known view of the linked platform group; undefined if there is no linked group. */
  readonly current: View | undefined;
  /** Whether to send the whole group (PUT). A PUT follows an adoption or an external change. */
  readonly whole: boolean;
  /** Users that the write must not remove now. */
  readonly held: ReadonlySet<PlatformUserId>;
  /**
   * Whether the deletion of the group is held. For a group with users, `held` already shows this. A group without users
   * has no held removals.
   */
  readonly isDeletionHeld?: boolean | undefined;
  /** Users that a later write adds, because the platform refused a write that contained them. */
  readonly excluded?: ReadonlySet<PlatformUserId> | undefined;
  /** Fields that this write does not change: refused, in use by another group, or to be tried later. */
  readonly fixed?: ReadonlySet<GroupField> | undefined;
  /** Users of blocked people. No policy and no hold keeps them in the group. */
  readonly blocked?: ReadonlySet<PlatformUserId> | undefined;
  /** The accepted drift that is still valid. Its differences stay. */
  readonly acceptedDrift?: AcceptedDrift | undefined;
  /** The known causes of removals, by user. */
  readonly whyNot: ReadonlyMap<PlatformUserId, WhyNot>;
}

/**
 * Returns the write that makes the platform group equal to the wanted group. The changes are sorted, so `plan` prints
 * exactly the request that apply sends.
 */
export function draftPlan(input: DraftInput): Plan {
  const { current, mode } = input;
  const wanted = input.wanted && withoutExcluded(input.wanted, input);
  if (mode === 'report') return NO_PLAN(current);
  if (current === undefined) return wanted === undefined ? NO_PLAN(undefined) : planCreation(wanted);
  const plan = wanted === undefined ? planDeparture(input, current) : planUpdate(input, wanted, current);
  return withoutBlocked(plan, input);
}

/** Also removes the blocked users that the plan leaves in the group. */
function withoutBlocked(plan: Plan, { blocked, whyNot }: DraftInput): Plan {
  const { after, action, changes, removals } = plan;
  const left = [...(after?.users.keys() ?? [])].filter((user) => blocked?.has(user));
  if (after === undefined || left.length === 0) return plan;
  const users = new Map([...after.users].filter(([user]) => !blocked?.has(user)));
  const unkept = left.map((user) => removed(user, blockedAs(user, whyNot)));
  return {
    ...plan,
    action: action === 'none' ? 'patch' : action,
    changes: sortChanges([...changes, ...unkept]),
    after: { ...after, users },
    removals: [...removals, ...left].sort(compareText),
  };
}

const blockedAs = (user: PlatformUserId, whyNot: DraftInput['whyNot']): WhyNot | Uncaused => ({
  member: whyNot.get(user)?.member ?? null,
  cause: 'blocked',
});

/** A block comes before other causes, because it is why the guard does not judge the removal. */
const whyRemoved = (user: PlatformUserId, { blocked, whyNot }: DraftInput): WhyNot | Uncaused =>
  blocked?.has(user) ? blockedAs(user, whyNot) : (whyNot.get(user) ?? NO_MEMBER);

function withoutExcluded(wanted: WantedGroup, { excluded, current }: DraftInput): WantedGroup {
  if (excluded === undefined || excluded.size === 0) return wanted;
  const mayBeSent = (user: PlatformUserId) => !excluded.has(user) || current?.users.has(user) === true;
  return { ...wanted, users: new Map([...wanted.users].filter(([user]) => mayBeSent(user))) };
}

function planCreation(wanted: WantedGroup): Plan {
  const reason = 'the directory has this group, the platform does not';
  const additions = [...wanted.users].map(([user, member]) => added(user, member));
  return {
    action: 'create',
    changes: sortChanges([{ kind: 'create_group', before: null, after: wanted.name, reason }, ...additions]),
    after: { ...wanted, users: new Map([...wanted.users.keys()].map((user) => [user, true])) },
    removals: [],
    departs: false,
  };
}

/** Plans what happens to the platform group of a deleted directory group (`onGroupDeleted`). */
function planDeparture(input: DraftInput, current: View): Plan {
  const { mode, onGroupDeleted, held, acceptedDrift, blocked } = input;
  if (mode === 'upsertOnly') return NO_PLAN(current);
  const reason = removalText('group_deleted');
  if (onGroupDeleted === 'release') {
    // After the release, groupsync writes nothing. So blocked people are removed first (`withoutBlocked`).
    if ([...current.users.keys()].some((user) => blocked?.has(user))) return NO_PLAN(current);
    return {
      action: 'release',
      changes: [{ kind: 'release_group', before: current.name, after: null, reason }],
      after: undefined,
      removals: [],
      departs: true,
    };
  }
  const everybody = [...current.users.keys()].sort(compareText);
  if (onGroupDeleted === 'delete') {
    if (input.isDeletionHeld || everybody.some((user) => held.has(user))) return NO_PLAN(current);
    return {
      action: 'delete',
      changes: [{ kind: 'delete_group', before: current.name, after: null, reason }],
      after: undefined,
      removals: everybody,
      departs: true,
    };
  }
  const stay = new Map(
    [...current.users].filter(([user]) => held.has(user) || acceptedDrift?.present.has(user)),
  );
  const removals = everybody.filter((user) => !stay.has(user));
  return {
    action: removals.length === 0 ? 'none' : 'patch',
    changes: removals.map((user) => removed(user, { member: null, cause: 'group_deleted' })),
    after: { ...current, users: stay },
    removals,
    departs: true,
  };
}

function updateAction(changes: readonly PlanChange[], isWhole: boolean): PlanAction {
  if (changes.length === 0) return 'none';
  return isWhole ? 'put' : 'patch';
}

function planUpdate(input: DraftInput, directory: WantedGroup, current: View): Plan {
  const { acceptedDrift } = input;
  const wanted = asAllowed(directory, current, input);
  const users = mergeUsers({
    wanted: new Set(wanted.users.keys()),
    current: current.users,
    membership: input.membership,
    keep: (user) =>
      input.mode === 'upsertOnly' || input.held.has(user) || acceptedDrift?.present.has(user) === true,
  });
  const removals = [...current.users.keys()].filter((user) => !users.has(user)).sort(compareText);
  const changes = [
    ...fieldChanges(wanted, current),
    ...[...users.keys()]
      .filter((user) => !current.users.has(user))
      .map((user) => added(user, wanted.users.get(user) ?? null)),
    ...removals.map((user) => removed(user, whyRemoved(user, input))),
  ];
  // A PUT must contain a spokeId. If the drift policy accepts that the spokeId is missing, a PATCH sends only the
  // changes.
  const isWhole = input.whole && wanted.spokeId !== null && !input.fixed?.size;
  return {
    action: updateAction(changes, isWhole),
    changes: sortChanges(changes),
    after: {
      ...wanted,
      ...namesAfter(wanted, current),
      users,
      ...(acceptedDrift === undefined ? {} : { acceptedDrift }),
    },
    removals,
    departs: false,
  };
}

type Allowed = WrittenFields & Pick<WantedGroup, 'users'>;

/**
 * Returns the wanted content. Accepted drift, fields without a wanted value, and fields that this write must not change
 * keep their current value.
 */
function asAllowed(wanted: WantedGroup, current: View, { acceptedDrift, fixed }: DraftInput): Allowed {
  const isLeft = (field: GroupField) =>
    wanted[field] == null || acceptedDrift?.[field] === true || fixed?.has(field) === true;
  return {
    ...fieldsFrom((field) => (isLeft(field) ? current : wanted)[field]),
    users:
      acceptedDrift === undefined
        ? wanted.users
        : new Map([...wanted.users].filter(([user]) => !acceptedDrift.absent.has(user))),
  };
}

/** Returns the names after the write. If the platform shows a normalised form of the wanted name, the name stays. */
function namesAfter(wanted: Allowed, current: View): Pick<View, 'name' | 'alias'> {
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

const added = (user: PlatformUserId, member: MemberId | null): PlanChange => ({
  kind: 'add_member',
  member,
  before: null,
  after: user,
  reason: 'the directory has them in this group',
});

const NO_MEMBER = { member: null, cause: 'no_member' } as const;

const removed = (user: PlatformUserId, { member, cause, detail }: WhyNot | Uncaused): PlanChange => ({
  kind: 'remove_member',
  member,
  before: user,
  after: null,
  reason: removalText(cause, detail),
});

/** The cause of a removal that no member explains. */
type Uncaused = Omit<WhyNot, 'member'> & { readonly member: null };

export interface MergeInput extends Pick<ConnectionSettings, 'membership'> {
  /** Users that the directory wants in the group. */
  readonly wanted: ReadonlySet<PlatformUserId>;
  /** Users in the group on the platform; `true` if groupsync added them (the base of the three-way merge). */
  readonly current: ReadonlyMap<PlatformUserId, boolean>;
  /** Whether a user must stay, because the removal is held or a policy forbids the removal. */
  readonly keep: (user: PlatformUserId) => boolean;
}

/**
 * Returns the users of the group after the write; `true` for users that groupsync added ("mine"). In the table, "there"
 * means in the platform group, and the last two columns are the values of the setting `membership`:
 *
 *     wanted | there | mine | authoritative | additive
 *     -------|-------|------|---------------|---------------------------------
 *      yes   |  no   |  –   | add, mine     | add, mine
 *      yes   |  yes  | yes  | stays, mine   | stays, mine
 *      yes   |  yes  |  no  | stays, mine   | stays, external
 *      no    |  yes  | yes  | remove        | remove
 *      no    |  yes  |  no  | remove        | stays, external
 *
 * If `keep` returns true, the user stays instead of being removed.
 */
export function mergeUsers({ wanted, current, membership, keep }: MergeInput): Map<PlatformUserId, boolean> {
  const merged = new Map<PlatformUserId, boolean>();
  for (const [user, mine] of current) {
    if (wanted.has(user)) merged.set(user, mine || membership === 'authoritative');
    else if ((membership === 'additive' && !mine) || keep(user)) merged.set(user, mine);
  }
  for (const user of wanted) if (!merged.has(user)) merged.set(user, true);
  return merged;
}
