import type { ConnectionName, MemberId } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { forgetScimUser } from '../sync/scim/resources.ts';
import { type JournalPorts, journalOf, recordDeed } from './journal.ts';

export type ForgetPorts = JournalPorts & Pick<ToolPorts, 'scim' | 'users'>;

/** Names of the attributes that would be erased; undefined where nothing is known of the member. */
export async function attributesOf(
  connection: ConnectionName,
  member: MemberId,
  { users }: ForgetPorts,
): Promise<readonly string[] | undefined> {
  const user = (await users.read(connection, [member])).get(member);
  return user === undefined ? undefined : [...user.attributes.keys()].sort();
}

/**
 * Erases one person's attributes; ids stay, and with them memberships and the binding. The journal keeps that it was
 * done, by whom, and not what was erased.
 */
export async function forgetMember(
  connection: ConnectionName,
  member: MemberId,
  ports: ForgetPorts,
): Promise<boolean> {
  const change = { kind: 'forget_member', member, before: null, after: null, reason: 'erased on request' };
  await recordDeed(journalOf(connection), { action: 'forget', changes: [change] }, ports);
  const hadResource = await forgetScimUser(connection, member, ports);
  const wasKnown = await ports.users.forget(connection, member);
  return hadResource || wasKnown;
}
