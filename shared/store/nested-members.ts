import { NO_GROUP } from '../domain/group.ts';
import type { StoredMember } from '../domain/group-state.ts';
import type { GroupId, GroupRef } from '../domain/ids.ts';
import {
  flattenedMembers,
  type GroupContent,
  MAX_NESTED_GROUPS,
  MAX_NESTED_MEMBERS,
  unknownGroups,
} from '../domain/nesting.ts';
import { parseGroup, parseMember } from './group-item.ts';
import { groupKey, MEMBER_PREFIX } from './keys.ts';
import { itemsOf, type Table } from './table.ts';

/** Returns the group's own member registers. A nested group is one of these registers. Its members are not included. */
export async function ownMembers(table: Table, ref: GroupRef): Promise<readonly StoredMember[]> {
  const items = await itemsOf(table, { partition: groupKey(ref).pk, prefix: MEMBER_PREFIX });
  return items.map(parseMember);
}

/**
 * Returns the users of the group and of all groups within it. A change of an inner group first changes its registers,
 * and then marks the groups around it dirty. So a change that this read misses causes another read.
 * @throws Error if there are too many groups or members to read together
 */
export async function membersWithin(
  table: Table,
  ref: GroupRef,
  own: readonly StoredMember[],
): Promise<readonly StoredMember[]> {
  const outer = { registers: await registersOf(table, ref), members: own };
  const contents = new Map<GroupId, GroupContent>([[ref.group, outer]]);
  for (let wanted = unknownGroups(contents); wanted.length > 0; wanted = unknownGroups(contents)) {
    checkSize(ref, contents, wanted.length);
    const read = wanted.map((group) => contentOf(table, { ...ref, group }));
    for (const [at, content] of (await Promise.all(read)).entries()) {
      contents.set(wanted[at] as GroupId, content);
    }
  }
  checkSize(ref, contents, 0);
  return flattenedMembers(ref.group, contents);
}

const registersOf = async (table: Table, ref: GroupRef) => {
  const item = await table.get(groupKey(ref));
  return item === undefined ? NO_GROUP : parseGroup(ref, item).registers;
};

/** Reads the floor before the members. A floor that rose between the two reads would hide members that were read. */
async function contentOf(table: Table, ref: GroupRef): Promise<GroupContent> {
  const registers = await registersOf(table, ref);
  return { registers, members: await ownMembers(table, ref) };
}

function checkSize(ref: GroupRef, contents: ReadonlyMap<GroupId, GroupContent>, more: number): void {
  const groups = contents.size - 1 + more;
  if (groups > MAX_NESTED_GROUPS) {
    throw new Error(
      `expected at most ${MAX_NESTED_GROUPS} groups within the group ${ref.group}, got ${groups}`,
    );
  }
  const members = [...contents.values()].reduce((sum, content) => sum + content.members.length, 0);
  if (members > MAX_NESTED_MEMBERS) {
    throw new Error(
      `expected at most ${MAX_NESTED_MEMBERS} members of the group ${ref.group} and the groups within it, got ${members}`,
    );
  }
}
