import type { EventActor } from './event.ts';
import { EVENT_FIELDS, type EventField, type GivenFields } from './group-fields.ts';
import type { GroupId, MemberId, RoleId } from './ids.ts';
import type { Presence, Register } from './register.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from './stamp.ts';

/** The registers of one group without its members. Each field is a separate register. */
export interface GroupRegisters extends Readonly<Partial<Record<EventField, Register<string>>>> {
  /** The stamp of the latest `group.upserted` or `group.snapshot`. */
  readonly upserted: Stamp;
  readonly deleted: Stamp;
  /** The stamp of the latest complete snapshot. Memberships with an earlier stamp have no effect. */
  readonly snapshot: Stamp;
  /** The actor of the latest event about the group that has an actor. */
  readonly author?: Author;
}

export interface Author {
  readonly stamp: Stamp;
  readonly actor: EventActor;
}

/** A copy of user data in a member register, so that apply need not read every user of a group. */
export interface UserCopy {
  /** The revision of the user at the time of the copy. Each change of the user raises the revision. */
  readonly revision: number;
  /** The stamp of the user's deletion. Memberships with this stamp or an earlier stamp have no effect. */
  readonly floor: Stamp;
  /** The role to which the user is bound, from `UserState`. */
  readonly role?: RoleId;
  readonly userId?: string;
}

export interface MemberRegister extends Register<Presence> {
  readonly member: MemberId;
  readonly user?: UserCopy;
  /** For a member of a nested group: the stamp of the register with which the outer group contains the nested group. */
  readonly via?: Stamp;
  /** For a membership that ended in or with a nested group: the actor of the latest event about that group. */
  readonly author?: Author | undefined;
}

export const NO_GROUP: GroupRegisters = { upserted: STAMP_ZERO, deleted: STAMP_ZERO, snapshot: STAMP_ZERO };

/** Whether the group exists: an upsert or snapshot is later than every deletion. */
export const groupExists = (group: GroupRegisters): boolean => group.upserted > group.deleted;

/** Whether only events about members of the group have arrived. They take effect when the group exists. */
export const isUnheardOf = ({ upserted, deleted }: GroupRegisters): boolean =>
  upserted === STAMP_ZERO && deleted === STAMP_ZERO;

/** The name of a group that moves to a new source, until that source sends a name. Apply never writes it. */
export const NO_NAME = '';

/**
 * Returns the values of the fields. A deletion of the group clears the values. So a group that is created again has no
 * name until an event names the group.
 */
function givenFields(group: GroupRegisters): GivenFields {
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
 * Whether the platform group must be removed: the directory group was deleted, and no later event has named the group.
 * A later event without a name may create the directory group again. That event does not count: the result is the same
 * whether apply reads the group before or after the event. A group that was never deleted keeps its platform group.
 */
export const hasDeparted = (group: GroupRegisters): boolean =>
  !groupExists(group) || (!isCurrent(group, 'name') && group.deleted !== STAMP_ZERO);

/**
 * Returns the floor of the group. Memberships with an earlier stamp have no effect, because a deletion removes all
 * members, and a complete snapshot lists all members again.
 */
export const groupFloor = (group: GroupRegisters): Stamp => laterStamp(group.deleted, group.snapshot);

/**
 * Whether a member is in the group. The members of a snapshot have the stamp of the snapshot, so a membership with the
 * stamp of the floor counts (≥). A deletion of the user also ends a membership with the same stamp (>).
 */
export function memberCounts(
  { value, stamp, via = stamp }: Register<Presence> & Pick<MemberRegister, 'via'>,
  groupFloorStamp: Stamp,
  userFloor: Stamp,
) {
  return value === 'present' && via >= groupFloorStamp && stamp > userFloor;
}

export type DesiredGroup =
  | { readonly state: 'absent' }
  | { readonly state: 'unnamed' }
  | (GivenFields & { readonly state: 'present'; readonly id: GroupId; readonly name: string });

export function desiredGroup(id: GroupId, registers: GroupRegisters): DesiredGroup {
  if (!groupExists(registers)) return { state: 'absent' };
  const { name, ...others } = givenFields(registers);
  return name === undefined ? { state: 'unnamed' } : { ...others, state: 'present', id, name };
}
