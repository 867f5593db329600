import { exclusionOf, type PeopleSettings } from '../contract/exclusion.ts';
import type { ConnectionSettings } from '../contract/settings.ts';
import { isActive } from '../domain/active.ts';
import { type Author, type GroupRegisters, groupExists, groupFloor, memberCounts } from '../domain/group.ts';
import type { GroupState, StoredMember } from '../domain/group-state.ts';
import { type MemberId, type PlatformUserId, platformUserId } from '../domain/ids.ts';
import type { Register } from '../domain/register.ts';
import { isOfUndo } from '../domain/source.ts';
import { laterStamp, STAMP_ZERO, type Stamp, stampAt } from '../domain/stamp.ts';
import type { WaitCause } from '../domain/view.ts';
import type { PersonSettings } from './person.ts';
import { compareText } from './plan.ts';

/**
 * `guard`: the guard judges the removal, and the removal waits if others of the group wait. `alone`: the guard judges it,
 * and it does not wait for others. `always`: it waits. `never`: no hold stops it.
 */
type Waits = 'guard' | 'alone' | 'always' | 'never';

/**
 * Whose event removes the user: only the sender of this event may have caused the removal. `actions`: each person whose
 * earlier actions may remove members (`plan/approval.ts`).
 */
type Authors = 'group' | 'snapshot' | 'member' | 'user' | 'actions';

const rule = <Wait extends Waits>(text: string, waits: Wait, authors: Authors) => ({ text, waits, authors });

/** The closed list of the causes for which a user must not be in a group, with the text that each page shows. */
const CAUSES = {
  group_deleted: rule('the directory deleted this group', 'guard', 'group'),
  removed: rule('the directory took them out of the group', 'guard', 'member'),
  not_in_snapshot: rule('a later snapshot of the group does not list them', 'guard', 'snapshot'),
  undone: rule('an undo took them out of the group', 'guard', 'member'),
  not_in_undo: rule('an undo took them out of the group', 'guard', 'snapshot'),
  inner_group: rule('no group within the group has them any more', 'guard', 'member'),
  user_deleted: rule('the directory deleted this user', 'guard', 'user'),
  suspended: rule(
    'the directory has switched their account off; the membership counts again when it is switched on',
    'alone',
    'actions',
  ),
  excluded: rule('the setting people.exclude leaves this person out of every group', 'guard', 'actions'),
  ended: rule('their employment has ended', 'alone', 'actions'),
  gone: rule('the platform no longer has this employee', 'alone', 'actions'),
  include_states: rule('the setting includeStates does not contain their roleState', 'alone', 'actions'),
  nested: rule('the setting nested no longer includes the groups within the group', 'guard', 'actions'),
  ambiguous: rule(
    'their attributes match several employees, or another employee than before',
    'guard',
    'actions',
  ),
  unknown_person: rule(
    'groupsync does not know the employee to which the member is bound',
    'guard',
    'actions',
  ),
  rebound: rule(
    'the member that was this user is now another employee, was erased, or belongs to an earlier source',
    'guard',
    'actions',
  ),
  drift: rule('another client added them, and the directory never had them in the group', 'guard', 'actions'),
  blocked: rule('an operator blocked this person', 'never', 'actions'),
  adoption: rule(
    'they were in the group when a person adopted it, and the directory has not wanted them since',
    'always',
    'actions',
  ),
  mode: rule('a change of the mode made this removal possible', 'always', 'actions'),
  no_member: rule('no member of the group in the directory is this user', 'guard', 'actions'),
} satisfies Readonly<Record<WaitCause, { readonly waits: 'always' }>> & Readonly<Record<string, object>>;

export type RemovalCause = keyof typeof CAUSES;

/** Whether the removal is the end or the suspension of a person, which does not wait with other removals. */
export const isPersonal = (cause: RemovalCause | undefined): boolean =>
  cause !== undefined && CAUSES[cause].waits === 'alone';

/** @param detail the value that decided, such as the roleState */
export const removalText = (cause: RemovalCause, detail?: string): string =>
  detail === undefined ? CAUSES[cause].text : `${CAUSES[cause].text} (${detail})`;

/** The event that removes a user, with its sender if known. */
export interface RemovalEvent {
  readonly stamp: Stamp;
  readonly author?: Author | undefined;
}

/** Returns the event that removes a user; undefined if the cause is no event, or its event is not stored. */
export function removalEvent(
  cause: RemovalCause,
  group: GroupRegisters,
  register?: Pick<StoredMember, 'stamp' | 'actor' | 'author'>,
  user?: { readonly floor: Stamp; readonly author?: Author | undefined },
): RemovalEvent | undefined {
  switch (CAUSES[cause].authors) {
    case 'group':
      return { stamp: group.deleted, author: group.author };
    case 'snapshot':
      return { stamp: groupFloor(group), author: group.author };
    case 'member':
      return register && { stamp: register.stamp, author: register.author ?? authorOf(register) };
    case 'user':
      return user && { stamp: user.floor, author: user.author };
    default:
      return undefined;
  }
}

