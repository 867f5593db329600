import { type Author, type GroupRegisters, groupExists, groupFloor, NO_GROUP } from './group.ts';
import type { StoredMember } from './group-state.ts';
import { type GroupId, groupId, type MemberId, memberId } from './ids.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from './stamp.ts';

/*
 * Groups within groups. An outer group has a member register for each inner group. The id of this register names the
 * inner group. Each read of the outer group computes its users from the registers of all these groups. So the table
 * stores no list of these users that a change must update:
 *
 *     Everyone: ann, Sales         Sales: bob, North         North: cat, Everyone
 *     flattened: ann, bob, cat     a cycle ends at a group that was visited before
 */

/** The maximum number of groups that one group may contain, on all levels together. */
export const MAX_NESTED_GROUPS = 500;
export const MAX_NESTING_DEPTH = 10;
/** The maximum number of member registers of a group and its inner groups. All are in memory at the same time. */
export const MAX_NESTED_MEMBERS = 250_000;

const NESTED = 'urn:groupsync:group:';

export const nestedMember = (group: GroupId): MemberId => memberId(`${NESTED}${group}`);

/** Returns the group that a member register names; undefined for the register of a user. */
export const nestedGroup = (member: string): GroupId | undefined =>
  member.startsWith(NESTED) ? groupId(member.slice(NESTED.length)) : undefined;

export interface GroupContent {
  readonly registers: GroupRegisters;
  readonly members: readonly StoredMember[];
}
type Contents = ReadonlyMap<GroupId, GroupContent>;

const NOTHING: GroupContent = { registers: NO_GROUP, members: [] };

/** Returns the groups that are members of the given groups and whose content is missing in `contents`. */
export function unknownGroups(contents: Contents): readonly GroupId[] {
  const members = [...contents.values()].flatMap((content) => content.members);
  const named = members.flatMap(({ member }) => nestedGroup(member) ?? []);
  return [...new Set(named)].filter((group) => !contents.has(group));
}

/**
 * Returns the users of a group and of all groups within it, with one register for each user. If the user has registers
 * with the value `present`, the result contains the latest one. Otherwise the result contains the register whose
 * membership ended last. Pending marks come only from the outer group.
 * @param contents the outer group and all groups within it
 */
export function flattenedMembers(outer: GroupId, contents: Contents): readonly StoredMember[] {
  const users = new Map<MemberId, StoredMember>();
  for (const [group, reach] of reachedFrom(outer, contents)) {
    const { registers, members } = contents.get(group) ?? NOTHING;
    for (const register of members) {
      if (nestedGroup(register.member) !== undefined) continue;
      const one = asReached(register, registers, reach);
      const other = users.get(register.member);
      users.set(register.member, other === undefined ? one : better(other, one));
    }
  }
  return [...users.values()];
}

/** The path from the outer group to an inner group. */
interface Reach {
  /** The stamp of the register in the outer group with which the path begins; undefined for the outer group itself. */
  readonly via: Stamp | undefined;
  /** The event by which the inner group left the outer group; undefined if it has not left. */
  readonly ended: End | undefined;
  /** The latest stamp at which the outer group contained the inner group. */
  readonly presentAt: Stamp;
}

/** The stamp at which a membership ended, with the actor of the event, or of a later event about the same group. */
interface End {
  readonly stamp: Stamp;
  readonly author: Author | undefined;
}

/**
 * Returns each group that the outer group contains or contained, with the path to that group. If one path still exists
 * and another path has ended, the result has the path that still exists.
 */
function reachedFrom(outer: GroupId, contents: Contents): ReadonlyMap<GroupId, Reach> {
  const reached = new Map<GroupId, Reach>([
    [outer, { via: undefined, ended: undefined, presentAt: STAMP_ZERO }],
  ]);
  for (const isWithin of [true, false]) {
    // The loop adds groups to `reached`, and later visits the added groups too.
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
  return members.flatMap((register) => {
    const inner = nestedGroup(register.member);
    if (inner === undefined) return [];
    const { registers: ofInner } = contents.get(inner) ?? NOTHING;
    const deleted = groupExists(ofInner) ? undefined : { stamp: ofInner.deleted, author: ofInner.author };
    const ended = from.ended ?? endOf(register, registers) ?? deleted;
    const presentAt = laterStamp(from.presentAt, register.presentAt ?? STAMP_ZERO);
    return [[inner, { via: from.via ?? register.stamp, ended, presentAt }] as const];
  });
}

/** Returns the event by which a membership ended; undefined if it has not ended. */
function endOf({ value, stamp, actor }: StoredMember, registers: GroupRegisters): End | undefined {
  if (value === 'absent') return { stamp, author: actor && { stamp, actor } };
  const floor = groupFloor(registers);
  return stamp < floor ? { stamp: floor, author: registers.author } : undefined;
}

/** Converts a register of an inner group to a register of the outer group. */
function asReached(register: StoredMember, registers: GroupRegisters, reach: Reach): StoredMember {
  const { via } = reach;
  const { pending, ...unmarked } = register;
  const ownEnd = endOf(register, registers);
  const own = via === undefined ? register : { ...unmarked, via, ...wantedAt(register, ownEnd, reach) };
  const end = register.value === 'absent' ? undefined : (ownEnd ?? reach.ended);
  if (end === undefined) return own;
  const { actor: _, ...former } = own;
  return { ...former, ...end, value: 'absent' };
}

/** Returns the latest stamp with which the outer group had the member, if the member was in the inner group then. */
function wantedAt({ presentAt }: StoredMember, end: End | undefined, reach: Reach) {
  if (presentAt === undefined) return {};
  const isWithin = end === undefined || end.stamp > reach.presentAt;
  return { presentAt: isWithin ? laterStamp(presentAt, reach.presentAt) : presentAt };
}

function better(other: StoredMember, one: StoredMember): StoredMember {
  const isBetter = one.value === other.value ? one.stamp > other.stamp : one.value === 'present';
  const { pending } = other;
  const presentAt = laterStamp(one.presentAt ?? STAMP_ZERO, other.presentAt ?? STAMP_ZERO);
  return {
    ...(isBetter ? one : other),
    ...(pending && { pending }),
    ...(presentAt !== STAMP_ZERO && { presentAt }),
  };
}
