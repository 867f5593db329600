import { fieldName, matchForm } from '../../contract/match-rule.ts';
import { matchRules } from '../../contract/settings.ts';
import type { PendingCause } from '../../domain/group-state.ts';
import type { MemberId, RoleId } from '../../domain/ids.ts';
import { atOnce } from '../gather.ts';
import type { Connection } from '../ports/connections.ts';
import type { UserState } from '../ports/desired.ts';
import type { PeopleStore, Person } from '../ports/people.ts';
import { READS_IN_FLIGHT } from '../tuning.ts';

export type Resolution =
  /** `unbound`: only the value of the moment says so, and another person may have it next. */
  | { readonly kind: 'person'; readonly person: Person; readonly unbound?: true }
  | { readonly kind: 'pending'; readonly cause: PendingCause };

interface MatchInput {
  readonly connection: Connection;
  readonly people: Pick<PeopleStore, 'holding'>;
  /** The match is to be recorded: whom there may be is noted before they are read. */
  readonly binds?: boolean;
}

/**
 * Who a member is, by the connection's rules: the first rule that finds anybody decides. Several persons with one
 * value are told apart by who is ACTIVE (a leaver's address may have been given to a newcomer), else nobody is chosen.
 */
async function matchMember(user: UserState, { connection, people, binds }: MatchInput): Promise<Resolution> {
  const noting = binds && user.role === undefined ? user.member : undefined;
  for (const { field, value } of soughtBy(user, connection)) {
    const found = await people.holding(connection.name, field, value, noting);
    if (found.length > 0) return chosen(found);
  }
  return { kind: 'pending', cause: 'unknown' };
}

/** What is looked for, rule by rule, as far as the user has what they compare. */
export const soughtBy = ({ member, attributes }: UserState, { settings }: Connection) =>
  matchRules(settings).flatMap(({ memberAttribute, employeeField }) => {
    const value = memberAttribute === 'id' ? member : attributes.get(memberAttribute)?.value;
    const field = fieldName(employeeField);
    return value === undefined ? [] : [{ field, value: matchForm(field, value) }];
  });

function chosen(found: readonly Person[]): Resolution {
  const candidates = found.length === 1 ? found : found.filter(({ state }) => state === 'ACTIVE');
  const [only, ...others] = candidates;
  return only !== undefined && others.length === 0
    ? { kind: 'person', person: only }
    : { kind: 'pending', cause: 'ambiguous' };
}

/** Without `bind` nothing is recorded. */
export type ResolvePeople = Pick<PeopleStore, 'read' | 'holding'> & Partial<Pick<PeopleStore, 'bind'>>;

/**
 * Resolves users, keeping bindings. A binding never follows a value to another person: only attributes of the member
 * that changed (`review`) have it looked at again, and then another person is `ambiguous` until somebody confirms it.
 * First matches, and reviews that found nobody else, are recorded; a first match only with somebody whose state may be
 * a member: a leaver's address may be a newcomer's soon.
 */
export async function resolveUsers(
  users: readonly UserState[],
  connection: Connection,
  people: ResolvePeople,
): Promise<ReadonlyMap<MemberId, Resolution>> {
  const { name, settings } = connection;
  const states: ReadonlySet<string> = new Set(settings.includeStates);
  const roles = users.flatMap(({ role }) => (role === undefined ? [] : [role]));
  const bound = await people.read(name, roles);
  const input = { connection, people, binds: people.bind !== undefined };
  const entries = await atOnce(READS_IN_FLIGHT, users, async (user): Promise<[MemberId, Resolution]> => {
    const person = user.role === undefined ? undefined : bound.get(user.role);
    const resolution = await resolveUser(user, person, input);
    const isFirst = user.role === undefined;
    if (resolution.kind !== 'person' || !(isFirst || user.review)) return [user.member, resolution];
    if (isFirst && !states.has(resolution.person.state)) {
      return [user.member, { ...resolution, unbound: true }];
    }
    if (people.bind === undefined) return [user.member, resolution];
    const found = { role: resolution.person.role, revision: user.revision, isFirst };
    const role = await people.bind(name, user.member, found);
    if (isFirst && role === found.role) return [user.member, resolution];
    // Read again once the binding can be seen: a refresh that changed the person before would not have woken us.
    return [user.member, known((await people.read(name, [role])).get(role))];
  });
  return new Map(entries);
}

/** Who a user is now, recording nothing. @param bound the person of the user's role, as far as it is known */
export async function resolveUser(
  user: UserState,
  bound: Person | undefined,
  input: MatchInput,
): Promise<Resolution> {
  if (user.role !== undefined && !user.review) return known(bound);
  const matched = await matchMember(user, input);
  return user.role === undefined ? matched : reviewed(user.role, bound, matched);
}

const known = (person: Person | undefined): Resolution =>
  person === undefined ? { kind: 'pending', cause: 'unknown' } : { kind: 'person', person };

function reviewed(bound: RoleId, person: Person | undefined, matched: Resolution): Resolution {
  const foundSomebody = matched.kind === 'person' || matched.cause === 'ambiguous';
  if (foundSomebody && !(matched.kind === 'person' && matched.person.role === bound)) {
    return { kind: 'pending', cause: 'ambiguous' };
  }
  return known(person);
}
