import type { BlockedIds } from '../domain/block.ts';
import type { GroupId, MemberId, RoleId } from '../domain/ids.ts';
import { mayBeMember, personsOf } from '../plan/person.ts';
import {
  boundToOf,
  currentEligibility,
  type MatchInput,
  matchMember,
  personsBoundTo,
  refusedRevisionOf,
} from './match/resolve.ts';
import { withCurrentOwner } from './moves.ts';
import type { ConnectionStore, PeoplePorts, PeopleStore, Ports, WakePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { type UserState, undescribed } from './ports/desired.ts';
import type { Person } from './ports/people.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT, WRITES_IN_FLIGHT } from './tuning.ts';
import { fanOutUser, wakeAll } from './wake.ts';

/**
 * Wakes the groups of all members who are or were bound to the persons of these roles. If a binding names a role that
 * is no longer the decisive role, the function first changes the binding to the decisive role. The decisive role keeps
 * the member in the group. So `askMissing` must read this role if the list lacks it.
 * @throws Error if a group could not be woken
 */
export async function wakeMembersOf(connection: Connection, roles: readonly Person[], ports: PeoplePorts) {
  const { name } = connection;
  const bindings = await bindingsTo(connection, roles, ports);
  const members = [...new Set(bindings.map(({ member }) => member))];
  const keyOf = (...ids: [MemberId, RoleId]) => JSON.stringify(ids);
  const unproven = new Set(
    bindings.filter(({ isProven }) => !isProven).map(({ member, role }) => keyOf(member, role)),
  );
  const known = await ports.users.read(name, members);
  const users = members.map((member) => known.get(member) ?? undescribed(member));
  const persons = await personsBoundTo(users, connection, ports.people);
  const fanningOut: UserState[] = [];
  const groups = new Set<GroupId>();
  await mapConcurrently(WRITES_IN_FLIGHT, users.entries(), async ([at, user]) => {
    const isUnproven = user.role !== undefined && unproven.has(keyOf(user.member, user.role));
    const changedUser = await followed({ ...user, isUnproven }, persons[at], connection, ports);
    if (changedUser !== undefined) fanningOut.push(changedUser);
    const reached =
      changedUser === undefined
        ? await collectPages(ports.users.groupsOf(name, user.member))
        : await fanOutUser(ports.users, name, changedUser);
    for (const group of reached) groups.add(group);
  });
  const reached = [...groups].map((group) => ({ connection: name, group }));
  // A group that took a platform group over may not have its members yet.
  const all = await ports.groups.readMany(reached);
  const owned = await mapConcurrently(READS_IN_FLIGHT, all, (one) => withCurrentOwner(one, ports.groups));
  for (const { movedTo } of owned) if (movedTo) groups.add(movedTo);
  await wakeAll(name, groups, ports);
  await mapConcurrently(WRITES_IN_FLIGHT, fanningOut, ({ member, revision }) =>
    ports.users.endFanOut(name, member, revision),
  );
  return [...groups];
}

/**
 * Returns the current and former bindings to any role of these persons. If a role moved to another user, the bindings
 * to roles of its previous user are included.
 */
async function bindingsTo({ name, settings }: Connection, roles: readonly Person[], { people }: PeoplePorts) {
  const all = new Set(roles.map(({ role }) => role));
  if (settings.memberIdField === 'userId') {
    const users = new Set(roles.flatMap(({ userId, previousUserId }) => [userId, previousUserId]));
    const found = await mapConcurrently(READS_IN_FLIGHT, users, (userId) =>
      userId === undefined ? [] : people.ofUser(name, userId),
    );
    for (const { role } of found.flat()) all.add(role);
  }
  const bindings = await mapConcurrently(READS_IN_FLIGHT, all, (role) =>
    collectPages(people.membersBoundTo(name, role)),
  );
  return bindings.flat();
}

/**
 * Changes a binding to the decisive role of its person. The function leaves an unproven binding whose role has ended,
 * because `judgeBindings` still needs the first matched role.
 * @returns the user after the change; undefined if the binding is not changed
 */
async function followed(
  user: UserState & { readonly isUnproven: boolean },
  person: Person | undefined,
  connection: Connection,
  { users, people, clock }: PeoplePorts,
): Promise<UserState | undefined> {
  const { member, role, userId } = user;
  const { name } = connection;
  if (role === undefined || person === undefined) return undefined;
  const to = boundToOf(person);
  if (to.role === role && (to.userId ?? userId) === userId) return undefined;
  const record = to.role === role ? undefined : (await people.read(name, [role])).get(role);
  if (record === undefined) return users.followRole(name, member, role, to, clock());
  if (record.userId === to.userId && user.isUnproven) return undefined;
  const isMoved = record.userId !== to.userId && (await hasMovedWith(user, record, { connection, people }));
  return users.followRole(name, member, role, isMoved ? boundToOf(record) : to, clock());
}

/**
 * Decides whether a member follows a role that moved to another user. The old user still has a role that allows
 * membership. The member follows the moved role if the member's attributes match only the new user. So after the
 * platform corrects a wrong merge of two users, their members are bound to different persons again.
 */
async function hasMovedWith(user: UserState, record: Person, input: MatchInput): Promise<boolean> {
  const { settings } = input.connection;
  if (record.userId === undefined || !mayBeMember(record, settings)) return false;
  const matched = await matchMember(user, input);
  return matched.kind === 'person' && personsOf([matched.person, record], settings).length === 1;
}

/** Returns the groups with a pending member who now matches a person, or whose reason for pending has changed. */
export async function groupsOfSolvable(connection: Connection, ports: PeoplePorts) {
  const groups: GroupId[] = [];
  const asked = new Map<string, ReturnType<PeopleStore['holding']>>();
  // A member may be pending in many groups. The cache searches the member's person only once.
  const holding: PeopleStore['holding'] = (name, field, value) => {
    const found = asked.get(`${field} ${value}`) ?? ports.people.holding(name, field, value);
    asked.set(`${field} ${value}`, found);
    return found;
  };
  const people = { ...ports.people, holding };
  for await (const page of ports.index.pending(connection.name)) {
    const members = page.map(({ member }) => member);
    const known = await ports.users.read(connection.name, members);
    const solved = await mapConcurrently(WRITES_IN_FLIGHT, page, async (entry) => {
      // Even if no event has described the member, a match rule may find the person by the member's id.
      const user = known.get(entry.member) ?? undescribed(entry.member);
      const refused = refusedRevisionOf(entry, ports.clock());
      const { cause } = await currentEligibility(user, refused, { connection, people });
      return cause === entry.cause ? [] : [entry.ref.group];
    });
    groups.push(...solved.flat());
  }
  return groups;
}

type IdPorts = Pick<Ports, 'people' | 'users'>;

/**
 * Returns these ids of a person and all other known ids of the same person: the employee's roles and user ids, and the
 * members that are bound to one of the roles. All roles of one user count as one person, for both values of
 * `memberIdField`. A member leads to its employee only if no employee is known yet, because `rebind` may later bind the
 * member to another employee.
 */
export async function idsOfPerson(
  given: BlockedIds,
  connection: Connection,
  ports: IdPorts,
): Promise<BlockedIds> {
  const { name } = connection;
  const isEmployeeKnown = given.roles.length + given.users.length > 0;
  const known = isEmployeeKnown ? [given] : await employeesOf(given.members, connection, ports);
  const roles = new Set(known.flatMap((one) => one.roles));
  const users = new Set(known.flatMap((one) => one.users));
  const ofUsers = await Promise.all([...users].map((userId) => ports.people.ofUser(name, userId)));
  // The platform may have moved a role to another person. It did if a known user still has an eligible role.
  const isWhole = ofUsers.flat().some((one) => mayBeMember(one, connection.settings));
  const ofRoles = [...(isWhole ? [] : roles)].map((role) => ports.people.rolesOf(name, { role }));
  for (const { role, userId } of [...ofUsers, ...(await Promise.all(ofRoles))].flat()) {
    roles.add(role);
    if (userId !== undefined) users.add(userId);
  }
  const bindings = await mapConcurrently(READS_IN_FLIGHT, roles, (role) =>
    collectPages(ports.people.membersBoundTo(name, role)),
  );
  const bound = await ports.users.read(name, [...new Set(bindings.flat().map(({ member }) => member))]);
  const isOfPerson = ({ role }: UserState) => role !== undefined && roles.has(role);
  const members = [...bound.values()].filter(isOfPerson).map(({ member }) => member);
  return { members: [...new Set([...given.members, ...members])], roles: [...roles], users: [...users] };
}

/** Returns the ids of the employees that these members are bound to, or would be bound to now. */
async function employeesOf(members: readonly MemberId[], connection: Connection, { people, users }: IdPorts) {
  const known = await users.read(connection.name, members);
  return mapConcurrently(READS_IN_FLIGHT, members, async (member) => {
    const user = known.get(member) ?? undescribed(member);
    const { person } = await currentEligibility(user, undefined, { connection, people });
    const { role, userId } = person ?? user;
    return {
      roles: role === undefined ? [] : [role],
      users: userId === undefined ? [] : [userId],
    };
  });
}

export const hasSameIds = (a: BlockedIds, b: BlockedIds): boolean =>
  (['members', 'roles', 'users'] as const).every((ids) => a[ids].length === b[ids].length);

export type BlockedIdPorts = IdPorts &
  WakePorts & { readonly connections: Pick<ConnectionStore, 'current' | 'replace'> };

/**
 * Adds the ids that have appeared since the last refresh to the blocks, and wakes the groups of the added members.
 * Most added ids were blocked before: a member is blocked if it is bound to a blocked role or user. The added ids stay
 * blocked after a later `rebind`.
 * @returns the connection with the blocks
 */
export async function extendBlocks(
  connection: Connection,
  ports: BlockedIdPorts & Pick<PeoplePorts, 'users'>,
): Promise<Connection> {
  if (connection.blocks === undefined) return connection;
  const current = (await ports.connections.current(connection.name)) ?? connection;
  const blocks = await mapConcurrently(READS_IN_FLIGHT, current.blocks ?? [], async (block) => {
    const ids = await idsOfPerson(block, current, ports);
    return hasSameIds(ids, block) ? block : { ...block, ...ids };
  });
  const before = new Set(current.blocks);
  if (blocks.every((block) => before.has(block))) return current;
  const next = { ...current, blocks, replanSinceMs: ports.clock() };
  // If an operator has changed the connection meanwhile, the next refresh adds the ids.
  if (!(await ports.connections.replace(next, current))) return current;
  const known = new Set((current.blocks ?? []).flatMap(({ members }) => members));
  const added = blocks.flatMap(({ members }) => members.filter((member) => !known.has(member)));
  const groups = await groupsWith(added, connection, ports);
  await wakeAll(connection.name, groups, ports);
  return next;
}

async function groupsWith(members: readonly MemberId[], { name }: Connection, { users }: IdPorts) {
  const groups = await mapConcurrently(READS_IN_FLIGHT, members, (member) =>
    collectPages(users.groupsOf(name, member)),
  );
  return [...new Set(groups.flat())];
}
