import { matchRules } from '../contract/settings.ts';
import type { MemberId } from '../domain/ids.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import { matchMember } from './apply/resolve.ts';
import type { Connection } from './ports/connections.ts';
import type { UserState } from './ports/desired.ts';
import type { PendingCause } from './ports/groups.ts';
import type { PeopleStore, Person } from './ports/people.ts';

/** What keeps a member of a group from being written, if anything does. */
export interface MemberStanding {
  readonly cause: PendingCause | 'solved';
  /** Whom the member is bound to, or else would be. */
  readonly person: Person | undefined;
}

interface Resolving {
  readonly connection: Connection;
  readonly people: Pick<PeopleStore, 'read' | 'holding'>;
}

/**
 * What apply would make of the member now, by the rules of `resolveUsers` and `place`, writing nothing.
 * @param refusedRevision the person's revision that the platform refused
 */
export async function standingNow(
  user: UserState,
  refusedRevision: number | undefined,
  resolving: Resolving,
): Promise<MemberStanding> {
  const { cause, person } = await personNow(user, resolving);
  if (cause !== 'solved') return { cause, person };
  const { memberIdField, includeStates } = resolving.connection.settings;
  const id = memberIdField === 'userId' ? person?.userId : person?.role;
  if (person === undefined || id === undefined) return { cause: 'unknown', person };
  const states: ReadonlySet<string> = new Set(includeStates);
  if (!states.has(person.state)) return { cause: 'inactive', person };
  return { cause: person.revision === refusedRevision ? 'refused' : 'solved', person };
}

async function personNow(
  user: UserState,
  { connection: { name, settings }, people }: Resolving,
): Promise<MemberStanding> {
  const bound = user.role === undefined ? undefined : (await people.read(name, [user.role])).get(user.role);
  if (user.role !== undefined && !user.review) return { cause: 'solved', person: bound };
  const matched = await matchMember(user, { connection: name, rules: matchRules(settings), people });
  if (matched.kind === 'pending') {
    const isKept = user.role !== undefined && matched.cause !== 'ambiguous';
    return { cause: isKept ? 'solved' : matched.cause, person: bound };
  }
  const isAnother = user.role !== undefined && matched.person.role !== user.role;
  return isAnother ? { cause: 'ambiguous', person: bound } : { cause: 'solved', person: matched.person };
}

/** A member of whom no event has said anything. */
export const undescribed = (member: MemberId): UserState => ({
  member,
  attributes: new Map(),
  floor: STAMP_ZERO,
  review: false,
  revision: 0,
  walking: false,
});
