import type { EventActor } from './event.ts';
import { EVENT_FIELDS, type EventField, type GivenFields } from './group-fields.ts';
import type { GroupId, MemberId, RoleId } from './ids.ts';
import type { Presence, Register } from './register.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from './stamp.ts';

/** The registers of one group without its members. Each field is a separate register. */
export interface GroupRegisters extends Readonly<Partial<Record<EventField, Register<string>>>> {
  /** The stamp of the latest `group.upserted` or `group.snapshot`. */
  readonly upserted: Stamp;
  /** The stamp of the latest `group.deleted`. */
  readonly deleted: Stamp;
  /** The stamp of the latest complete snapshot. Members with an older stamp are gone. */
  readonly snapshot: Stamp;
  /** The actor of the latest of these events that named an actor. */
  readonly author?: Author;
}

export interface Author {
  readonly stamp: Stamp;
  readonly actor: EventActor;
}

/** A copy of user data in a member register. With the copies, apply of a large group need not read every user. */
export interface UserCopy {
  /** The revision of the copied user. A greater revision is newer. */
  readonly revision: number;
  /** The stamp of the user's deletion. Memberships up to this stamp are gone. */
  readonly floor: Stamp;
  /** The person that the user is bound to, from `UserState`. */
  readonly role?: RoleId;
  readonly userId?: string;
}

export interface MemberRegister extends Register<Presence> {
  readonly member: MemberId;
  readonly user?: UserCopy;
  /**
   * The stamp of the register by which the group contains a nested group. The stamp is set for a member of the nested
   * group.
   */
  readonly via?: Stamp;
}

export const NO_GROUP: GroupRegisters = { upserted: STAMP_ZERO, deleted: STAMP_ZERO, snapshot: STAMP_ZERO };

/**
 * Whether the group exists. Member events never create a group. Only an upsert or a snapshot later than every deletion
 * creates it.
 */
export const groupExists = (group: GroupRegisters): boolean => group.upserted > group.deleted;

/** Whether only member events have named the group. Such events are stored, and count once the group exists. */
export const isUnheardOf = ({ upserted, deleted }: GroupRegisters): boolean =>
  upserted === STAMP_ZERO && deleted === STAMP_ZERO;

/** The name of a group until its new source sends the name. No event has this name, and no group is written with it. */
export const NO_NAME = '';

/** Returns the fields. A deletion also ends their values, so a restored group is unnamed until a later name event. */
export function givenFields(group: GroupRegisters): GivenFields {
  const values = EVENT_FIELDS.map((field) => [
    field,
    isCurrent(group, field) ? group[field]?.value : undefined,
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== NO_NAME));
}

const isCurrent = (group: GroupRegisters, field: EventField): boolean =>
  group[field] !== undefined && group[field].stamp > group.deleted;

export const groupName = (group: GroupRegisters): string | undefined => givenFields(group).name;

/**
 * Whether the platform group must be removed. A group that was restored without a name must be removed too. The
 * deletion ended its name, and the result must not depend on the time of the read. A group that never had a name was
 * never deleted, so a platform group that an operator linked to it stays.
 */
export const hasDeparted = (group: GroupRegisters): boolean =>
  !groupExists(group) || (!isCurrent(group, 'name') && group.deleted !== STAMP_ZERO);

/**
 * Returns the floor of the group. A register older than the floor does not count, because a deletion clears the group
 * and a complete snapshot lists all members again.
 */
export const groupFloor = (group: GroupRegisters): Stamp => laterStamp(group.deleted, group.snapshot);

/**
 * Whether a member is in the group. The members of a snapshot have the stamp of the snapshot, so an equal stamp counts
 * (≥). A deletion of the user also ends memberships with an equal stamp (>).
 */
export function memberCounts(
  { value, stamp, via = stamp }: Register<Presence> & Pick<MemberRegister, 'via'>,
  groupFloorStamp: Stamp,
  userFloor: Stamp,
) {
  return value === 'present' && via >= groupFloorStamp && stamp > userFloor;
}

/** The desired state of one group from the directory's events alone. */
export type DesiredGroup =
  | { readonly state: 'absent' }
  | { readonly state: 'unnamed' }
  | (GivenFields & { readonly state: 'present'; readonly id: GroupId; readonly name: string });

export function desiredGroup(id: GroupId, registers: GroupRegisters): DesiredGroup {
  if (!groupExists(registers)) return { state: 'absent' };
  const { name, ...others } = givenFields(registers);
  return name === undefined ? { state: 'unnamed' } : { ...others, state: 'present', id, name };
}
