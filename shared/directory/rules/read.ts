import { type GroupRegisters, groupExists, groupFloor, groupName, memberCounts } from '../../domain/group.ts';
import type { MemberId } from '../../domain/ids.ts';
import type { Presence, Register } from '../../domain/register.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';

export interface GroupRead {
  readonly name: string;
  /** The users in the group. A nested group is replaced by its members, or left out. */
  readonly members: ReadonlySet<MemberId>;
  /** Whether the directory listed fewer users than it counts, for this group or a nested group. */
  readonly isShort: boolean;
  /** Whether the directory counted the users of every list of the read. */
  readonly isCounted: boolean;
  /** A hash of the members. */
  readonly content: string;
}

/** A group of the desired state, read from the table with strong consistency. */
export interface StoredGroup {
  readonly registers: GroupRegisters;
  readonly members: readonly StoredRegister[];
}

interface StoredRegister extends Register<Presence> {
  readonly member: MemberId;
  /** The stamp of the user's deletion. Memberships with this stamp or an earlier stamp have no effect. */
  readonly userFloor: Stamp;
}

/** The changes that would make the desired state equal to a read. */
export type MemberDifference = ReturnType<typeof differenceOf>;

/**
 * Compares a read with the desired state. A stored value with a later stamp than the read wins, so the result does not
 * contain its change.
 * @param stamp the stamp of the read
 */
export function differenceOf(read: GroupRead, stored: StoredGroup, stamp: Stamp) {
  const { present, setLater } = membersOf(stored, stamp);
  const isClearedLater = groupFloor(stored.registers) > stamp;
  const missing = [...read.members].filter((member) => !present.has(member));
  const extra = [...present].filter((member) => !read.members.has(member));
  const added = isClearedLater ? [] : missing.filter((member) => !setLater.has(member));
  const removed = extra.filter((member) => !setLater.has(member));
  const name = nameDifference(read, stored.registers, stamp);
  const isSuperseded = added.length + removed.length < missing.length + extra.length;
  return {
    added,
    removed,
    isNamed: name === 'new',
    /**
     * Whether an event that is newer than the read caused a part of the difference. The newer event wins, and the reader
     * reads the group again.
     */
    isSuperseded: isSuperseded || name === 'superseded',
  };
}

function membersOf({ registers, members }: StoredGroup, stamp: Stamp) {
  const floor = groupFloor(registers);
  const counted = groupExists(registers)
    ? members.filter((register) => memberCounts(register, floor, register.userFloor))
    : [];
  const later = members.filter((register) => register.stamp > stamp || register.userFloor >= stamp);
  const idOf = ({ member }: StoredRegister) => member;
  return { present: new Set(counted.map(idOf)), setLater: new Set(later.map(idOf)) };
}

function nameDifference({ name }: GroupRead, registers: GroupRegisters, stamp: Stamp) {
  if (groupExists(registers) && groupName(registers) === name) return 'none';
  const latest = laterStamp(registers.deleted, registers.name?.stamp ?? STAMP_ZERO);
  return latest > stamp ? 'superseded' : 'new';
}

export const isEqual = ({ added, removed, isNamed, isSuperseded }: MemberDifference): boolean =>
  added.length + removed.length === 0 && !isNamed && !isSuperseded;
