import { fieldName, soughtValues } from '../../contract/match-rule.ts';
import { matchRules } from '../../contract/settings.ts';
import { blockOf } from '../../domain/block.ts';
import type { PendingCause, PendingMark } from '../../domain/group-state.ts';
import type { MemberId } from '../../domain/ids.ts';
import { choosePerson, mayBeMember, type PersonSettings, personsOf } from '../../plan/person.ts';
import type { PeopleStore } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { UserState } from '../ports/desired.ts';
import type { BoundTo, Person } from '../ports/people.ts';
import { HIDDEN_AGAIN_MS, mapConcurrently, READS_IN_FLIGHT, REFUSED_AGAIN_MS } from '../tuning.ts';

export type Resolution =
  | {
      readonly kind: 'person';
      /** The decisive role. */
      readonly person: Person;
      /** The ids of the binding, which may not be stored yet. */
      readonly boundTo: BoundTo;
      /**
       * Set if the member has no binding. The match then depends on the current value of an attribute. Another person
       * may later have this value.
       */
      readonly unbound?: true;
    }
  | { readonly kind: 'pending'; readonly cause: PendingCause };

export interface MatchInput {
  readonly connection: Connection;
  readonly people: Pick<PeopleStore, 'holding' | 'ofUser'>;
  /**
   * Set if the caller will store the match as a binding. In this case, the function stores a note about the member with
   * each possible person before it reads the person.
   */
  readonly binds?: boolean;
}

/** Finds the person of a member by the match rules. The first rule that finds a role decides (`choosePerson`). */
export async function matchMember(
  user: UserState,
  { connection, people, binds }: MatchInput,
): Promise<Resolution> {
  const noting = binds && user.role === undefined ? user.member : undefined;
  for (const { field, value } of soughtBy(user, connection)) {
    const found = await people.holding(connection.name, field, value, noting);
    if (found.length > 0) return chosenAmong(found, { connection, people });
  }
  return { kind: 'pending', cause: 'unknown' };
}

/** Returns the value to look up for each match rule. A rule whose attribute the user lacks is omitted. */
export const soughtBy = (user: UserState, { settings }: Connection) =>
  matchRules(settings).flatMap((rule) => {
    const field = fieldName(rule.employeeField);
    return soughtValues(rule, user).map((value) => ({ field, value }));
  });

async function chosenAmong(
  holders: readonly Person[],
  { connection, people }: MatchInput,
): Promise<Resolution> {
  const { settings } = connection;
  const others = await otherRolesOf(holders, connection, people, (roles) =>
    roles.some((role) => mayBeMember(role, settings)),
  );
  const chosen = choosePerson(holders, others, settings);
  if (chosen === undefined) return { kind: 'pending', cause: 'ambiguous' };
  const roles: ReadonlySet<Person> = new Set(chosen);
  const chosenHolders = holders.filter((one) => roles.has(one));
  const [matched] = personsOf(chosenHolders, settings);
  return { kind: 'person', person: chosen[0], boundTo: boundToOf(matched?.[0] ?? chosen[0]) };
}

/** The part of the people store for matching. Without `bind`, the match writes nothing. */
export type ResolvePeople = Pick<PeopleStore, 'read' | 'holding' | 'ofUser'> &
  Partial<Pick<PeopleStore, 'bind'>>;

/**
 * Finds the persons of users. An existing binding stays, even if a value such as an address now belongs to another
 * person. Only a changed value that a match rule compares (`review`) causes a new match. If the new match is the same
 * person or no person, the review ends. If it is another person or several, the member is `ambiguous` until an operator
 * confirms the match. A first match is stored as a binding only if the person may be a member now, because a newcomer
 * may get a leaver's address.
 */
export async function resolveUsers(
  users: readonly UserState[],
  connection: Connection,
  people: ResolvePeople,
): Promise<ReadonlyMap<MemberId, Resolution>> {
  const roles = users.flatMap(({ role }) => (role === undefined ? [] : [role]));
  const bound = await people.read(connection.name, roles);
  const entries = await mapConcurrently(
    READS_IN_FLIGHT,
    users,
    async (user): Promise<[MemberId, Resolution]> => {
      const record = user.role === undefined ? undefined : bound.get(user.role);
      return [user.member, await resolveAndBind(user, record, connection, people)];
    },
  );
  return new Map(entries);
}

