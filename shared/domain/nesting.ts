import { type GroupRegisters, groupExists, groupFloor, NO_GROUP } from './group.ts';
import type { StoredMember } from './group-state.ts';
import { type GroupId, groupId, type MemberId, memberId } from './ids.ts';
import type { Stamp } from './stamp.ts';

/*
 * Groups within groups. An outer group has a member register for each inner group; the id of the register names the
 * inner group. Each read of the outer group computes its users from these registers. So there is no stored copy that a
 * change would have to update:
 *
 *     Everyone: ann, Sales         Sales: bob, North         North: cat, Everyone
 *     flattened: ann, bob, cat     a cycle ends at a group that was visited before
 */

/** The most groups that one group may contain, on all levels together. */
export const MAX_NESTED_GROUPS = 500;
/** The most levels of groups within a group. */
export const MAX_NESTING_DEPTH = 10;
/** The most member registers of a group and of all groups within it. All of these are in memory together. */
export const MAX_NESTED_MEMBERS = 250_000;

const NESTED = 'urn:groupsync:group:';

/** Returns the id of the member register of a group that is a member of another group. */
export const nestedMember = (group: GroupId): MemberId => memberId(`${NESTED}${group}`);

/** Returns the group that a member register names; undefined for the register of a user. */
export const nestedGroup = (member: string): GroupId | undefined =>
  member.startsWith(NESTED) ? groupId(member.slice(NESTED.length)) : undefined;

/** A group and its own member registers. */
export interface GroupContent {
  readonly registers: GroupRegisters;
  readonly members: readonly StoredMember[];
}
type Contents = ReadonlyMap<GroupId, GroupContent>;

const NOTHING: GroupContent = { registers: NO_GROUP, members: [] };

/** Returns the groups that are members of known groups and whose content is not known. */
export function unknownGroups(contents: Contents): readonly GroupId[] {
  const members = [...contents.values()].flatMap((content) => content.members);
  const named = members.flatMap(({ member }) => nestedGroup(member) ?? []);
  return [...new Set(named)].filter((group) => !contents.has(group));
}

/**
 * Returns the users of a group and of all groups within it, with one register for each user. If the user has registers
 * with the value `present`, the result has the latest of them. Otherwise it has the register whose membership ended
 * last. Pending marks come only from the outer group.
 * @param contents the outer group and all groups within it
 */
export function flattenedMembers(outer: GroupId, contents: Contents): readonly StoredMember[] {
  const users = new Map<MemberId, StoredMember>();
  for (const [group, reach] of reachedFrom(outer, contents)) {
    const { registers, members } = contents.get(group) ?? NOTHING;
    const floor = groupFloor(registers);
    for (const register of members) {
      if (nestedGroup(register.member) !== undefined) continue;
      const one = asReached(register, floor, reach);
      const other = users.get(register.member);
      users.set(register.member, other === undefined ? one : better(other, one));
    }
  }
  return [...users.values()];
}

/** The path from the outer group to a group. */
interface Reach {
  /** The stamp of the outer group's register that leads to the group; undefined for the outer group itself. */
  readonly via: Stamp | undefined;
  /** The stamp at which the group left the outer group; undefined while the outer group contains it. */
  readonly ended: Stamp | undefined;
}

/**
 * Returns each group that the outer group contains or has contained, with the path to it. If one path to a group still
 * exists and another has ended, the existing path is returned.
 */
function reachedFrom(outer: GroupId, contents: Contents): ReadonlyMap<GroupId, Reach> {
  const reached = new Map<GroupId, Reach>([[outer, { via: undefined, ended: undefined }]]);
  for (const isWithin of [true, false]) {
    // The iteration also visits the groups that it adds.
    for (const [group, from] of reached) {
      for (const [inner, to] of stepsFrom(group, from, contents)) {
        const isOfPass = (to.ended === undefined) === isWithin;
        if (isOfPass && !reached.has(inner)) reached.set(inner, to);
      }
    }
  }
  return reached;
}

function stepsFrom(group: GroupId, from: Reach, contents: Contents): readonly (readonly [GroupId, Reach])[] {
  const { registers, members } = contents.get(group) ?? NOTHING;
  const floor = groupFloor(registers);
  return members.flatMap((register) => {
    const inner = nestedGroup(register.member);
    if (inner === undefined) return [];
    const { registers: ofInner } = contents.get(inner) ?? NOTHING;
    const deleted = groupExists(ofInner) ? undefined : ofInner.deleted;
    const ended = from.ended ?? endOf(register, floor) ?? deleted;
    return [[inner, { via: from.via ?? register.stamp, ended }] as const];
  });
}

/** Returns the stamp at which a membership ended; undefined while the membership counts. */
function endOf({ value, stamp }: StoredMember, floor: Stamp): Stamp | undefined {
  if (value === 'absent') return stamp;
  return stamp < floor ? floor : undefined;
}

/** Returns a register of an inner group as a register of the outer group. */
function asReached(register: StoredMember, floor: Stamp, { via, ended }: Reach): StoredMember {
  const { pending, ...unmarked } = register;
  const own = via === undefined ? register : { ...unmarked, via };
  const end = endOf(register, floor) ?? ended;
  return end === undefined ? own : { ...own, value: 'absent', stamp: end };
}

function better(other: StoredMember, one: StoredMember): StoredMember {
  const isBetter = one.value === other.value ? one.stamp > other.stamp : one.value === 'present';
  const { pending } = other;
  return isBetter ? { ...other, ...one, ...(pending && { pending }) } : other;
}
