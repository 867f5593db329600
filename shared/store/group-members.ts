import { NO_GROUP } from '../domain/group.ts';
import type { PendingMark, StoredMember } from '../domain/group-state.ts';
import type { GroupId, GroupRef, MemberId } from '../domain/ids.ts';
import {
  flattenedMembers,
  type GroupContent,
  MAX_NESTED_GROUPS,
  MAX_NESTED_MEMBERS,
  nestedGroup,
  unknownGroups,
} from '../domain/nesting.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import { parseGroup, parseMember } from './group-item.ts';
import { plain } from './item-form.ts';
import { groupKey, indexPartition, keyPart, MEMBER_PREFIX, memberKey, shardOf } from './keys.ts';
import { exists, itemsOf, type Table } from './table.ts';

const PENDING = ['pendingCause', 'pendingSince', 'pendingRevision', 'pendingHidden', 'gpk', 'gsk'] as const;

export function createGroupMembers(table: Table) {
  return {
    /**
     * Returns every member register of the group, including tombstones. Groups within the group are replaced by their
     * users.
     * @throws Error if the group contains more groups or users than the limits allow
     */
    async members(ref: GroupRef): Promise<readonly StoredMember[]> {
      const own = await ownMembers(table, ref);
      return own.some(({ member }) => nestedGroup(member) !== undefined)
        ? membersWithin(table, ref, own)
        : own;
    },

    /** Returns the group's own registers of these members. The result omits a member without a register. */
    async registers(ref: GroupRef, members: readonly MemberId[]): Promise<readonly StoredMember[]> {
      const items = await table.getMany(members.map((member) => memberKey(ref, member)));
      return items.map(parseMember);
    },

    /** Sets or clears the reason why a member is pending. The index lists the members with a reason. */
    async markPending(ref: GroupRef, member: MemberId, mark: PendingMark | undefined): Promise<void> {
      const { connection, group } = ref;
      const set = mark && {
        pendingCause: mark.cause,
        pendingSince: mark.sinceMs,
        pendingRevision: mark.personRevision,
        pendingHidden: mark.hidden && { ...mark.hidden },
        group,
        gpk: indexPartition('pending', connection, shardOf(group)),
        gsk: `${keyPart(group)}#${keyPart(member)}`,
      };
      const stored = plain(set ?? {});
      const remove = PENDING.filter((name) => !(name in stored));
      const key = memberKey(ref, member);
      const { written } = await table.update(key, { set: stored, remove }, exists('stamp'));
      if (written || mark === undefined || !(await table.get(groupKey(ref)))?.['containsGroups']) return;
      // The member of a nested group has no register in the outer group.
      const absent = { member, presence: 'absent', stamp: STAMP_ZERO };
      await table.update(key, { set: stored, setIfMissing: absent, remove });
    },
  };
}

/** Returns the group's own member registers, for users and nested groups, but not for the members of a nested group. */
async function ownMembers(table: Table, ref: GroupRef): Promise<readonly StoredMember[]> {
  const items = await itemsOf(table, { partition: groupKey(ref).pk, prefix: MEMBER_PREFIX });
  return items.map(parseMember);
}

/**
 * Returns the users of the group and of all groups within it. A change of an inner group first changes the registers,
 * and then marks the outer groups dirty. So if this read misses the change, apply reads the outer group again later.
 * @throws Error if there are too many groups or members to read together
 */
async function membersWithin(table: Table, ref: GroupRef, own: readonly StoredMember[]) {
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

/**
 * Reads the floor before the members. A floor that is read after the members could belong to a later snapshot, and
 * would hide members that the later snapshot contains.
 */
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
