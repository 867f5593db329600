import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import type { GroupState } from '../domain/group-state.ts';
import { type ConnectionName, type GroupId, type MemberId, memberId } from '../domain/ids.ts';
import { claimOf } from '../scim/server/context.ts';
import { otherRolesOf } from '../sync/match/resolve.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { undescribed } from '../sync/ports/desired.ts';
import { collectPages } from '../sync/tuning.ts';
import { findOne, formatPerson, withId } from './names.ts';
import { requireConnection } from './settings.ts';

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
 * Finds a member of a connection by id, by a value that a match rule compares, such as the employee's address, by a SCIM
 * userName, or by the value or a unique prefix of an attribute.
 * @param mayBe leaves out other members, if the text matches several
 * @throws NotFound
 */
export async function findMember(
  connection: ConnectionName,
  text: string,
  ports: Pick<ToolPorts, 'users' | 'people' | 'connections' | 'scim'>,
  mayBe: (member: MemberId) => boolean = () => true,
): Promise<MemberId> {
  const byId = memberId(text);
  if (text !== '' && (await ports.users.read(connection, [byId])).has(byId)) return byId;
  const known = await ports.connections.find(connection);
  // Members of a removed connection can still be found. A connection that never existed is an error.
  if (!known && !(await ports.connections.companyOf(connection))) await requireConnection(connection, ports);
  const bound = known === undefined ? [] : (await membersHolding(text, known, ports)).filter(mayBe);
  if (bound[0] !== undefined && bound.length === 1) return bound[0];
  const holder = await ports.scim.holder(connection, claimOf(text, 'User'));
  if (holder !== undefined && bound.length === 0 && mayBe(memberId(holder))) return memberId(holder);
  const named = (await ports.users.named(connection)).filter(({ member }) => mayBe(member));
  const withNames = new Set(named.map(({ member }) => member));
  const nameless = bound.filter((member) => !withNames.has(member));
  const all = [...named, ...nameless.map(undescribed)].map(({ member, attributes }) => {
    // Only a prefix, so a member with exactly this text in an attribute goes first.
    const ofPerson = bound.includes(member) ? [`${text} `] : [];
    const names = [member, ...[...attributes.values()].map(({ value }) => value), ...ofPerson];
    return { item: member, names, label: withId(formatPerson(attributes), member) };
  });
  return findOne(text, all, `connection ${connection} has no member with the id or name "${text}"`);
}

export async function registersIn(
  { ref, containsGroups }: Pick<GroupState, 'ref' | 'containsGroups'>,
  members: readonly MemberId[],
  { groups }: { readonly groups: Pick<ToolPorts['groups'], 'members' | 'registers'> },
) {
  if (!containsGroups) return groups.registers(ref, members);
  const wanted = new Set(members);
  return (await groups.members(ref)).filter(({ member }) => wanted.has(member));
}

export async function groupsOfMember(
  connection: ConnectionName,
  member: MemberId,
  { users, groups, desired }: Pick<ToolPorts, 'users' | 'groups' | 'desired'>,
): Promise<readonly GroupId[]> {
  const found = new Set<GroupId>();
  let level: readonly GroupId[] = await collectPages(users.groupsOf(connection, member));
  while (level.length > 0) {
    for (const group of level) found.add(group);
    const refs = level.map((group) => ({ connection, group }));
    const contained = (await groups.readMany(refs, () => {})).filter(({ isContained }) => isContained);
    const around = await Promise.all(contained.map(({ ref }) => desired.groupsAround(ref)));
    level = [...new Set(around.flat())].filter((group) => !found.has(group));
  }
  return [...found];
}
