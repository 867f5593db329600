import type { BlockedIds } from '../domain/block.ts';
import type { MemberId } from '../domain/ids.ts';
import { collectPages, mapConcurrently } from './async-collections.ts';
import { currentEligibility } from './match/resolve.ts';
import type { ConnectionStore, PeoplePorts, Ports, WakePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { type UserState, undescribed } from './ports/desired.ts';
import { READS_IN_FLIGHT } from './tuning.ts';
import { wakeAll } from './wake.ts';

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
  const found = await Promise.all([
    ...[...roles].map((role) => ports.people.rolesOf(name, { role })),
    ...[...users].map((userId) => ports.people.rolesOf(name, { userId })),
  ]);
  for (const { role, userId } of found.flat()) {
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
  await wakeAll(
    groups.map((group) => ({ connection: connection.name, group })),
    ports,
  );
  return next;
}

async function groupsWith(members: readonly MemberId[], { name }: Connection, { users }: IdPorts) {
  const groups = await mapConcurrently(READS_IN_FLIGHT, members, (member) =>
    collectPages(users.groupsOf(name, member)),
  );
  return [...new Set(groups.flat())];
}
