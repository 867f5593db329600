import pMap from 'p-map';
import { renderName } from '../../contract/name-template.ts';
import { isActive } from '../../domain/active.ts';
import { desiredGroup, groupFloor, memberCounts } from '../../domain/group.ts';
import { type MemberId, type PlatformUserId, platformUserId } from '../../domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { WantedGroup } from '../../plan/draft.ts';
import { standingOf } from '../member-standing.ts';
import type { UserState } from '../ports/desired.ts';
import type { GroupState, PendingCause, StoredMember } from '../ports/groups.ts';
import { GONE, type Person } from '../ports/people.ts';
import { LARGE_GROUP, WRITES_IN_FLIGHT } from '../tuning.ts';
import { copyOf } from '../walk.ts';
import type { Lane } from './lane.ts';
import { type Resolution, resolveUsers } from './resolve.ts';

/** A member that the directory has in the group but that cannot be written. */
export interface PendingMember {
  readonly cause: PendingCause;
  /** `refused`: the person's revision that the platform refused. */
  readonly personRevision?: number;
}

/** Who stands behind a user that is wanted: a refusal is remembered with the person's revision. */
export interface Standing {
  readonly member: MemberId;
  readonly person: Person;
}

/** What the directory wants of one group, in the platform's terms. */
export interface Wanted {
  readonly state: 'absent' | 'unnamed' | 'present';
  /** Only of a group that is `present`. */
  readonly group: WantedGroup | undefined;
  /** Members present in the directory, pending ones included. */
  readonly count: number;
  readonly pending: ReadonlyMap<MemberId, PendingMember>;
  /** Users whom the directory names but who may not be members now, for the reason of their removal. */
  readonly whyNot: ReadonlyMap<PlatformUserId, { readonly member: MemberId; readonly reason: string }>;
  readonly standing: ReadonlyMap<PlatformUserId, readonly Standing[]>;
  readonly registers: readonly StoredMember[];
  /** Up to when the directory deleted the users whose registers say that they are in. */
  readonly userFloors: ReadonlyMap<MemberId, Stamp>;
}

/** Reads the group's registers, all of them and consistently, and resolves the members that count. */
export async function readWanted(state: GroupState, lane: Lane): Promise<Wanted> {
  const registers = await lane.ports.groups.members(state.ref);
  const desired = desiredGroup(state.ref.group, state.registers);
  if (desired.state !== 'present') return wantsNobody(desired.state, registers);

  const named = await usersNamed(state, registers, lane);
  const users = named.filter(({ counts }) => counts).map(({ user }) => user);
  const deleted = named.filter(({ user }) => user.floor !== STAMP_ZERO);
  const { settings, name: connection } = lane.connection;
  const resolutions = await resolveUsers(users, { connection, settings, people: lane.ports.people });
  await rememberRoles(state, users, resolutions, lane);
  const placed = place(registers, resolutions, lane);
  return {
    ...placed,
    state: 'present',
    count: users.length,
    registers,
    userFloors: new Map(deleted.map(({ user }) => [user.member, user.floor])),
    group: {
      name: renderName(settings.nameTemplate, { name: desired.name, id: desired.id, connection }),
      spokeId: desired.id,
      users: new Map([...placed.standing].map(([user, standing]) => [user, firstMember(standing)])),
    },
  };
}

const wantsNobody = (state: 'absent' | 'unnamed', registers: readonly StoredMember[]): Wanted => ({
  state,
  group: undefined,
  count: 0,
  pending: new Map(),
  whyNot: new Map(),
  standing: new Map(),
  registers,
  userFloors: new Map(),
});

const firstMember = ([first]: readonly Standing[]): MemberId => (first as Standing).member;

interface NamedUser {
  readonly user: UserState;
  /** Whether the user is a member, as far as the user's own registers have a say. */
  readonly counts: boolean;
}

/** The users behind the registers that say present. A register with a copy of its user saves reading that user. */
async function usersNamed(
  state: GroupState,
  registers: readonly StoredMember[],
  { connection, ports }: Lane,
): Promise<readonly NamedUser[]> {
  const floor = groupFloor(state.registers);
  const present = registers.filter((register) => memberCounts(register, floor, STAMP_ZERO));
  const uncopied = present.filter(({ user }) => user?.role === undefined).map(({ member }) => member);
  const read = await ports.users.read(connection.name, uncopied);
  return present.map((register) => {
    const user = read.get(register.member) ?? fromCopy(register);
    return { user, counts: memberCounts(register, floor, user.floor) && isActive(user.attributes) };
  });
}

const fromCopy = ({ member, user }: StoredMember): UserState => ({
  member,
  attributes: new Map(),
  floor: user?.floor ?? STAMP_ZERO,
  review: false,
  revision: user?.revision ?? 0,
  walking: false,
  ...(user?.role === undefined ? {} : { role: user.role }),
});

/**
 * In a large group, copies the role of each user that was just resolved onto its register: one write, once, saves every
 * later apply a read. In a small one the reads are too few to matter.
 */
async function rememberRoles(
  state: GroupState,
  users: readonly UserState[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { ports }: Lane,
): Promise<void> {
  if (users.length < LARGE_GROUP) return;
  await pMap(
    users,
    async (user) => {
      const resolution = resolutions.get(user.member);
      // A user that no event described has no revision by which a later walk could tell an old copy.
      if (resolution?.kind !== 'person' || resolution.unbound || user.revision === 0) return;
      if (user.role === resolution.person.role && !user.review && user.attributes.size === 0) return;
      await ports.users.copyToMember(state.ref, user.member, {
        ...copyOf(user),
        role: resolution.person.role,
      });
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
}

const whyInactive = ({ state }: Person): string =>
  state === GONE ? 'the platform has no such employee any more' : `their roleState is ${state}`;

/** Sorts the resolved members into users that are wanted and members that have to wait. */
function place(
  registers: readonly StoredMember[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { connection }: Lane,
): Pick<Wanted, 'pending' | 'whyNot' | 'standing'> {
  const refused = new Map(
    registers.flatMap(({ member, pending }) =>
      pending?.cause === 'refused' ? [[member, pending.personRevision] as const] : [],
    ),
  );
  const pending = new Map<MemberId, PendingMember>();
  const whyNot = new Map<PlatformUserId, { readonly member: MemberId; readonly reason: string }>();
  const standing = new Map<PlatformUserId, Standing[]>();
  for (const [member, resolution] of resolutions) {
    if (resolution.kind === 'pending') {
      pending.set(member, { cause: resolution.cause });
      continue;
    }
    const { person } = resolution;
    const { cause, id = '' } = standingOf(person, refused.get(member), connection.settings);
    const user = platformUserId(id);
    if (cause === 'inactive') whyNot.set(user, { member, reason: whyInactive(person) });
    if (cause !== 'solved') {
      pending.set(member, { cause, ...(cause === 'refused' ? { personRevision: person.revision } : {}) });
    } else {
      const others = standing.get(user);
      if (others === undefined) standing.set(user, [{ member, person }]);
      else others.push({ member, person });
    }
  }
  return { pending, whyNot, standing };
}
