import { mayBeMember, personsOf } from '../../plan/person.ts';
import { mapConcurrently } from '../async-collections.ts';
import type { PeopleStore } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { BoundTo, Person } from '../ports/people.ts';
import { READS_IN_FLIGHT } from '../tuning.ts';

type Reading = Pick<PeopleStore, 'ofUser'>;

/**
 * Returns the decisive role (`personsOf`) of the person to which a member is bound. If the role of the binding allows
 * membership, the user's other roles are not read.
 *
 * The platform may move a role to another user. If the old user has another role that allows membership, the bound
 * members stay with the old user. Otherwise they follow the role, because the platform has probably merged the two
 * users. A refresh of people also moves members whose attributes match only the new user (`hasMovedWith`).
 * @param record the role of the binding, if the caller has read it
 */
export async function personBoundTo(
  boundTo: Partial<BoundTo>,
  record: Person | undefined,
  { connection, people }: { readonly connection: Connection; readonly people: Reading },
): Promise<Person | undefined> {
  const { name, settings } = connection;
  if (settings.memberIdField === 'id') return record;
  const { userId = record?.userId } = boundTo;
  if (userId === undefined) return record;
  const isOfUser = record?.userId === userId;
  if (isOfUser && mayBeMember(record, settings)) return record;
  const [person] = personsOf(await people.ofUser(name, userId), settings, boundTo.role);
  if (person !== undefined && (isOfUser || mayBeMember(person[0], settings))) return person[0];
  if (record === undefined || isOfUser) return person?.[0] ?? record;
  return personBoundTo({ role: record.role }, record, { connection, people });
}

/** Returns the ids that a binding to the person of this role stores. */
export const boundToOf = ({ role, userId }: BoundTo): BoundTo => ({
  role,
  ...(userId !== undefined && { userId }),
});

/** Returns the results of `personBoundTo` for several bindings, in their order. */
export async function personsBoundTo(
  bindings: readonly Partial<BoundTo>[],
  connection: Connection,
  people: Reading & Pick<PeopleStore, 'read'>,
): Promise<readonly (Person | undefined)[]> {
  const roles = bindings.flatMap(({ role }) => (role === undefined ? [] : [role]));
  const records = await people.read(connection.name, roles);
  return mapConcurrently(READS_IN_FLIGHT, bindings, (boundTo) => {
    const record = boundTo.role && records.get(boundTo.role);
    return boundTo.role === undefined ? undefined : personBoundTo(boundTo, record, { connection, people });
  });
}

/**
 * Returns the other roles of the users who have these roles; none if each role is a separate person.
 * @param isEnough whether the given roles are sufficient to decide about this user
 */
export async function otherRolesOf(
  roles: readonly Person[],
  { name, settings }: Connection,
  people: Reading,
  isEnough: (roles: readonly Person[]) => boolean = () => false,
): Promise<readonly Person[]> {
  if (settings.memberIdField === 'id') return [];
  const known = new Set(roles.map(({ role }) => role));
  const unsure = personsOf(roles, settings).filter((person) => !isEnough(person));
  const users = unsure.flatMap(([{ userId }]) => (userId === undefined ? [] : [userId]));
  const found = await mapConcurrently(READS_IN_FLIGHT, users, (userId) => people.ofUser(name, userId));
  return found.flat().filter(({ role }) => !known.has(role));
}
