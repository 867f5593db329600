import { exclusionOf, type PeopleSettings } from '../contract/exclusion.ts';
import { isActive } from '../domain/active.ts';
import { type GroupRegisters, groupExists, groupFloor, memberCounts } from '../domain/group.ts';
import type { StoredMember } from '../domain/group-state.ts';
import { type MemberId, type PlatformUserId, platformUserId } from '../domain/ids.ts';
import type { Register } from '../domain/register.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import type { PersonSettings } from './person.ts';
import { compareText } from './plan.ts';

/** The causes for which a user must not be in a group. Plan, audit, holds and `explain` show the same text. */
const TEXTS = {
  group_deleted: 'the directory deleted this group',
  removed: 'the directory took them out of the group',
  not_in_snapshot: 'a later snapshot of the group does not list them',
  inner_group: 'no group within the group has them any more',
  user_deleted: 'the directory deleted this user',
  suspended:
    'the directory has switched their account off; the membership counts again when it is switched on',
  excluded: 'the setting people.exclude leaves this person out of every group',
  ended: 'the setting includeStates does not contain their roleState',
  gone: 'the platform no longer has this employee',
  ambiguous: 'their attributes match several employees, or another employee than before',
  unknown_person: 'groupsync does not know the employee to which the member is bound',
  blocked: 'an operator blocked this person',
  adoption: 'they were in the group when a person adopted it, and the directory has not wanted them since',
  mode: 'a change of the mode made this removal possible',
  no_member: 'no member of the group in the directory is this user',
  no_event: 'the directory has the member, but the person may not be a member now',
} as const;

type RemovalCause = keyof typeof TEXTS;

/** The end or the suspension of a person. Such a removal does not wait with the other removals of the group. */
const PERSONAL: ReadonlySet<RemovalCause | undefined> = new Set(['suspended', 'ended', 'gone'] as const);

export const isPersonal = (cause: RemovalCause | undefined): boolean => PERSONAL.has(cause);

/** @param detail the value that decided, such as the roleState */
export const removalText = (cause: RemovalCause, detail?: string): string =>
  detail === undefined ? TEXTS[cause] : `${TEXTS[cause]} (${detail})`;

/** Why a user must not be in the group. `member` is null if no member of the directory is this user. */
export interface WhyNot {
  readonly member: MemberId | null;
  readonly cause: RemovalCause;
  readonly detail?: string;
}

export type Cause = Pick<WhyNot, 'cause' | 'detail'>;

/**
 * Returns why no membership of a user counts now; undefined if memberships count. A suspension comes first, because its
 * removals do not wait.
 */
export function whyUncounted(
  attributes: ReadonlyMap<string, Register<string>>,
  settings: PeopleSettings,
): Cause | undefined {
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
  user: { readonly floor: Stamp; readonly uncounted: Cause | undefined },
): Cause | undefined {
  if (!groupExists(group)) return { cause: 'group_deleted' };
  if (register === undefined) return { cause: 'no_member' };
  const { value, stamp, via } = register;
  const left = via === undefined ? 'removed' : 'inner_group';
  if (value === 'absent') return { cause: left };
  if (stamp <= user.floor) return { cause: 'user_deleted' };
  const isCounted = memberCounts(register, groupFloor(group), user.floor);
  if (isCounted) return user.uncounted;
  if (via !== undefined) return { cause: 'inner_group' };
  return { cause: group.deleted > group.snapshot ? 'group_deleted' : 'not_in_snapshot' };
}

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

/** Returns the platform user of a binding, as it is stored; undefined without a binding. */
export function boundUser(
  { role, userId }: { readonly role?: string; readonly userId?: string },
  { memberIdField }: Pick<PersonSettings, 'memberIdField'>,
): PlatformUserId | undefined {
  const id = memberIdField === 'userId' ? userId : role;
  return id === undefined ? undefined : platformUserId(id);
}
