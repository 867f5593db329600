import type { DirectoryChange, Member } from '../../domain/event.ts';
import { groupFloor, type MemberRegister, memberCounts, NO_GROUP } from '../../domain/group.ts';
import { type GroupId, type GroupRef, groupId, type MemberId, memberId } from '../../domain/ids.ts';
import { nestedGroup } from '../../domain/nesting.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import { isRestated } from '../../plan/restore.ts';
import type { ScimResource } from '../ports.ts';
import type { MemberChange } from '../protocol/patch/members.ts';
import type { ScimContext } from './context.ts';
import { isEnded, stampOf } from './record.ts';

/**
 * A replacement with a list of at most this size is always written as a snapshot. A longer list is written as a
 * snapshot only if another write is open, or if at least as many members change as the list contains.
 */
const RESTATED_SIZE = 100;
/**
 * Providers usually send at most this many members in one operation. For an operation with more members, the request
 * first reads which of them the group already lists.
 */
const LOOKED_UP_SIZE = 1_000;

/**
 * Returns the members that a group lists: the present registers that are not older than its floor. The list contains
 * deactivated users too, because the client requested them. Apply adds such a user only while the account is active.
 */
export async function listedMembers(group: GroupId, { ports, connection }: ScimContext) {
  const ref = { connection, group };
  // The floor is read before the members. A floor that is read after the members could belong to a later list, and
  // would hide members of the earlier list.
  const floor = await readFloor(ref, ports);
  return listedOf(await ports.scim.memberships(ref), floor);
}

/** Returns the members of `members` that the group lists. It reads only their registers. */
export async function listedAmong(
  group: GroupId,
  members: readonly MemberId[],
  { ports, connection }: ScimContext,
): Promise<ReadonlySet<MemberId>> {
  const ref = { connection, group };
  const [floor, registers] = await Promise.all([readFloor(ref, ports), ports.groups.registers(ref, members)]);
  return new Set(listedOf(registers, floor));
}

export const listedOf = (registers: readonly MemberRegister[], floor: Stamp): readonly MemberId[] =>
  registers.filter((register) => memberCounts(register, floor, STAMP_ZERO)).map(({ member }) => member);

export async function readFloor(ref: GroupRef, { groups }: Pick<ScimContext['ports'], 'groups'>) {
  return groupFloor((await groups.read(ref))?.registers ?? NO_GROUP);
}

/**
 * Returns whether a change of members has no effect: the list already has the added members, and lacks the removed
 * members. It first reads a single member, because this member usually shows that the list must change.
 */
export async function isAlreadyListed(
  group: GroupId,
  { present, absent }: MemberChange,
  context: ScimContext,
): Promise<boolean> {
  const [first, ...others] = [...present, ...absent].map(memberId);
  for (const some of [first === undefined ? [] : [first], others]) {
    if (some.length === 0) continue;
    const listed = await listedAmong(group, some, context);
    if (some.some((member) => listed.has(member) !== present.has(member))) return false;
  }
  return true;
}

/**
 * Returns the change without deleted users. Providers send groups and users concurrently and repeat requests, so a
 * request may contain deleted users. Only a POST creates a user, and always with a new id. So a deleted id never
 * becomes valid again. Stale members are reported with `noteStale`.
 * @param newcomers the members of the change that the group may not list yet
 * @returns the same object as `change` if it has no deleted user
 */
export async function withoutDeleted(
  group: GroupId,
  change: MemberChange,
  newcomers: Iterable<string>,
  context: ScimContext,
): Promise<MemberChange> {
  const users = [...newcomers].filter((id) => nestedGroup(id) === undefined);
  const stale = await staleAmong(group, users, context);
  if (stale.deleted.length + stale.unknown.length > 0) context.noteStale(stale);
  if (stale.deleted.length === 0) return change;
  const deleted = new Set(stale.deleted);
  return { ...change, present: new Set([...change.present].filter((id) => !deleted.has(id))) };
}

