import pMap from 'p-map';
import type { DirectoryChange, Member } from '../../domain/event.ts';
import { groupFloor, type MemberRegister, memberCounts, NO_GROUP } from '../../domain/group.ts';
import { type GroupId, type MemberId, memberId } from '../../domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { MemberChange } from '../../scim/patch/members.ts';
import type { ScimResource } from '../ports/scim.ts';
import { WRITES_IN_FLIGHT } from '../tuning.ts';
import type { ScimContext } from './context.ts';
import { stampOf } from './record.ts';

/** A set of this size is stated anew as a whole; a larger one only where that is less than its difference. */
const RESTATED_SIZE = 100;

/**
 * Whom a group lists: members whose registers are present and not older than its floor. A user who is switched off is
 * listed too, as the client left it, though they count for nothing until they are switched on.
 */
export async function listedMembers(
  group: GroupId,
  { ports, connection }: ScimContext,
): Promise<readonly MemberId[]> {
  const ref = { connection, group };
  const state = await ports.groups.read(ref);
  const floor = groupFloor(state?.registers ?? NO_GROUP);
  return (await ports.groups.members(ref)).filter(isListed(floor)).map(({ member }) => member);
}

/** Those of the members whom the group lists, by reading only them. */
export async function listedAmong(
  group: GroupId,
  members: readonly MemberId[],
  { ports, connection }: ScimContext,
): Promise<ReadonlySet<MemberId>> {
  const ref = { connection, group };
  const state = await ports.groups.read(ref);
  const floor = groupFloor(state?.registers ?? NO_GROUP);
  const registers = await ports.scim.memberships(ref, members);
  return new Set(registers.filter(isListed(floor)).map(({ member }) => member));
}

const isListed = (floor: Stamp) => (register: MemberRegister) => memberCounts(register, floor, STAMP_ZERO);

/** Members of a group that nobody can see yet: its first word makes them count. */
export async function joinFirstMembers(
  resource: ScimResource,
  { group, ids }: { readonly group: GroupId; readonly ids: readonly string[] },
  { ports, connection }: ScimContext,
): Promise<void> {
  const ref = { connection, group };
  const register = { value: 'present', stamp: stampOf(resource) } as const;
  const nowMs = ports.clock();
  await pMap(
    ids,
    async (id) => {
      await ports.desired.noteMembership(ref, memberId(id));
      await ports.desired.joinMember(ref, { member: memberId(id), register }, nowMs);
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
}

/**
 * The events that make a net change of members. A whole set is stated either as a snapshot, which ends all others at
 * once, or, where a large set changes little, as its difference to who is listed now.
 */
export async function membershipChanges(
  group: GroupId,
  { emptied, present, absent }: MemberChange,
  context: ScimContext,
): Promise<readonly DirectoryChange[]> {
  if (!emptied) return [...joining(group, present), ...leaving(group, absent)];
  const snapshot: DirectoryChange = { kind: 'group.snapshot', group, members: asMembers(present) };
  if (present.size <= RESTATED_SIZE) return [snapshot];
  const current: ReadonlySet<string> = new Set(await listedMembers(group, context));
  const joined = [...present].filter((id) => !current.has(id));
  const left = [...current].filter((id) => !present.has(id));
  if (joined.length + left.length >= present.size) return [snapshot];
  return [...joining(group, joined), ...leaving(group, left)];
}

function joining(group: GroupId, ids: Iterable<string>): readonly DirectoryChange[] {
  const members = asMembers(ids);
  return members.length === 0 ? [] : [{ kind: 'member.added', group, members }];
}

function leaving(group: GroupId, ids: Iterable<string>): readonly DirectoryChange[] {
  const members = asMembers(ids);
  return members.length === 0 ? [] : [{ kind: 'member.removed', group, members }];
}

const asMembers = (ids: Iterable<string>): readonly Member[] =>
  [...ids].map((id) => ({ id: memberId(id), attributes: new Map() }));
