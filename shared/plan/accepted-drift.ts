import type { Difference } from '../domain/drift.ts';
import type { GroupRegisters } from '../domain/group.ts';
import { eachField, FIELD_NAMES, GROUP_FIELDS, type GroupField, isInEvents } from '../domain/group-fields.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import type { AcceptedDrift } from '../domain/view.ts';
import type { WantedGroup } from './draft.ts';
import type { Wanted } from './facts.ts';

/** The latest stamps of the directory's events about a group, its fields and its users. */
export interface LatestStamps {
  readonly newest: Stamp;
  /** The stamp of the register of each field; zero for a field without a register. */
  readonly field: Readonly<Record<GroupField, Stamp>>;
  /**
   * The stamp of the latest complete snapshot or deletion of the group. A snapshot also concerns the users that it does
   * not list, because it removes them.
   */
  readonly allUsers: Stamp;
  /** Returns the latest stamp of the registers of a wanted user; undefined for a user that is not wanted. */
  readonly user: (user: PlatformUserId) => Stamp | undefined;
  /** The users that the directory removed after the drift was accepted, each with the stamp of the removal. */
  readonly departed?: ReadonlyMap<PlatformUserId, Stamp>;
}

export function latestStampsOf({ registers }: GroupState, wanted: Wanted): LatestStamps {
  const field = eachField((one) => stampOf(registers, one));
  const ofMember = new Map(wanted.registers.map(({ member, stamp }) => [member, stamp]));
  let newest = [registers.upserted, registers.deleted, registers.snapshot, ...Object.values(field)].reduce(
    laterStamp,
  );
  for (const stamp of ofMember.values()) newest = laterStamp(newest, stamp);
  for (const floor of wanted.userFloors.values()) newest = laterStamp(newest, floor);
  return {
    newest,
    field,
    allUsers: laterStamp(registers.snapshot, registers.deleted),
    user: (user): Stamp | undefined =>
      wanted.membersByUser
        .get(user)
        ?.map(({ member }) => ofMember.get(member) ?? STAMP_ZERO)
        .reduce(laterStamp),
  };
}

const stampOf = (registers: GroupRegisters, field: GroupField): Stamp =>
  (isInEvents(field) ? registers[field]?.stamp : undefined) ?? STAMP_ZERO;

interface AcceptDriftInput {
  readonly policy: AcceptedDrift['policy'];
  readonly seen: Stamp;
  readonly differences: readonly Difference[];
  /** The drift that was accepted earlier and is still valid. */
  readonly earlier: AcceptedDrift | undefined;
}

export function acceptDrift({ policy, seen, differences, earlier }: AcceptDriftInput): AcceptedDrift {
  const present = new Set(earlier?.present);
  const absent = new Set(earlier?.absent);
  for (const { kind, before, after } of differences) {
    if (kind === 'members_added') move(after, { into: present, outOf: absent });
    if (kind === 'members_removed') move(before, { into: absent, outOf: present });
  }
  const fields = eachField(
    (field) =>
      earlier?.[field] === true || differences.some(({ kind }) => kind === GROUP_FIELDS[field].drift),
  );
  return { ...fields, policy, seen: laterStamp(seen, earlier?.seen ?? seen), present, absent };
}

function move(
  users: Difference['after'],
  { into, outOf }: { readonly into: Set<PlatformUserId>; readonly outOf: Set<PlatformUserId> },
): void {
  if (!Array.isArray(users)) return;
  for (const user of users as readonly PlatformUserId[]) {
    if (!outOf.delete(user)) into.add(user);
  }
}

/**
 * Returns the part of an accepted drift that is still valid. The acceptance of a difference ends when the difference no
 * longer exists, for example because the directory now wants the added user. A newer directory event also ends
 * acceptances:
 *
 *     the newer directory event is about  | policy `report`: ends | policy `adopt`: ends
 *     ------------------------------------|-----------------------|--------------------------------
 *     a field                             | every acceptance      | the acceptance of the field
 *     a user, or a snapshot with the user | every acceptance      | the acceptance of the user
 *     all users (snapshot, deletion)      | every acceptance      | the acceptance of every added user
 *     anything else in the group          | every acceptance      | nothing
 */
export function validAcceptedDrift(
  acceptedDrift: AcceptedDrift | undefined,
  latestStamps: LatestStamps,
  wanted: Pick<WantedGroup, 'users'>,
): AcceptedDrift | undefined {
  if (acceptedDrift === undefined) return undefined;
  const { policy, seen } = acceptedDrift;
  if (policy === 'report' && latestStamps.newest > seen) return undefined;
  const isOld = (stamp: Stamp | undefined) => stamp === undefined || stamp <= seen;
  const present = [...acceptedDrift.present].filter(
    (user) =>
      !wanted.users.has(user) && isOld(latestStamps.allUsers) && isOld(latestStamps.departed?.get(user)),
  );
  const absent = [...acceptedDrift.absent].filter(
    (user) => wanted.users.has(user) && isOld(latestStamps.user(user)),
  );
  const fields = eachField((field) => acceptedDrift[field] === true && isOld(latestStamps.field[field]));
  if (present.length === 0 && absent.length === 0 && !FIELD_NAMES.some((field) => fields[field]))
    return undefined;
  return { ...acceptedDrift, ...fields, present: new Set(present), absent: new Set(absent) };
}