async function staleAmong(group: GroupId, ids: readonly string[], { ports, connection }: ScimContext) {
  const found = ids.length === 0 ? [] : await ports.scim.read(connection, 'User', ids);
  const live = new Set(found.filter(({ state }) => state === 'live').map(({ id }) => id));
  const deleting = new Set(found.filter(({ state }) => state === 'deleting').map(({ id }) => id));
  const missing = ids.filter((id) => !live.has(id));
  const users = missing.length === 0 ? new Map() : await ports.users.read(connection, missing.map(memberId));
  const isDeleted = (id: string) => {
    const user = users.get(memberId(id));
    return deleting.has(id) || (user !== undefined && isEnded(user));
  };
  // If no SCIM client has created the user, events may have described the user.
  const isUnknown = (id: string) => (users.get(memberId(id))?.attributes.size ?? 0) === 0;
  const deleted = missing.filter(isDeleted);
  return { group, deleted, unknown: missing.filter((id) => !isDeleted(id) && isUnknown(id)) };
}

/** Adds the members of a new group before the group is visible. They take effect when the group itself is recorded. */
export async function addFirstMembers(
  resource: ScimResource,
  ids: readonly string[],
  { ports, connection, actor }: ScimContext,
): Promise<void> {
  const register = { value: 'present', stamp: stampOf(resource), actor } as const;
  const entries = ids.map((id) => ({ member: memberId(id), register }));
  await ports.desired.joinNew({ connection, group: groupId(resource.id) }, entries, ports.clock());
}

/**
 * Returns the events for a change of members. A whole list becomes a snapshot, which ends all other memberships. If few
 * members of a large list change, the events contain only the difference to the current list.
 * @param isAlone whether all earlier writes of members have ended, so that the current list contains their results.
 * Later writes make no difference, because their registers have later stamps
 */
export async function membershipChanges(
  group: GroupId,
  { emptied, present, absent }: MemberChange,
  {
    context,
    isAlone,
    current,
  }: {
    readonly context: ScimContext;
    readonly isAlone: boolean;
    /** The list before the replacement, read after the write began; undefined if it must be read here. */
    readonly current: readonly string[] | undefined;
  },
): Promise<readonly DirectoryChange[]> {
  if (!emptied) {
    const joined = isAlone ? await membersToAdd(group, present, context) : present;
    return difference(group, joined, absent);
  }
  const snapshot: DirectoryChange = { kind: 'group.snapshot', group, members: asMembers(present) };
  if (present.size <= RESTATED_SIZE || !isAlone || (await mustRestate(group, context))) return [snapshot];
  const listed: ReadonlySet<string> = new Set(current ?? (await listedMembers(group, context)));
  const joined = [...present].filter((id) => !listed.has(id));
  const left = [...listed].filter((id) => !present.has(id));
  if (joined.length + left.length >= present.size) return [snapshot];
  return difference(group, joined, left);
}

/** Whether the list must be written whole, because the table was restored since the last whole list. */
async function mustRestate(group: GroupId, { ports, connection }: ScimContext): Promise<boolean> {
  const restoredAtMs = (await ports.connections.find(connection))?.restoredAtMs;
  if (restoredAtMs === undefined) return false;
  const state = await ports.groups.read({ connection, group });
  return state === undefined || !isRestated(state, restoredAtMs);
}

/**
 * Returns the new members that the group does not list yet. A small set is returned unchanged, without a read. A client
 * repeats a large request after a time-out, and each repetition then writes only the missing members.
 */
async function membersToAdd(group: GroupId, present: ReadonlySet<string>, context: ScimContext) {
  if (present.size <= LOOKED_UP_SIZE) return present;
  const listed: ReadonlySet<string> = await listedAmong(group, [...present].map(memberId), context);
  return [...present].filter((id) => !listed.has(id));
}

const difference = (group: GroupId, joined: Iterable<string>, left: Iterable<string>) => {
  const changes = [
    { kind: 'member.added', group, members: asMembers(joined) } as const,
    { kind: 'member.removed', group, members: asMembers(left) } as const,
  ];
  return changes.filter(({ members }) => members.length > 0);
};

export const asMembers = (ids: Iterable<string>): readonly Member[] =>
  [...ids].map((id) => ({ id: memberId(id), attributes: new Map() }));
