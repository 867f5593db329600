import type { ConnectionName, GroupId, MemberId, RoleId } from '../domain/ids.ts';
import { boundToOf } from '../sync/match/bound-person.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import { walkAndWake } from '../sync/walk.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';

export type RebindPorts = WakePorts & JournalPorts & Pick<ToolPorts, 'users' | 'people'>;

export type RebindOutcome =
  /** Bound; these groups were woken. Those that could not be are found again by the pump: the walk stays open. */
  | { readonly kind: 'rebound'; readonly groups: readonly GroupId[]; readonly unwoken: number }
  /** The people index does not know this person: refresh it, or correct the id. */
  | { readonly kind: 'unknown_person' };

/**
 * Says who a member is, whatever the match rules say, and ends a review or an ambiguity. The new binding, a greater
 * revision and the walk are one write; a crash after it leaves an open walk, which the pump takes up.
 */
export async function rebindMember(
  connection: ConnectionName,
  { member, role }: { readonly member: MemberId; readonly role: RoleId },
  ports: RebindPorts,
): Promise<RebindOutcome> {
  const person = (await ports.people.read(connection, [role])).get(role);
  if (person === undefined) return { kind: 'unknown_person' };
  const before = (await ports.users.read(connection, [member])).get(member)?.role ?? null;
  const change = { kind: 'rebind', member, before, after: role, reason: 'whatever the match rules say' };
  await recordAction(journalOf(connection), { action: 'rebind', changes: [change] }, ports);
  const user = await ports.users.rebind(connection, member, boundToOf(person));
  return { kind: 'rebound', ...(await walkAndWake(connection, user, ports)) };
}
