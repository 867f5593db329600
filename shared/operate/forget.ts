import type { ConnectionName, MemberId } from '../domain/ids.ts';
import type { TaskRuns } from '../domain/task.ts';
import { unindex } from '../scim/server/context.ts';
import { hashOfValue } from '../scim/server/handle.ts';
import { soughtBy } from '../sync/match/resolve.ts';
import type { ScimStore, ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { Erased } from '../sync/ports/eraser.ts';
import { ERASING } from '../sync/ports/logs.ts';
import { WORKERS_KNOW_AFTER_MS } from '../sync/wake.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';
import { readableConnections } from './settings.ts';

type ForgetPorts = JournalPorts & Pick<ToolPorts, 'scim' | 'users' | 'people' | 'eraser'>;

/**
 * Erases the data of one person: the data from the directory and SCIM, the platform's data for every role of the user,
 * and the index items for the values of this data. Ids, stamps, memberships and the binding stay, so that a late event
 * cannot restore old data. The journal records the erasure and its operator, but not the erased data. After a crash,
 * the erasure can be repeated.
 * @returns the number of erased items of each kind; undefined if no data of the member is stored
 */
export async function forgetMember(connection: ConnectionName, member: MemberId, ports: ForgetPorts) {
  const change = { kind: 'forget_member', member, before: null, after: null, reason: 'erased on request' };
  await recordAction(journalOf(connection), { action: 'forget', changes: [change] }, ports);
  const [resource] = await ports.scim.read(connection, 'User', [member]);
  const hadResource = await forgetScimUser(connection, member, ports);
  const user = (await ports.users.read(connection, [member])).get(member);
  const attributes = await ports.users.forget(connection, member, ports.clock());
  const roles = await ports.people.rolesOf(connection, user ?? {});
  const described = roles.filter(({ values }) => values.size > 0);
  // Another worker may save this platform data again at the same time. The hourly refresh reads it again anyway, as
  // long as the platform has the person.
  for (const one of described) await ports.people.save(connection, { ...one, values: new Map() }, one);
  if (!hadResource && attributes === undefined) return undefined;
  const ids = new Set([...(user?.role === undefined ? [] : [user.role]), ...roles.map(({ role }) => role)]);
  const values = [...(user?.attributes.values() ?? [])].map(({ value }) => value);
  const hashes = new Set([...values, ...textsIn(resource?.attributes)].map(hashOfValue));
  const rest = await ports.eraser.person(connection, { member, roles: ids, hashes });
  return {
    attributes: attributes ?? 0,
    scimResources: hadResource ? 1 : 0,
    valuesOfEmployee: described.reduce((sum, { values }) => sum + values.size, 0),
    ...rest,
  };
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Returns the other connections that still have data of the person: data of the same member or of an employee with the
 * same role, or an employee with a value that a match rule finds for the member. Call it before the erasure, because the
 * erasure removes the values.
 */
export async function otherConnectionsKnowing(
  connection: ConnectionName,
  member: MemberId,
  { connections, users, people }: Pick<ToolPorts, 'connections' | 'users' | 'people'>,
): Promise<readonly ConnectionName[]> {
  const user = (await users.read(connection, [member])).get(member);
  const roles = (await people.rolesOf(connection, user ?? {})).map(({ role }) => role);
  const knows = async (other: Connection): Promise<boolean> => {
    const same = (await users.read(other.name, [member])).get(member);
    const employees = await people.read(other.name, roles);
    const sought = user === undefined ? [] : soughtBy(user, other);
    const holders = await Promise.all(
      sought.map(({ field, value }) => people.holding(other.name, field, value)),
    );
    return (
      [...(same?.attributes.values() ?? [])].some(({ value }) => value !== '') ||
      [...employees.values()].some(({ values }) => values.size > 0) ||
      holders.flat().length > 0
    );
  };
  const known: ConnectionName[] = [];
  for (const other of await readableConnections(connections)) {
    if (other.name !== connection && (await knows(other))) known.push(other.name);
  }
  return known.sort();
}

/**
 * Erases all stored data of a removed connection. Only the connection's name and the record of this action stay. The
 * name stays reserved, so that no other company can use it. If the connection is created again, events from before the
 * erasure are refused, because the tombstones of removed members were erased too. The erasure begins after every worker
 * has noticed the removal of the connection. After a crash, it can be repeated.
 */
export async function eraseConnection(
  name: ConnectionName,
  company: string,
  ports: JournalPorts & Pick<ToolPorts, 'connections' | 'eraser' | 'leases' | 'sleep'>,
): Promise<Erased> {
  const change = { kind: 'erase_connection', before: company, after: null, reason: 'company' };
  await recordAction(journalOf(name), { action: ERASING, changes: [change] }, ports);
  await ports.sleep(WORKERS_KNOW_AFTER_MS);
  // A run that began before the removal, such as a refresh of people, stores data until its end.
  const isRunning = ({ untilMs = 0 }: TaskRuns) => untilMs > ports.clock();
  while ([...(await ports.leases.readAll(name)).values()].some(isRunning))
    await ports.sleep(WORKERS_KNOW_AFTER_MS);
  if ((await ports.connections.current(name)) !== undefined)
    throw new Error(`nothing was erased: another operator connected ${name} meanwhile`);
  const atMs = ports.clock();
  await ports.connections.keepName(name, { company, removedMs: atMs, erasedMs: atMs });
  return ports.eraser.connection(name);
}

/**
 * Erases the SCIM data of a user and the index entries of its values. The id and the memberships stay. After that, a
 * client gets 404 for the user, and can create the user again.
 * @returns false if there is no such user
 */
export async function forgetScimUser(
  connection: ConnectionName,
  member: MemberId,
  { scim }: { readonly scim: ScimStore },
): Promise<boolean> {
  const [found] = await scim.read(connection, 'User', [member]);
  if (found === undefined) return false;
  await unindex(found, undefined, { connection, ports: { scim } });
  await scim.remove(connection, found);
  return true;
}
