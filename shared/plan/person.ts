import type { ConnectionSettings } from '../contract/settings.ts';
import type { RoleId } from '../domain/ids.ts';
import { compareText } from './plan.ts';

/** The fields of a platform role that decide which person has the role. */
export interface PlatformRole {
  readonly role: RoleId;
  /** The user id of the role; absent if the scopes of the credential do not include it. */
  readonly userId?: string;
  readonly state: string;
}

export type PersonSettings = Pick<ConnectionSettings, 'memberIdField' | 'includeStates'>;

/** The roles of one person. The first role decides whether the person may be a member. */
type PersonRoles<One extends PlatformRole> = readonly [One, ...One[]];

export function mayBeMember({ state }: Pick<PlatformRole, 'state'>, { includeStates }: PersonSettings) {
  const states: readonly string[] = includeStates;
  return states.includes(state);
}

/**
 * Groups roles by person. A platform group holds users, and one user can have several roles (specification, Employee:
 * "One user can span several companies"). A user can also have one role after the other, for example as a contractor
 * and later as an employee.
 *
 *     memberIdField | one person has
 *     --------------|---------------------------------------------------------
 *     userId        | all roles with the same userId, or a single role without a userId
 *     id            | one role
 *
 * The function sorts the roles of a person by these criteria: the role may be a member, is `preferred`, is ACTIVE, has
 * the smaller id. So the first role may be a member if any role of the person may be a member.
 */
export function personsOf<One extends PlatformRole>(
  roles: readonly One[],
  settings: PersonSettings,
  preferred?: RoleId,
): readonly PersonRoles<One>[] {
  const rank = (one: One): number =>
    (mayBeMember(one, settings) ? 0 : 4) +
    (one.role === preferred ? 0 : 2) +
    (one.state === 'ACTIVE' ? 0 : 1);
  const sorted = roles.toSorted((a, b) => rank(a) - rank(b) || compareText(a.role, b.role));
  const byUser = settings.memberIdField === 'userId';
  const persons = new Map<string, [One, ...One[]]>();
  for (const one of sorted) {
    const person = byUser && one.userId !== undefined ? `user ${one.userId}` : `role ${one.role}`;
    persons.set(person, [...(persons.get(person) ?? []), one] as [One, ...One[]]);
  }
  return [...persons.values()];
}

/**
 * Chooses the person that an attribute value identifies, for example an e-mail address.
 *
 *     persons who have the value                        | result
 *     --------------------------------------------------|------------------------------------------
 *     one person                                        | that person
 *     several, one of them in an ACTIVE role            | that person
 *     several, none in an ACTIVE role, and only one     | that person
 *     of them has another role that is ACTIVE           |
 *     several in any other way                          | undefined (ambiguous)
 *
 * An ACTIVE role decides, because a company may give the address of a leaver to a newcomer.
 *
 * @param holders the roles that have the value; at least one
 * @param others the other roles of the same users, without the value
 */
export function choosePerson<One extends PlatformRole>(
  holders: readonly One[],
  others: readonly One[],
  settings: PersonSettings,
): PersonRoles<One> | undefined {
  const persons = personsOf([...holders, ...others], settings);
  if (persons.length === 1) return persons[0];
  const holdsNow = new Set(holders.filter(isActive).map(({ role }) => role));
  const holdingNow = persons.filter((roles) => roles.some(({ role }) => holdsNow.has(role)));
  const candidates = holdingNow.length > 0 ? holdingNow : persons.filter((roles) => roles.some(isActive));
  return candidates.length === 1 ? candidates[0] : undefined;
}

const isActive = ({ state }: PlatformRole): boolean => state === 'ACTIVE';
