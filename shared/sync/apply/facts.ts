import { createHash } from 'node:crypto';
import { renderName } from '../../contract/name-template.ts';
import { isActive } from '../../domain/active.ts';
import {
  type DesiredGroup,
  desiredGroup,
  groupExists,
  groupFloor,
  memberCounts,
} from '../../domain/group.ts';
import type { GroupState, PendingMark, StoredMember } from '../../domain/group-state.ts';
import type { Hold } from '../../domain/hold.ts';
import type { GroupRef, MemberId, PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import { groupId, memberId, platformUserId, roleId } from '../../domain/ids.ts';
import { laterStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../../domain/view.ts';
import type { Read, StoredFact } from '../../plan/decision.ts';
import type { WantedGroup } from '../../plan/draft.ts';
import type { Facts, HeldUsers, PendingMember, Standing, Views, Wanted } from '../../plan/facts.ts';
import { isOurCreation } from '../../plan/foreign.ts';
import { foldName, mayBeAny, mayBeSpokeId } from '../../plan/names.ts';
import { changedView, NO_CHANGE } from '../../plan/uncertain.ts';
import { atOnce } from '../gather.ts';
import { isUnshownLately, refusedRevisionOf, standingOf } from '../member-standing.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { type UserState, type UserStore, undescribed } from '../ports/desired.ts';
import { GONE } from '../ports/people.ts';
import { type Platform, PlatformFailure } from '../ports/platform.ts';
import { LARGE_GROUP, WRITES_IN_FLIGHT } from '../tuning.ts';
import { copyOf } from '../walk.ts';
import { readOfList } from './listed-groups.ts';
import { type Resolution, type ResolvePeople, resolveUsers } from './resolve.ts';
import { isTold, membersAfter } from './touched.ts';

/** What is read with: apply's own ports, or, for a preview, such as write nothing. */
export interface Reading {
  readonly connection: Connection;
  /** Rejects where the connection is another by now than the one that is read for. */
  readonly confirm?: () => Promise<void>;
  readonly platform: { readonly groups: Pick<Platform['groups'], 'list' | 'get'> };
  readonly ports: Pick<ApplyPorts, 'clock'> & {
    /** Without `registers`, every member is read, whomever the change is about. */
    readonly claims: Pick<ApplyPorts['claims'], 'owners' | 'previousOwner' | 'claimedBy'>;
    readonly groups: Pick<ApplyPorts['groups'], 'read' | 'members' | 'readView' | 'readChange' | 'readHeld'> &
      Partial<Pick<ApplyPorts['groups'], 'registers'>>;
    /** Without `copyToMember`, registers keep the copies that they have; without `noteUnknown`, nobody is noted. */
    readonly users: Pick<UserStore, 'read'> & Partial<Pick<UserStore, 'copyToMember' | 'noteUnknown'>>;
    /** Without `bind`, first matches are believed and not recorded. */
    readonly people: ResolvePeople;
    readonly createSettleMs: number;
  };
  /** Claims a platform group. @returns the directory group that keeps it; undefined: it is claimed now */
  readonly claim: (id: PlatformGroupId) => Promise<GroupRef | undefined>;
}

/** The facts that a round begins with. */
export const startOf = (
  state: GroupState,
  { connection, ports }: Pick<Reading, 'connection' | 'ports'>,
): Facts => ({
  nowMs: ports.clock(),
  createSettleMs: ports.createSettleMs,
  state,
  settings: connection.settings,
});

/** There are neither an open intent nor uncertain writes. */
export const NO_WRITES = { prepared: undefined, created: undefined, uncertain: undefined };

export const ALL_MEMBERS: Read = { kind: 'read', what: ['wanted'] };

/** The facts with the answer to a question. What is read from our table is read consistently. */
export async function learn<Known extends Facts>(
  { what, maxAgeMs = 0 }: Read,
  facts: Known,
  reading: Reading,
): Promise<Known> {
  if (what[0] === 'group') return readGroup(facts, reading);
  if (what[0] === 'list') {
    const groups = await reading.platform.groups.list(maxAgeMs);
    return { ...facts, listed: { groups, ageMs: maxAgeMs } };
  }
  return { ...facts, ...(await readStored(what as readonly StoredFact[], facts, reading)) };
}

async function readGroup<Known extends Facts>(facts: Known, reading: Reading): Promise<Known> {
  const { intent, platformId } = facts.state;
  if (intent?.action === 'create') return lookForCreation(facts, reading);
  const id = intent?.platformId ?? platformId;
  const look = await reading.platform.groups.get(id as PlatformGroupId);
  return { ...facts, look: look ?? 'gone', shown: look };
}

type Stored = Pick<Facts, 'wanted' | 'views' | 'held' | 'departed' | 'listed'>;

async function readStored(
  what: readonly StoredFact[],
  facts: Facts,
  reading: Reading,
): Promise<Stored | Pick<Facts, 'wanted' | 'views'>> {
  const part = what.includes('views') ? await readPart(facts, reading) : undefined;
  if (part !== undefined) return part;
  const [wanted, views, held, departed, listed] = await Promise.all([
    what.includes('wanted') ? readWanted(facts.state, reading) : facts.wanted,
    what.includes('views') ? readViews(facts.state, reading) : facts.views,
    what.includes('held') ? readHeld(facts.state, reading) : facts.held,
    what.includes('departed') ? readDeparted(facts, reading) : facts.departed,
    readOfList(what, facts, reading),
  ]);
  return { wanted, views, held, departed, listed };
}

async function readViews(state: GroupState, { ports: { groups } }: Reading): Promise<Views> {
  const { ref, view, intent, platformId, uncertain } = state;
  const isNew = intent?.action === 'create';
  const made = uncertain?.write?.action === 'create' ? uncertain.write.change : undefined;
  const [base, whole, change, created, late] = await Promise.all([
    view && groups.readView(ref, view),
    isNew && intent.change ? groups.readView(ref, intent.change) : undefined,
    !isNew && intent?.change ? groups.readChange(ref, intent.change) : undefined,
    made && groups.readView(ref, made),
    uncertain?.change && groups.readChange(ref, uncertain.change),
  ]);
  const isUnreadable = platformId !== undefined && base === undefined;
  const isSet = uncertain?.change !== undefined;
  const isLost = intent?.change !== undefined && change === undefined;
  const prepared = isNew ? whole : intent && base && !isLost ? changedView(base, intent, change) : undefined;
  return { base, prepared, created, uncertain: isSet ? late : uncertain && NO_CHANGE, isUnreadable };
}

/**
 * The members of an adopted group that groupsync had added. The directory group that was linked to it before has this
 * list: either this group, or a group of a removed connection.
 */
export async function readPreviousLink(
  state: Pick<GroupState, 'ref' | 'previousLink'>,
  id: PlatformGroupId,
  { connection, ports: { groups, claims } }: FormerReading,
): Promise<View | undefined> {
  const own = await formerView(state, id, groups);
  // Under any other setting this does not matter: every member that the directory does not name is removed.
  if (own !== undefined || connection.settings.membership !== 'additive') return own;
  const previous = await claims.previousOwner(connection.company, id);
  const before = previous && (await groups.read(previous));
  return before && formerView(before, id, groups);
}

interface FormerReading {
  readonly connection: Connection;
  readonly ports: {
    readonly groups: Pick<ApplyPorts['groups'], 'read' | 'readView'>;
    readonly claims: Pick<ApplyPorts['claims'], 'previousOwner'>;
  };
}

async function formerView(
  { ref, previousLink }: Pick<GroupState, 'ref' | 'previousLink'>,
  id: PlatformGroupId,
  groups: Pick<ApplyPorts['groups'], 'readView'>,
): Promise<View | undefined> {
  if (previousLink?.platformId !== id) return undefined;
  const { waiver: _, ...view } = (await groups.readView(ref, previousLink.view)) ?? {};
  return 'users' in view ? view : undefined;
}

async function readHeld(
  { ref, hold, approval, platformId }: GroupState,
  { ports }: Reading,
): Promise<HeldUsers> {
  const read = async (recorded: Hold | undefined) => {
    const users = recorded && (await ports.groups.readHeld(ref, recorded));
    const about = (['remove', 'delete'] as const).find(
      (kind) => users !== undefined && holdDigest(platformId, kind, [...users]) === recorded?.digest,
    );
    return { users, about };
  };
  const [held, approved] = await Promise.all([read(hold), approval && read(approval)]);
  return { ...held, approved };
}

/** What a person approves: these removals, from this platform group, by this kind of write. */
export function holdDigest(
  platformId: PlatformGroupId | undefined,
  kind: 'remove' | 'delete',
  users: readonly PlatformUserId[],
): string {
  const set = JSON.stringify([platformId ?? null, kind, [...users].sort()]);
  return createHash('sha256').update(set).digest('hex');
}

/**
 * Claims a platform group for adoption. External ids may differ only in form, and names prove little. So a platform
 * group with the exact id of another directory group is left to that directory group, if it has no platform group yet.
 * @returns the directory group that keeps it; undefined: it is claimed now
 */
export async function claimAdopted(
  { id, spokeId }: ListedGroup,
  { ref }: Pick<GroupState, 'ref'>,
  { ports, claim }: Pick<Reading, 'claim'> & { readonly ports: Pick<Reading['ports'], 'groups'> },
): Promise<GroupRef | undefined> {
  if (spokeId !== null && spokeId !== ref.group) {
    const other = await ports.groups.read({ ...ref, group: groupId(spokeId) });
    const isWaiting = other && groupExists(other.registers) && !other.released && !other.platformId;
    if (isWaiting) return other.ref;
  }
  return claim(id as PlatformGroupId);
}

/** What an open creation made, if the platform shows it by now: asked anew, since it may have come just now. */
async function lookForCreation<Known extends Facts>(facts: Known, reading: Reading): Promise<Known> {
  const { state } = facts;
  const views = facts.views ?? (await readViews(state, reading));
  const groups = await reading.platform.groups.list(0);
  // An exact external id takes precedence: another directory group may have an id that differs only in form.
  const isExact = ({ spokeId }: ListedGroup) => spokeId === state.intent?.spokeId;
  const inOrder = [...groups.filter(isExact), ...groups.filter((group) => !isExact(group))];
  for (const group of inOrder) {
    const observed = await creationOf(group, state, reading);
    if (observed === undefined || state.intent === undefined) continue;
    if (!isOurCreation(observed, state.intent, views.prepared)) continue;
    if ((await reading.claim(observed.id as PlatformGroupId)) === undefined) {
      return { ...facts, views, look: observed, listed: { groups, ageMs: 0 } };
    }
  }
  refuseMoreOdd(groups, state.intent?.oddBefore);
  return { ...facts, views, look: 'gone', listed: { groups, ageMs: 0 } };
}

/**
 * An intent may not name all groups in an unspecified form that existed before the POST. If their number has grown, the
 * POST may have made one of them, and the creation stays unsettled.
 * @throws PlatformFailure
 */
function refuseMoreOdd(groups: readonly ListedGroup[], oddBefore = Number.POSITIVE_INFINITY): void {
  const odd = groups.filter(mayBeAny).length;
  if (odd <= oddBefore) return;
  const message = `expected at most ${oddBefore} groups in a form other than specified, as before the creation, got ${odd}`;
  throw new PlatformFailure('unavailable', message, { status: 200 });
}

/**
 * A listed group that the creation may have made, fetched by its id: a list may show only some users. While a group in
 * an unspecified form cannot be read, the creation stays unsettled.
 */
async function creationOf(
  listed: ListedGroup,
  { intent }: GroupState,
  { platform }: Pick<Reading, 'platform'>,
): Promise<ObservedGroup | undefined> {
  const { id, spokeId } = listed;
  if (intent === undefined || intent.known?.includes(id as PlatformGroupId)) return undefined;
  const mayBeOurs =
    spokeId === null
      ? (!isWhole(listed) && intent.oddBefore === undefined) ||
        (isWhole(listed) && foldName(listed.name) === foldName(intent.name))
      : mayBeSpokeId(spokeId, intent.spokeId);
  return mayBeOurs ? platform.groups.get(id as PlatformGroupId) : undefined;
}

/** Whom, of those that a waiver lets stay, the directory has taken out since. */
async function readDeparted({ wanted, views, state }: Facts, reading: Reading) {
  const { connection, ports } = reading;
  const seen = views?.base?.waiver?.seen ?? STAMP_ZERO;
  const floor = groupFloor(state.registers);
  const registers = wanted?.registers ?? (await ports.groups.members(state.ref));
  const gone = new Map(
    registers
      .map(({ member, value, stamp }): [MemberId, Stamp] => {
        const left = value === 'absent' ? stamp : stamp < floor ? floor : STAMP_ZERO;
        return [member, laterStamp(left, wanted?.userFloors.get(member) ?? STAMP_ZERO)];
      })
      .filter(([, stamp]) => stamp > seen),
  );
  const { settings, name } = connection;
  const users = await ports.users.read(name, [...gone.keys()]);
  return new Map(
    [...(await resolveUsers([...users.values()], connection, ports.people))].flatMap(
      ([member, resolution]): [PlatformUserId, Stamp][] => {
        if (resolution.kind !== 'person') return [];
        const { id } = standingOf(resolution.person, undefined, settings);
        return id === undefined ? [] : [[platformUserId(id), gone.get(member) ?? seen]];
      },
    ),
  );
}

/** Reads those alone whom the last change was about, where that tells all. */
async function readPart(
  facts: Facts,
  reading: Reading,
): Promise<Pick<Facts, 'wanted' | 'views'> | undefined> {
  const { connection, ports, confirm } = reading;
  const { ref, changedMembers = [], view } = facts.state;
  const desired = desiredGroup(ref.group, facts.state.registers);
  const { registers: readSome } = ports.groups;
  if (readSome === undefined || desired.state !== 'present' || !isTold(facts, connection)) return undefined;
  const named = changedMembers.map(({ member }) => memberId(member));
  const { people } = ports;
  const hinted = changedMembers.flatMap(({ role }) => (role === undefined ? [] : roleId(role)));
  const [persons, base, registers, users] = await Promise.all([
    people.read(connection.name, hinted),
    view && ports.groups.readView(ref, view),
    readSome(ref, named),
    ports.users.read(connection.name, named),
    confirm?.(),
  ]);
  // A hint may save a read, and decides nothing.
  const read: typeof people.read = async (name, roles) =>
    roles.every((role) => persons.has(role)) ? persons : people.read(name, roles);
  const standing = await membersAfter(facts, { base, registers, users }, (some) =>
    resolveUsers(some, connection, { ...people, read }),
  );
  if (standing === undefined) return undefined;
  const group = groupOf(desired, standing, connection);
  const nobody = wantsNobody('present', registers);
  const wanted: Wanted = { ...nobody, isPart: true, count: standing.size, standing, group };
  return { wanted, views: { base, ...NO_WRITES, isUnreadable: false } };
}

const groupOf = (
  { id, name }: Extract<DesiredGroup, { state: 'present' }>,
  standing: Wanted['standing'],
  { settings, name: connection }: Connection,
): WantedGroup => ({
  name: renderName(settings.nameTemplate, { name, id, connection }),
  spokeId: id,
  users: new Map([...standing].map(([user, [first]]) => [user, (first as Standing).member])),
});

/** Reads the group's registers, all of them and consistently, and resolves the members that count. */
async function readWanted(state: GroupState, reading: Reading): Promise<Wanted> {
  const registers = await reading.ports.groups.members(state.ref);
  const desired = desiredGroup(state.ref.group, state.registers);
  if (desired.state !== 'present') return wantsNobody(desired.state, registers);

  const named = await usersNamed(state, registers, reading);
  const users = named.filter(({ counts }) => counts).map(({ user }) => user);
  const deleted = named.filter(({ user }) => user.floor !== STAMP_ZERO);
  const resolutions = await resolveUsers(users, reading.connection, reading.ports.people);
  // Who is new walks to no group: one that has found nothing of them says so before it settles that, or reads again.
  const unknown = users.filter(({ member, role, writes }) => {
    const found = resolutions.get(member);
    return writes === 0 && role === undefined && (found?.kind !== 'person' || found.unbound);
  });
  const note = ({ member }: UserState) => reading.ports.users.noteUnknown?.(reading.connection.name, member);
  const noted = await atOnce(WRITES_IN_FLIGHT, unknown, note);
  if (noted.includes(false)) return readWanted(state, reading);
  await rememberRoles(state, users, resolutions, reading);
  const placed = place(registers, resolutions, reading);
  return {
    ...placed,
    state: 'present',
    count: users.length,
    registers,
    userFloors: new Map(deleted.map(({ user }) => [user.member, user.floor])),
    group: groupOf(desired, placed.standing, reading.connection),
  };
}

const wantsNobody = (state: Wanted['state'], registers: readonly StoredMember[]): Wanted => ({
  state,
  group: undefined,
  count: 0,
  pending: new Map(),
  whyNot: new Map(),
  standing: new Map(),
  registers,
  userFloors: new Map(),
});

/**
 * The users behind the registers that say present, and whether each is a member, as far as the user's own registers have
 * a say. A register with a copy of its user saves reading that user.
 */
async function usersNamed(
  state: GroupState,
  registers: readonly StoredMember[],
  { connection, ports, confirm }: Reading,
) {
  const floor = groupFloor(state.registers);
  const present = registers.filter((register) => memberCounts(register, floor, STAMP_ZERO));
  const uncopied = present.filter(({ user }) => user?.role === undefined).map(({ member }) => member);
  const [read] = await Promise.all([ports.users.read(connection.name, uncopied), confirm?.()]);
  return present.map((register) => {
    const user = read.get(register.member) ?? { ...undescribed(register.member), ...register.user };
    return { user, counts: memberCounts(register, floor, user.floor) && isActive(user.attributes) };
  });
}

/**
 * In a large group, copies the role of each user that was just resolved onto its register: one write, once, saves every
 * later apply a read. In a small one the reads are too few to matter.
 */
async function rememberRoles(
  state: GroupState,
  users: readonly UserState[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { ports }: Reading,
): Promise<void> {
  const { copyToMember } = ports.users;
  if (copyToMember === undefined || users.length < LARGE_GROUP) return;
  await atOnce(WRITES_IN_FLIGHT, users, async (user) => {
    const resolution = resolutions.get(user.member);
    // A user that no event described has no revision by which a later walk could tell an old copy.
    if (resolution?.kind !== 'person' || resolution.unbound || user.revision === 0) return;
    // Without attributes it is a copy already.
    if (user.role !== undefined && !user.review && user.attributes.size === 0) return;
    await copyToMember(state.ref, user.member, { ...copyOf(user), ...resolution.boundTo });
  });
}

/** The mark of a wanted member that the platform refused or did not show. */
function triedAgain(
  mark: PendingMark | undefined,
  revision: number,
  nowMs: number,
): Pick<Standing, 'wasRefused' | 'unshown'> {
  if (mark === undefined) return {};
  if (mark.unshown === undefined) return { wasRefused: true };
  return { unshown: isUnshownLately(mark, revision, nowMs) ? 'lately' : 'earlier' };
}

/** Sorts the resolved members into users that are wanted and members that have to wait. */
function place(
  registers: readonly StoredMember[],
  resolutions: ReadonlyMap<MemberId, Resolution>,
  { connection, ports }: Reading,
): Pick<Wanted, 'pending' | 'whyNot' | 'standing'> {
  const refused = new Map(
    registers.flatMap(({ member, pending }) =>
      pending?.cause === 'refused' ? [[member, pending] as const] : [],
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
    const refusal = refusedRevisionOf(refused.get(member), ports.clock());
    const { cause, id = '' } = standingOf(person, refusal, connection.settings);
    const user = platformUserId(id);
    const gone = 'the platform has no such employee any more';
    const reason = person.state === GONE ? gone : `their roleState is ${person.state}`;
    if (cause === 'inactive') whyNot.set(user, { member, reason });
    if (cause !== 'solved') {
      pending.set(member, { cause, ...(cause === 'refused' ? { personRevision: person.revision } : {}) });
    } else {
      const { revision } = person;
      const one = { member, revision, ...triedAgain(refused.get(member), revision, ports.clock()) };
      standing.set(user, [...(standing.get(user) ?? []), one]);
    }
  }
  return { pending, whyNot, standing };
}
