import type { ConnectionName, GroupId, MemberId, RoleId } from '../domain/ids.ts';
import { boundToOf } from '../sync/match/resolve.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import { fanOutAndWake } from '../sync/wake.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';

type RebindPorts = WakePorts & JournalPorts & Pick<ToolPorts, 'users' | 'people'>;

/**
 * Binds a member to a person, regardless of the match rules. The binding also ends a review of the member, and resolves
 * an ambiguous match. One write stores the binding, a higher revision and the open fan-out, so after a crash the
 * requeue job resumes the fan-out.
 * @returns the woken groups; undefined if the people index does not contain the person. Either the index must be
 * refreshed, or the id is wrong
 */
export async function rebindMember(
  connection: ConnectionName,
  { member, role }: { readonly member: MemberId; readonly role: RoleId },
  ports: RebindPorts,
): Promise<readonly GroupId[] | undefined> {
  const person = (await ports.people.read(connection, [role])).get(role);
  if (person === undefined) return undefined;
  const before = (await ports.users.read(connection, [member])).get(member)?.role ?? null;
  const change = { kind: 'rebind', member, before, after: role, reason: 'regardless of the match rules' };
  await recordAction(journalOf(connection), { action: 'rebind', changes: [change] }, ports);
  const user = await ports.users.rebind(connection, member, boundToOf(person), ports.clock());
  return fanOutAndWake(connection, user, ports);
}