const authorOf = ({ stamp, actor }: Pick<StoredMember, 'stamp' | 'actor'>): Author | undefined =>
  actor && { stamp, actor };

export const causeOfState = (roleState: string): RemovalCause =>
  roleState === 'TERMINATED' ? 'ended' : 'include_states';

/** Why a user must not be in the group. `member` is null if no member of the directory is this user. */
export interface WhyNot {
  readonly member: MemberId | null;
  readonly cause: RemovalCause;
  readonly detail?: string;
  /** The event that removes the user, if known. */
  readonly event?: RemovalEvent | undefined;
}

export type CauseDetail = Pick<WhyNot, 'cause' | 'detail'>;

/**
 * Returns why no membership of a user counts now; undefined if memberships count. A suspension comes first, because its
 * removals do not wait.
 */
export function whyUncounted(
  attributes: ReadonlyMap<string, Register<string>>,
  settings: PeopleSettings,
): CauseDetail | undefined {
  if (!isActive(attributes)) return { cause: 'suspended' };
  const condition = exclusionOf(attributes, settings);
  return condition === undefined ? undefined : { cause: 'excluded', detail: condition };
}

/**
 * Returns why the directory does not have a member in the group; undefined if it has. Of several causes, the first one
 * in this order counts: the group does not exist, no register, removed, user deleted, floor of the group, and then
 * `uncounted` (`whyUncounted`).
 */
export function removalCauseOf(
  group: GroupRegisters,
  register: Pick<StoredMember, 'value' | 'stamp' | 'via'> | undefined,
  user: { readonly floor: Stamp; readonly uncounted: CauseDetail | undefined },
  { nested }: Pick<ConnectionSettings, 'nested'>,
): CauseDetail | undefined {
  if (!groupExists(group)) return { cause: 'group_deleted' };
  if (register === undefined) return { cause: 'no_member' };
  const { value, stamp, via } = register;
  const ofInner: CauseDetail = { cause: nested === 'flatten' ? 'inner_group' : 'nested' };
  if (value === 'absent') return via === undefined ? causeBy(stamp, 'removed') : ofInner;
  if (stamp <= user.floor) return { cause: 'user_deleted' };
  const isCounted = memberCounts(register, groupFloor(group), user.floor);
  if (isCounted) return user.uncounted;
  if (via !== undefined) return ofInner;
  return group.deleted > group.snapshot
    ? { cause: 'group_deleted' }
    : causeBy(group.snapshot, 'not_in_snapshot');
}

const UNDONE = { removed: 'undone', not_in_snapshot: 'not_in_undo' } as const;

const causeBy = (stamp: Stamp, cause: keyof typeof UNDONE): CauseDetail => ({
  cause: isOfUndo(stamp) ? UNDONE[cause] : cause,
});

/** The most ended memberships for which apply reads the user to name the cause of a removal. */
const MAX_ENDED = 500;

/** Returns the registers of the members that have left the group, the latest first. */
export function endedMembers(
  group: GroupRegisters,
  registers: readonly StoredMember[],
  userFloors: ReadonlyMap<MemberId, Stamp>,
  most = MAX_ENDED,
): readonly StoredMember[] {
  const floor = groupFloor(group);
  const endOf = ({ member, value, stamp }: StoredMember): Stamp =>
    value === 'absent' ? stamp : laterStamp(floor, userFloors.get(member) ?? STAMP_ZERO);
  return registers
    .filter((one) => !memberCounts(one, floor, userFloors.get(one.member) ?? STAMP_ZERO))
    .toSorted((a, b) => compareText(endOf(b), endOf(a)))
    .slice(0, most);
}

/**
 * Returns a function that returns the latest known stamp at which the source of the group wanted a member. It is the time
 * of the takeover for a membership that began before it and ended after it.
 */
export function wantedLastIn({
  movedAt = 0,
  movedFloor,
  registers,
}: Pick<GroupState, 'movedAt' | 'movedFloor' | 'registers'>): (register: StoredMember) => Stamp {
  const moved = stampAt(movedAt);
  const floor = groupFloor(registers);
  return ({ value, stamp, presentAt = STAMP_ZERO }) => {
    const wasMember = movedFloor !== undefined && presentAt !== STAMP_ZERO && presentAt >= movedFloor;
    const endedAt = value === 'absent' ? stamp : floor;
    return wasMember && endedAt > moved ? laterStamp(presentAt, moved) : presentAt;
  };
}

/** Returns the platform user of a binding, as it is stored; undefined without a binding. */
export function boundUser(
  { role, userId }: { readonly role?: string; readonly userId?: string },
  { memberIdField }: Pick<PersonSettings, 'memberIdField'>,
): PlatformUserId | undefined {
  const id = memberIdField === 'userId' ? userId : role;
  return id === undefined ? undefined : platformUserId(id);
}
