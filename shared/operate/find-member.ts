import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import { ACTIVE_ATTRIBUTE } from '../domain/active.ts';
import { type ConnectionName, type GroupRef, type MemberId, memberId } from '../domain/ids.ts';
import { claimOf } from '../scim/server/context.ts';
import { otherRolesOf } from '../sync/match/resolve.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { collectPages } from '../sync/tuning.ts';
import { allGroups, findOne, formatPerson, NotFound, undefinedIfNoMatch, withId } from './names.ts';
import { requireConnection } from './settings.ts';

/**
 * Finds a member of these groups by id, address, name or another attribute. Case is ignored, and a unique prefix is
 * enough. @throws NotFound
 */
export async function findMemberOf(
  groups: readonly GroupRef[],
  text: string,
  none: string,
  ports: Pick<ToolPorts, 'groups' | 'users'>,
): Promise<MemberId> {
  const [first] = groups;
  if (first === undefined) return findOne(text, [], none);
  const members = new Set<MemberId>();
  for (const ref of groups) for (const { member } of await ports.groups.members(ref)) members.add(member);
  const known = await ports.users.read(first.connection, [...members]);
  const all = [...members].map((member) => {
    const attributes = new Map(known.get(member)?.attributes);
    attributes.delete(ACTIVE_ATTRIBUTE);
    const names = [member, ...[...attributes.values()].map(({ value }) => value)];
    return { item: member, names, label: withId(formatPerson(attributes), member) };
  });
  return findOne(text, all, none);
}

/** Returns, for each field that a match rule names, the roles that have this value. */
export function rolesHolding(text: string, { name, settings }: Connection, people: ToolPorts['people']) {
  const fields = matchRules(settings).map(({ employeeField }) => fieldName(employeeField));
  return Promise.all(fields.map((field) => people.holding(name, field, matchForm(field, text))));
}

/**
 * Returns the members who are bound to a person with this value. A person has the value if a role of the person has it
 * in a field that a match rule names.
 */
export async function membersHolding(
  text: string,
  connection: Connection,
  { people }: Pick<ToolPorts, 'people'>,
): Promise<readonly MemberId[]> {
  const found = new Set<MemberId>();
  const holders = (await rolesHolding(text, connection, people)).flat();
  const others = await otherRolesOf(holders, connection, people);
  for (const { role } of [...holders, ...others])
    for (const { member } of await collectPages(people.membersBoundTo(connection.name, role)))
      found.add(member);
  return [...found];
}

/**
 * Finds a member of a connection by id, or by a value that a match rule compares, such as the employee's address. If
 * there is no such member, it searches the members of every group. The name of a member without groups is found only if
 * it is a SCIM userName.
 * @throws NotFound
 */
export async function findMember(
  connection: ConnectionName,
  text: string,
  ports: Pick<ToolPorts, 'groups' | 'users' | 'index' | 'people' | 'connections' | 'scim'>,
): Promise<MemberId> {
  const byId = memberId(text);
  if (text !== '' && (await ports.users.read(connection, [byId])).has(byId)) return byId;
  const known = await ports.connections.find(connection);
  // Members of a removed connection can still be found. A connection that never existed is an error.
  if (!known && !(await ports.connections.companyOf(connection))) await requireConnection(connection, ports);
  const bound = known === undefined ? [] : await membersHolding(text, known, ports);
  if (bound.length > 1) throw new NotFound(`"${text}" matches ${bound.join(', ')}; give the id`);
  if (bound[0] !== undefined) return bound[0];
  const none = `no group of connection ${connection} has had a member "${text}"; a member without groups is found by its id`;
  const groups = await allGroups(connection, ports);
  return findMemberOf(groups, text, none, ports).catch(async (error: unknown) => {
    undefinedIfNoMatch(error);
    const holder = await ports.scim.holder(connection, claimOf(text, 'User'));
    if (holder === undefined) throw error;
    return memberId(holder);
  });
}
