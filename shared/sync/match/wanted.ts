import { renderName } from '../../contract/name-template.ts';
import { ACTIVE_ATTRIBUTE, isActive } from '../../domain/active.ts';
import { blockOf } from '../../domain/block.ts';
import {
  type DesiredGroup,
  desiredGroup,
  groupFloor,
  hasDeparted,
  memberCounts,
} from '../../domain/group.ts';
import { NO_FIELDS } from '../../domain/group-fields.ts';
import type { GroupState, PendingMark, StoredMember } from '../../domain/group-state.ts';
import { type MemberId, memberId, type PlatformUserId, platformUserId, roleId } from '../../domain/ids.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { WantedGroup } from '../../plan/draft.ts';
import type { Facts, PendingMember, Wanted, WantedMember } from '../../plan/facts.ts';
import { mayBeMember } from '../../plan/person.ts';
import {
  boundUser,
  causeOfState,
  endedMembers,
  removalCauseOf,
  removalEvent,
  type WhyNot,
  wantedLastIn,
  whyUncounted,
} from '../../plan/removal-cause.ts';
import { NO_WRITES } from '../../plan/uncertain.ts';
import type { Connection } from '../ports/connections.ts';
import { type UserState, undescribed } from '../ports/desired.ts';
import { GONE, type Person } from '../ports/people.ts';
import type { Reading } from '../reading.ts';
import { LARGE_GROUP, mapConcurrently, WRITES_IN_FLIGHT } from '../tuning.ts';
import { copyOf } from '../wake.ts';
import { mayReadPart, membersAfter } from './changed-members.ts';
import {
  eligibilityOf,
  isHiddenLately,
  personsBoundTo,
  type Resolution,
  type ResolvePeople,
  refusedRevisionOf,
  resolveUsers,
} from './resolve.ts';

/** Returns the users of the members that left the group last, as their bindings are stored, each with the cause. */
export async function readEnded({ wanted, state }: Facts, { connection, ports }: Reading) {
  const { registers = [], userFloors = new Map() } = wanted ?? {};
  const ended = endedMembers(state.registers, registers, userFloors);
  const members = ended.map(({ member }) => member);
  const users = await ports.users.read(connection.name, members);
  return causesOf(state, ended, users, connection);
}

/**
 * Returns the users of all members that left the group, or of a deleted group, each with the cause. If removals need a
 * decision, it returns also which of these people ended or are suspended, because they must leave although other
 * removals wait or were rejected. A person with an account that is switched on is not suspended.
 */
export async function readDeparted({ wanted, state, views }: Facts, reading: Reading) {
  const { connection, ports } = reading;
  const { group, registers = [], userFloors = new Map() } = wanted ?? {};
  if (wanted?.state === 'unnamed' && !hasDeparted(state.registers)) return readLeavers(views, reading);
  const left = group ? endedMembers(state.registers, registers, userFloors, registers.length) : registers;
  const isCopied = ({ user }: StoredMember) => user?.role !== undefined;
  const uncopied = left.filter((one) => !isCopied(one)).map(({ member }) => member);
  const read = await ports.users.read(connection.name, uncopied);
  const copies = left.filter(isCopied).map(({ member, user }) => ({ ...undescribed(member), ...user }));
  const users: readonly UserState[] = [...copies, ...read.values()];
  const causes = causesOf(state, left, new Map(users.map((user) => [user.member, user])), connection);
  if (state.removals === undefined) return causes;
  const { bind: _, ...people }: ResolvePeople = ports.people;
  const resolutions = await resolveUsers(users, connection, people);
  const { whyNot } = place([], resolutions, { connection, ports });
  const userOf = (user: UserState) => boundUser(user, connection.settings);
  const active = new Set(users.filter(({ attributes }) => isActive(attributes)).map(userOf));
  const suspended = users.flatMap((user): [PlatformUserId, WhyNot][] => {
    const id = userOf(user);
    return id === undefined || active.has(id) ? [] : [[id, suspensionOf(user)]];
  });
  return new Map([...causes, ...whyNot, ...suspended]);
}

/** The event that switched the account off is no event of the group, so it does not excuse other actions (`authorsOf`). */
const suspensionOf = ({ member, attributes }: UserState): WhyNot => ({
  member,
  cause: 'suspended',
  event: attributes.get(ACTIVE_ATTRIBUTE),
});

