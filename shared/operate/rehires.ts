import type { PendingRow } from '../contract/answers/groups.ts';
import { type MemberId, memberId, type RoleId } from '../domain/ids.ts';
import { mayBeMember, personsOf } from '../plan/person.ts';
import { type MemberEligibility, matchMember, personBoundTo } from '../sync/match/resolve.ts';
import type { PeopleStore, ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { UserState } from '../sync/ports/desired.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../sync/tuning.ts';

/**
 * Returns the ACTIVE employee that a member matches, if the member is bound to another person, who may not be a member
 * now. The platform may give a person a new user id after a rehire. groupsync keeps the binding, because the address
 * may also belong to a newcomer. So an operator decides (`rebind`).
 */
export async function rehireOf(
  user: UserState | undefined,
  connection: Connection,
  { people }: { readonly people: Pick<PeopleStore, 'read' | 'holding' | 'ofUser'> },
): Promise<RoleId | undefined> {
  if (user?.role === undefined) return undefined;
  const { name, settings } = connection;
  const record = (await people.read(name, [user.role])).get(user.role);
  const bound = await personBoundTo(user, record, { connection, people });
  if (bound === undefined || mayBeMember(bound, settings)) return undefined;
  const matched = await matchMember(user, { connection, people });
  if (matched.kind !== 'person' || matched.person.state !== 'ACTIVE') return undefined;
  return personsOf([matched.person, bound], settings).length > 1 ? matched.person.role : undefined;
}

/** Whether a member who is pending for this reason may be a rehire. A new address makes the member `ambiguous`. */
export const mayBeRehire = (cause: MemberEligibility['cause']): boolean =>
  cause === 'inactive' || cause === 'ambiguous';

/** The most members for which one list searches rehires, because each search costs a few requests. */
const MOST = 1_000;

/** Returns the rehires (`rehireOf`) of the pending members. Members that have waited longest are searched first. */
export async function rehiresAmong(
  pending: readonly Pick<PendingRow, 'member' | 'cause'>[],
  connection: Connection,
  { users, people }: Pick<ToolPorts, 'users' | 'people'>,
): Promise<ReadonlyMap<string, RoleId>> {
  const possible = pending.filter(({ cause }) => mayBeRehire(cause));
  const members = [...new Set(possible.map(({ member }) => memberId(member)))].slice(0, MOST);
  const known = await users.read(connection.name, members);
  const found = await mapConcurrently(
    READS_IN_FLIGHT,
    members,
    async (member): Promise<[MemberId, RoleId][]> => {
      const role = await rehireOf(known.get(member), connection, { people });
      return role === undefined ? [] : [[member, role]];
    },
  );
  return new Map(found.flat());
}
