import type { ConnectionSettings } from '../contract/settings.ts';
import type { RoleId } from '../domain/ids.ts';
import { compareText } from './plan.ts';

/** The fields of a platform role that decide to which person it belongs. */
export interface Role {
  readonly role: RoleId;
  /** The user id of the role. The id is absent if the credential's scopes hide it. */
  readonly userId?: string;
  readonly state: string;
}

export type PersonSettings = Pick<ConnectionSettings, 'memberIdField' | 'includeStates'>;

/** The roles of one person. The first role is the decisive role: it decides whether the person may be a member. */
export type PersonRoles<One extends Role> = readonly [One, ...One[]];

/** Whether a role in this state allows its person to be a member. */
export function mayBeMember({ state }: Pick<Role, 'state'>, { includeStates }: PersonSettings): boolean {
  const states: readonly string[] = includeStates;
  return states.includes(state);
}

/**
 * Groups roles by person. A platform group holds users, and one user can have several roles (specification, Employee:
 * "One user can span several companies"). Roles can also follow each other. Examples are a contractor who becomes an
 * employee, and a rehire.
 *
 *     memberIdField | one person is
 *     --------------|---------------------------------------------------------
 *     userId        | all roles with one userId; a role without a userId is one person
 *     id            | one role
 *
 * The roles of a person are sorted by these criteria: may be a member, is `preferred`, is ACTIVE, has the smaller id.
 * The first role is the decisive role. So a person may be a member if at least one of the roles may be a member.
 */
export function personsOf<One extends Role>(
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
 * Chooses the person that a value identifies.
 *
 *     persons who hold the value           | result
 *     -------------------------------------|------------------------------------------
 *     one                                  | that person
 *     several, one holds it in an          | that person: the address of a leaver may
 *     ACTIVE role                          | have been given to a newcomer
 *     several, none holds it in an ACTIVE  | the only person with an ACTIVE role
 *     role                                 |
 *     any other                            | undefined (ambiguous)
 *
 * @param holders the roles that have the value; at least one
 * @param others the other roles of the same users, without the value
 */
export function choosePerson<One extends Role>(
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

const isActive = ({ state }: Role): boolean => state === 'ACTIVE';