/** Returns the wanted users of a moved group whose person ended. Its new source has not sent its members yet. */
async function readLeavers(views: Facts['views'], { connection, ports }: Reading) {
  const users = [...(views?.base?.users ?? [])].flatMap(([user, isWanted]) => (isWanted ? user : []));
  const bindings = users.map((user) => ({ role: roleId(user), userId: user }));
  const persons = await personsBoundTo(bindings, connection, ports.people);
  const leavers = users.flatMap((user, at): [PlatformUserId, WhyNot][] => {
    const person = persons[at];
    const stays = person === undefined || mayBeMember(person, connection.settings);
    return stays ? [] : [[user, { member: null, ...inactivity(person) }]];
  });
  return new Map(leavers);
}

/**
 * Returns the users that the directory has wanted after the given stamp, with the stamp of their last membership. The
 * time of a takeover counts too, for the users that the new source wanted then.
 */
export async function readWantedAgain(
  { state, registers }: Pick<Facts, 'state'> & Pick<Wanted, 'registers'>,
  after: Stamp,
  { connection, ports }: Reading,
): Promise<ReadonlyMap<PlatformUserId, Stamp>> {
  const wantedLast = wantedLastIn(state);
  const again = registers.filter((one) => wantedLast(one) > after);
  const wantedAt = new Map<PlatformUserId, Stamp>();
  if (again.length === 0) return wantedAt;
  const members = again.map(({ member }) => member);
  const users = await ports.users.read(connection.name, members);
  for (const one of again) {
    const { member, value, user } = one;
    // An excluded person is in the directory group, but the directory does not want the person on the platform.
    const { attributes = new Map() } = users.get(member) ?? {};
    if (value === 'present' && whyUncounted(attributes, connection.settings)?.cause === 'excluded') continue;
    const id = boundUser(users.get(member) ?? user ?? {}, connection.settings);
    if (id !== undefined) wantedAt.set(id, laterStamp(wantedAt.get(id) ?? STAMP_ZERO, wantedLast(one)));
  }
  return wantedAt;
}

/** Returns why members are not in the group, by the users of their stored bindings. The first member of a user counts. */
function causesOf(
  { registers: ofGroup }: GroupState,
  registers: readonly StoredMember[],
  users: ReadonlyMap<MemberId, UserState>,
  { settings }: Connection,
): ReadonlyMap<PlatformUserId, WhyNot> {
  const causes = new Map<PlatformUserId, WhyNot>();
  for (const register of registers) {
    const { member } = register;
    const user = users.get(member) ?? { ...undescribed(member), ...register.user };
    const state = { floor: user.floor, uncounted: whyUncounted(user.attributes, settings) };
    const cause = removalCauseOf(ofGroup, register, state, settings);
    const id = boundUser(user, settings);
    if (id === undefined || cause === undefined || causes.has(id)) continue;
    const event = removalEvent(cause.cause, ofGroup, register, user);
    causes.set(id, cause.cause === 'suspended' ? suspensionOf(user) : { member, ...cause, event });
  }
  return causes;
}

/** Reads only the members of the last change. Returns undefined if all members must be read. */
export async function readPart(facts: Facts, reading: Reading) {
  const { connection, ports, confirm } = reading;
  const { ref, changedMembers = [], link } = facts.state;
  const desired = desiredGroup(ref.group, facts.state.registers);
  const { registers: readSome } = ports.groups;
  if (readSome === undefined || desired.state !== 'present' || !mayReadPart(facts, connection))
    return undefined;
  const named = changedMembers.map(({ member }) => memberId(member));
  const { people } = ports;
  const hinted = changedMembers.flatMap(({ role }) => (role === undefined ? [] : roleId(role)));
  const [persons, base, registers, users] = await Promise.all([
    people.read(connection.name, hinted),
    link && ports.groups.readView(ref, link.view),
    readSome(ref, named),
    ports.users.read(connection.name, named),
    confirm?.(),
  ]);
  // The roles in `hinted` were read in advance. This can save a read, and has no effect on the result.
  const read: typeof people.read = async (name, roles) =>
    roles.every((role) => persons.has(role)) ? persons : people.read(name, roles);
  // A plan of a part does not remove a blocked person that another client has added.
  if (facts.blocked !== undefined && [...facts.blocked].some((user) => base?.users.has(user)))
    return undefined;
  const membersByUser = await membersAfter(
    facts,
    { base, registers, users },
    async (some) =>
      withoutBlocked(await resolveUsers(some, connection, { ...people, read }), connection).resolutions,
  );
  if (membersByUser === undefined) return undefined;
  const group = groupOf(desired, membersByUser, connection);
  const empty = withoutMembers('present', registers);
  const whyNot = causesOf(facts.state, registers, users, connection);
  const { excluded = 0 } = facts.state.counts ?? {};
  const counts = { count: membersByUser.size, excluded };
  const wanted: Wanted = { ...empty, ...counts, isPart: true, whyNot, membersByUser, group };
  return { wanted, views: { base, ...NO_WRITES, isUnreadable: false } };
}

