import type { ConnectionName, MemberId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Erased } from '../sync/ports/eraser.ts';
import { ERASING } from '../sync/ports/logs.ts';
import { forgetScimUser } from '../sync/scim/resources.ts';
import { WORKERS_KNOW_AFTER_MS } from '../sync/wake.ts';
import { type JournalPorts, journalOf, recordDeed } from './journal.ts';

export type ForgetPorts = JournalPorts & Pick<ToolPorts, 'scim' | 'users' | 'people' | 'eraser'>;

/**
 * Erases what is known of one person: what the directory and SCIM said, what the platform said of the employee, and what
 * points to them by a value. Ids stay, and with them stamps, memberships and the binding, so that a late event brings
 * nothing back. The journal keeps that it was done, by whom, and not what was erased. After a crash it can be repeated.
 * @returns what was erased; undefined where nothing is known of the member
 */
export async function forgetMember(connection: ConnectionName, member: MemberId, ports: ForgetPorts) {
  const change = { kind: 'forget_member', member, before: null, after: null, reason: 'erased on request' };
  await recordDeed(journalOf(connection), { action: 'forget', changes: [change] }, ports);
  const hadResource = await forgetScimUser(connection, member, ports);
  const role = (await ports.users.read(connection, [member])).get(member)?.role;
  const attributes = await ports.users.forget(connection, member, ports.clock());
  const person = role && (await ports.people.read(connection, [role])).get(role);
  const values = person?.values.size ?? 0;
  // Another worker that saves the person at this moment has the platform's word, which comes back each hour anyway.
  if (person && values > 0) await ports.people.save(connection, { ...person, values: new Map() }, person);
  if (!hadResource && attributes === undefined) return undefined;
  const rest = await ports.eraser.person(connection, { member, ...(role && { role }) });
  return {
    attributes: attributes ?? 0,
    scimResources: hadResource ? 1 : 0,
    valuesOfEmployee: values,
    ...rest,
  };
}

/**
 * Erases everything that is kept of a connection that was removed. What stays is its name, which serves no other
 * company, and this deed. Events from before are refused if the connection is made again, since nothing tells any more
 * who had left. Nothing begins before every worker has noticed that it is gone. After a crash it can be repeated.
 */
export async function eraseConnection(
  name: ConnectionName,
  company: string,
  ports: JournalPorts & Pick<ToolPorts, 'connections' | 'eraser' | 'sleep'>,
): Promise<Erased> {
  const change = { kind: 'erase_connection', before: company, after: null, reason: 'company' };
  await recordDeed(journalOf(name), { action: ERASING, changes: [change] }, ports);
  await ports.sleep(WORKERS_KNOW_AFTER_MS);
  const atMs = ports.clock();
  await ports.connections.keepName(name, company, { removedMs: atMs, erasedMs: atMs });
  return ports.eraser.connection(name);
}
