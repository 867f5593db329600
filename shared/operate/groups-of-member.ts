import type { GroupState } from '../domain/group-state.ts';
import type { ConnectionName, GroupId, MemberId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { collectPages } from '../sync/tuning.ts';

export async function registersIn(
  { ref, containsGroups }: Pick<GroupState, 'ref' | 'containsGroups'>,
  members: readonly MemberId[],
  { groups }: { readonly groups: Pick<ToolPorts['groups'], 'members' | 'registers'> },
) {
  if (!containsGroups) return groups.registers(ref, members);
  const wanted = new Set(members);
  return (await groups.members(ref)).filter(({ member }) => wanted.has(member));
}

export async function groupsOfMember(
  connection: ConnectionName,
  member: MemberId,
  { users, groups, desired }: Pick<ToolPorts, 'users' | 'groups' | 'desired'>,
): Promise<readonly GroupId[]> {
  const found = new Set<GroupId>();
  let level: readonly GroupId[] = await collectPages(users.groupsOf(connection, member));
  while (level.length > 0) {
    for (const group of level) found.add(group);
    const refs = level.map((group) => ({ connection, group }));
    const contained = (await groups.readMany(refs, () => {})).filter(({ isContained }) => isContained);
    const around = await Promise.all(contained.map(({ ref }) => desired.groupsAround(ref)));
    level = [...new Set(around.flat())].filter((group) => !found.has(group));
  }
  return [...found];
}