async function resolveAndBind(
  user: UserState,
  record: Person | undefined,
  connection: Connection,
  people: ResolvePeople,
): Promise<Resolution> {
  const binds = people.bind !== undefined;
  const resolution = await resolveUser(user, record, { connection, people, binds });
  const isFirst = user.role === undefined;
  if (resolution.kind !== 'person' || !(isFirst || user.review)) return resolution;
  const { person, boundTo } = resolution;
  if (isFirst && !mayBeMember(person, connection.settings)) return { ...resolution, unbound: true };
  if (people.bind === undefined) return resolution;
  const { revision } = user;
  const now = await people.bind(connection.name, user.member, { ...boundTo, revision, isFirst });
  if (isFirst && now.role === boundTo.role) return resolution;
  // The person is read again after the binding is stored. A refresh that changed the person just before the write did
  // not find the binding, and did not wake this group.
  const [again] = await personsBoundTo([now], connection, people);
  return known(now, again);
}

/**
 * Returns the present person of a user. It stores no binding.
 * @param record the role to which the user is bound, if the caller has read it
 */
async function resolveUser(
  user: UserState,
  record: Person | undefined,
  input: MatchInput,
): Promise<Resolution> {
  const { role, userId, review } = user;
  if (role === undefined) return matchMember(user, input);
  const bound = await personBoundTo(user, record, input);
  const resolution = known({ role, ...(userId !== undefined && { userId }) }, bound);
  if (!review) return resolution;
  const matched = await matchMember(user, input);
  if (matched.kind === 'pending') return matched.cause === 'ambiguous' ? matched : resolution;
  const { settings } = input.connection;
  const isSame = bound !== undefined && personsOf([matched.person, bound], settings).length === 1;
  return isSame ? resolution : { kind: 'pending', cause: 'ambiguous' };
}

const known = (boundTo: BoundTo, person: Person | undefined): Resolution =>
  person === undefined ? { kind: 'pending', cause: 'unknown' } : { kind: 'person', person, boundTo };

/** Whether a member can be written, and the reason if it cannot. */
export interface MemberEligibility {
  readonly cause: PendingCause | 'solved';
  /** The decisive role of the member's person, whose binding may not be stored yet. Without a match: the bound role. */
  readonly person: Person | undefined;
}

/**
 * Returns whether a person can be written as a member, and the platform id with which to write the person. `revision`
 * identifies this id and the person's revision.
 * @param refusedRevision the revision that the platform refused
 */
export function eligibilityOf(
  { userId, role, state, revision }: Person,
  refusedRevision: string | undefined,
  settings: PersonSettings,
): {
  readonly cause: MemberEligibility['cause'];
  readonly id: string | undefined;
  readonly revision: string;
} {
  const id = settings.memberIdField === 'userId' ? userId : role;
  const sent = { id, revision: `${revision}#${id}` };
  if (id === undefined) return { cause: 'unknown', ...sent };
  if (!mayBeMember({ state }, settings)) return { cause: 'inactive', ...sent };
  return { cause: sent.revision === refusedRevision ? 'refused' : 'solved', ...sent };
}

/** Returns the revision that the platform refused; undefined after a day, to try the person again. */
export const refusedRevisionOf = (
  { personRevision, sinceMs }: Partial<Pick<PendingMark, 'personRevision' | 'sinceMs'>> = {},
  nowMs: number,
): string | undefined => (nowMs - (sinceMs ?? 0) < REFUSED_AGAIN_MS ? personRevision : undefined);

/**
 * Whether a recent successful write sent this revision of the person, and its answer lacked the person. "Recent" first
 * means within an hour. The period doubles up to a day, because some platforms never show certain users.
 */
export function isHiddenLately({ hidden, sinceMs }: PendingMark, revision: string, nowMs: number): boolean {
  if (hidden?.revision !== revision) return false;
  const restMs = Math.min(Math.max(hidden.atMs - sinceMs, HIDDEN_AGAIN_MS), REFUSED_AGAIN_MS);
  return nowMs - hidden.atMs < restMs;
}

/**
 * Returns the eligibility that apply would compute now, without a write.
 * @param refusedRevision see `eligibilityOf`
 */
export async function currentEligibility(
  user: UserState,
  refusedRevision: string | undefined,
  matching: {
    readonly connection: Connection;
    readonly people: Pick<PeopleStore, 'read' | 'holding' | 'ofUser'>;
  },
): Promise<MemberEligibility> {
  const { name, settings } = matching.connection;
  const bound =
    user.role === undefined ? undefined : (await matching.people.read(name, [user.role])).get(user.role);
  const resolution = await resolveUser(user, bound, matching);
  const person = resolution.kind === 'person' ? resolution.person : bound;
  if (blockOf(matching.connection.blocks, { ...person, member: user.member }) !== undefined)
    return { cause: 'blocked', person };
  if (resolution.kind === 'pending') return { cause: resolution.cause, person };
  return { cause: eligibilityOf(resolution.person, refusedRevision, settings).cause, person };
}

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