const groupOf = (
  { state: _, id, ...given }: Extract<DesiredGroup, { state: 'present' }>,
  membersByUser: Wanted['membersByUser'],
  { settings, name: connection }: Connection,
): WantedGroup => ({
  ...NO_FIELDS,
  ...given,
  name: renderName(settings.nameTemplate, { name: given.name, id, connection }),
  spokeId: id,
  users: new Map([...membersByUser].map(([user, [first]]) => [user, (first as WantedMember).member])),
});

/** Reads all registers of the group, with consistent reads, and finds the persons of the members that count. */
export async function readWanted(state: GroupState, reading: Reading): Promise<Wanted> {
  const registers = await reading.ports.groups.members(state.ref);
  const desired = desiredGroup(state.ref.group, state.registers);
  if (desired.state !== 'present') return withoutMembers(desired.state, registers);
  const named = await usersNamed(state, registers, reading);
  const users = named.filter(({ counts }) => counts).map(({ user }) => user);
  const deleted = named.filter(({ user }) => user.floor !== STAMP_ZERO);
  const resolutions = await resolveUsers(users, reading.connection, reading.ports.people);
  // Without a note, the first data of a user causes no fan-out. So a note is stored about each user without data. If
  // the data has arrived in the meantime, the note is not stored, and all members are read again.
  const unknown = users.filter(({ member, role, writes }) => {
    const found = resolutions.get(member);
    return writes === 0 && role === undefined && (found?.kind !== 'person' || found.unbound);
  });
  const note = ({ member }: UserState) => reading.ports.users.noteUnknown?.(reading.connection.name, member);
  const noted = await mapConcurrently(WRITES_IN_FLIGHT, unknown, note);
  if (noted.includes(false)) return readWanted(state, reading);
  await rememberRoles(state, users, resolutions, reading);
  const allowed = withoutBlocked(resolutions, reading.connection);
  const placed = place(registers, allowed.resolutions, reading);
  const uncounted = named.filter(({ counts }) => !counts);
  const uncountedUsers = new Map(uncounted.map(({ user }) => [user.member, user]));
  const uncountedRegisters = uncounted.map(({ register }) => register);
  const causes = causesOf(state, uncountedRegisters, uncountedUsers, reading.connection);
  return {
    ...placed,
    whyNot: new Map([
      ...causes,
      ...causesOfPending(users, resolutions, reading),
      ...placed.whyNot,
      ...allowed.whyNot,
    ]),
    state: 'present',
    count: users.length,
    excluded: named.filter(({ isMember, uncounted }) => isMember && uncounted === 'excluded').length,
    registers,
    userFloors: new Map(deleted.map(({ user }) => [user.member, user.floor])),
    group: groupOf(desired, placed.membersByUser, reading.connection),
  };
}

/**
 * Returns the matches without those of blocked people, who become pending. The binding of a blocked member stays, so
 * the members of the group are matched first.
 */
function withoutBlocked(resolutions: ReadonlyMap<MemberId, Resolution>, { blocks, settings }: Connection) {
  const allowed = new Map(resolutions);
  const whyNot = new Map<PlatformUserId, WhyNot>();
  if (blocks === undefined) return { resolutions, whyNot };
  for (const [member, resolution] of resolutions) {
    const person = resolution.kind === 'person' ? resolution.person : undefined;
    if (blockOf(blocks, { ...person, member }) === undefined) continue;
    allowed.set(member, { kind: 'pending', cause: 'blocked' });
    const id = person && eligibilityOf(person, undefined, settings).id;
    if (id !== undefined) whyNot.set(platformUserId(id), { member, cause: 'blocked' });
  }
  return { resolutions: allowed, whyNot };
}

const withoutMembers = (state: Wanted['state'], registers: readonly StoredMember[]): Wanted => ({
  state,
  group: undefined,
  count: 0,
  excluded: 0,
  pending: new Map(),
  whyNot: new Map(),
  membersByUser: new Map(),
  registers,
  userFloors: new Map(),
});

/**
 * Returns the users of the present registers, and why they do not count as members. If a copy has a role, the item of
 * the user is not read. A copy has no attributes, so with conditions that exclude people, each item is read.
 */
