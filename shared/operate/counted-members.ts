import { groupFloor, memberCounts, NO_GROUP } from '../domain/group.ts';
import type { StoredMember } from '../domain/group-state.ts';
import type { GroupRef, MemberId } from '../domain/ids.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';

/**
 * Returns the registers of a group, the users that they name, and whether a register is the one of a present member.
 * @param others further users to read
 */
export async function readCounted(
  ref: GroupRef,
  { groups, users }: Pick<ToolPorts, 'groups' | 'users'>,
  others: readonly MemberId[] = [],
) {
  const state = await groups.read(ref);
  const registers = state === undefined ? [] : await groups.members(ref);
  const ids = new Set([...others, ...registers.map(({ member }) => member)]);
  const known = await users.read(ref.connection, [...ids]);
  const floor = groupFloor(state?.registers ?? NO_GROUP);
  const counts = (one: StoredMember) =>
    memberCounts(one, floor, known.get(one.member)?.floor ?? one.user?.floor ?? STAMP_ZERO);
  return { state, registers, ids, known, floor, counts };
}