async function usersNamed(
  state: GroupState,
  registers: readonly StoredMember[],
  { connection, ports, confirm }: Reading,
) {
  const floor = groupFloor(state.registers);
  const present = registers.filter((register) => memberCounts(register, floor, STAMP_ZERO));
  const isCopied = ({ user }: StoredMember) => user?.role !== undefined && !excludesPeople(connection);
  const uncopied = present.filter((one) => !isCopied(one)).map(({ member }) => member);
  const [read] = await Promise.all([ports.users.read(connection.name, uncopied), confirm?.()]);
  return present.map((register) => {
    const user = read.get(register.member) ?? { ...undescribed(register.member), ...register.user };
    const uncounted = whyUncounted(user.attributes, connection.settings)?.cause;
    const isMember = memberCounts(register, floor, user.floor);
    return { register, user, uncounted, isMember, counts: isMember && uncounted === undefined };
  });
}

const excludesPeople = ({ settings }: Connection): boolean => settings.people.exclude.length > 0;

/**
 * In a large group, copies the role of each user to the user's member register. Each copy costs one write, and saves a
 * read in each later pass.
 */
async function rememberRoles(
  state: GroupState,
  users: readonly UserState[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { ports, connection }: Reading,
): Promise<void> {
  const { copyToMember } = ports.users;
  if (copyToMember === undefined || users.length < LARGE_GROUP || excludesPeople(connection)) return;
  await mapConcurrently(WRITES_IN_FLIGHT, users, async (user) => {
    const resolution = resolutions.get(user.member);
    // If no event has described the user, the user has no revision. A later fan-out could then not recognise an old
    // copy.
    if (resolution?.kind !== 'person' || resolution.unbound || user.revision === 0) return;
    // A user without attributes was read from a copy.
    if (user.role !== undefined && !user.review && user.attributes.size === 0) return;
    await copyToMember(state.ref, user.member, { ...copyOf(user), ...resolution.boundTo });
  });
}

/** Returns the mark of a wanted member that the platform refused or did not show. */
function triedAgain(
  mark: PendingMark | undefined,
  revision: string,
  nowMs: number,
): Pick<WantedMember, 'wasRefused' | 'hidden'> {
  if (mark === undefined) return {};
  if (mark.hidden === undefined) return { wasRefused: true };
  return { hidden: isHiddenLately(mark, revision, nowMs) ? 'lately' : 'earlier' };
}

function place(
  registers: readonly StoredMember[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { connection, ports }: Pick<Reading, 'connection' | 'ports'>,
): Pick<Wanted, 'pending' | 'whyNot' | 'membersByUser'> {
  const refused = new Map(
    registers.flatMap(({ member, pending }) =>
      pending?.cause === 'refused' ? [[member, pending] as const] : [],
    ),
  );
  const nowMs = ports.clock();
  const pending = new Map<MemberId, PendingMember>();
  const whyNot = new Map<PlatformUserId, WhyNot>();
  const membersByUser = new Map<PlatformUserId, WantedMember[]>();
  for (const [member, resolution] of resolutions) {
    if (resolution.kind === 'pending') {
      pending.set(member, { cause: resolution.cause });
      continue;
    }
    const { person } = resolution;
    const mark = refused.get(member);
    const found = eligibilityOf(person, refusedRevisionOf(mark, nowMs), connection.settings);
    const { cause, id = '', revision } = found;
    const platformId = platformUserId(id);
    if (cause === 'solved') {
      const one = { member, revision, ...triedAgain(mark, revision, nowMs) };
      membersByUser.set(platformId, [...(membersByUser.get(platformId) ?? []), one]);
      continue;
    }
    pending.set(member, cause === 'refused' ? { cause, personRevision: revision } : { cause });
    if (cause === 'inactive') whyNot.set(platformId, { member, ...inactivity(person) });
  }
  return { pending, whyNot, membersByUser };
}

/** Returns why bound members without a certain person may not be members, by the users of their stored bindings. */
const causesOfPending = (
  users: readonly UserState[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { connection }: Reading,
) =>
  users.flatMap((user): [PlatformUserId, WhyNot][] => {
    const { member } = user;
    const resolution = resolutions.get(member);
    const bound = boundUser(user, connection.settings);
    if (resolution?.kind !== 'pending' || bound === undefined) return [];
    return [[bound, { member, cause: resolution.cause === 'ambiguous' ? 'ambiguous' : 'unknown_person' }]];
  });

/** Returns why a person who is not in an allowed state may not be a member. */
const inactivity = ({ state }: Person): Pick<WhyNot, 'cause' | 'detail'> =>
  state === GONE ? { cause: 'gone' } : { cause: causeOfState(state), detail: state };
