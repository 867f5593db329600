import type { PeopleReport } from '../contract/answers/reconcile.ts';
import type { EmployeeField } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import { HOUR_MS } from '../domain/duration.ts';
import type { GroupId, RoleId } from '../domain/ids.ts';
import { mayBeMember, personsOf } from '../plan/person.ts';
import { compareText } from '../plan/plan.ts';
import { throughGate } from './gate.ts';
import { boundToOf, matchMember, otherRolesOf, personsBoundTo } from './match/resolve.ts';
import { readListing, saveAndWake } from './people-listing.ts';
import { type BlockedIdPorts, extendBlocks, groupsOfSolvable } from './people-wake.ts';
import type { PeoplePorts, PeopleStore } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { UserState } from './ports/desired.ts';
import { type Binding, GONE, type Person } from './ports/people.ts';
import { type EmployeeRecord, type Platform, PlatformFailure } from './ports/platform.ts';
import { ASKED_BY_ID, ASKED_IN_FLIGHT, collectPages, mapConcurrently, WRITES_IN_FLIGHT } from './tuning.ts';
import { fanOutAndWake, wakeAll } from './wake.ts';

/**
 * Updates the people index from the platform's employees, and wakes the affected groups. The affected groups are the
 * groups of people whose state, ids or binding changed, and the groups with a pending member who now matches a person.
 *
 * The absence of a role from the listing proves nothing (invariant 4). So after a complete listing, the missing roles
 * of bound people are read by id (`askMissing`). If the platform returns errors for single employees, the run skips
 * these employees and ends with the first error.
 * @throws PlatformFailure if a part could not be read. All other parts are saved before the error is thrown
 */
export const refreshPeople = (connection: Connection, ports: PeoplePorts & BlockedIdPorts) =>
  throughGate(connection, ports, () => refresh(connection, ports));

async function refresh(connection: Connection, ports: PeoplePorts & BlockedIdPorts): Promise<PeopleReport> {
  const { name, settings } = connection;
  const fields = matchRules(settings).map(({ employeeField }) => employeeField);
  const platform = await ports.platforms.open(connection);
  const bound = await collectPages(ports.people.bound(name));
  const saving = { connection, ports, hasBindings: bound.length > 0 };
  const { listed, unread, cut, ...listing } = await readListing(platform, saving);
  // The blocks must have the ids of new employees before the groups of members who match these employees are woken.
  const solvable = await groupsOfSolvable(await extendBlocks(connection, ports), ports);
  await wakeAll(name, new Set(solvable), ports);
  const asking = { platform, people: ports.people, bound, fields, listed, nowMs: ports.clock() };
  const asked = cut === undefined ? await askMissing(connection, asking) : { answers: [], failures: [] };
  const answered = await saveAndWake(asked.answers, saving);
  const seen = new Set([...listed, ...asked.answers.map(({ role }) => role)]);
  const judged = await judgeBindings(connection, bound, seen, ports);
  const failed = cut ?? unreadFailure([...unread, ...asked.failures]);
  if (failed !== undefined) throw failed;
  return {
    connection: name,
    read: listed.size,
    changed: listing.changed + answered.changed,
    woken: new Set([...listing.woken, ...solvable, ...answered.woken, ...judged]).size,
    asked: asked.answers.length,
    gone: asked.answers.filter(({ state }) => state === GONE).length,
  };
}

function unreadFailure(failures: readonly PlatformFailure[]): PlatformFailure | undefined {
  const [first] = failures;
  if (first === undefined) return undefined;
  const many = failures.length === 1 ? 'one employee' : `${failures.length} employees`;
  const message = `the platform fails to answer for ${many}, all others were refreshed: ${first.message}`;
  return new PlatformFailure(first.kind, message, { ...first, cause: first });
}

/**
 * Judges first bindings. A first binding uses the people index of the last refresh. Since then, the bound person may
 * have left, and a new employee may have got the same address. An event with this address must have the same result,
 * whether it arrives before or after the refresh that shows both changes. So the first refresh after a binding either
 * undoes the binding or marks it as proven. A proven binding stays, even if its person leaves.
 *
 *     refresh    leaver ACTIVE ─────────────────────▶ leaver TERMINATED, newcomer ACTIVE ──▶ unbound, matched again
 *     event                     └▶ bound, unproven
 *
 * If the role of a binding has ended, but its user has another role that allows membership, the refresh first matches
 * the member again:
 *
 *     the person who has the member's values now   | the binding
 *     ---------------------------------------------|------------------------------------------------------
 *     its user, in a role that may be a member     | is proven, and names the decisive role
 *     its user, in ended roles only; or no person  | stays unproven; a new hire may get the address later
 *     another person, or several                   | is undone
 */
async function judgeBindings(
  connection: Connection,
  bound: readonly Binding[],
  seen: ReadonlySet<RoleId>,
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const { name, settings } = connection;
  const unproven = bound.filter(({ isProven }) => !isProven);
  const roles = unproven.map(({ role }) => ({ role }));
  const persons = await personsBoundTo(roles, connection, ports.people);
  const judged = unproven.map((binding, at) => {
    const person = persons[at];
    return { binding, person: person !== undefined && mayBeMember(person, settings) ? person : undefined };
  });
  const doubted = judged.filter(({ binding, person }) => person?.role !== binding.role);
  const members = doubted.map(({ binding }) => binding.member);
  const users = await ports.users.read(name, members);
  const woken = await mapConcurrently(WRITES_IN_FLIGHT, judged, async ({ binding, person }) => {
    const user = users.get(binding.member);
    const isListed = person === undefined || seen.has(person.role);
    const isDoubted = person?.role !== binding.role;
    // The next refresh judges the binding if this refresh did not read the role, or if the worker that matched the
    // member has not stored the binding yet.
    if (!isListed || (isDoubted && user?.role === undefined)) return [];
    const changed = isDoubted && user ? await judgeAgain(user, { binding, person }, connection, ports) : {};
    const groups = changed.user === undefined ? [] : await fanOutAndWake(name, changed.user, ports);
    if (!changed.isOpen) await ports.people.prove(name, binding);
    return groups;
  });
  return woken.flat();
}

interface Judgement {
  readonly user?: UserState | undefined;
  /** Whether the next refresh judges the binding again. */
  readonly isOpen?: boolean;
}

/**
 * Judges a binding whose own role does not allow membership or has moved to another user.
 * @param person the decisive role, if it allows membership
 */
async function judgeAgain(
  user: UserState,
  { binding, person }: { readonly binding: Binding; readonly person: Person | undefined },
  connection: Connection,
  { users, people, clock }: PeoplePorts,
): Promise<Judgement> {
  const { name, settings } = connection;
  const { role, member } = binding;
  // Another worker has changed the binding in the meantime.
  if (user.role !== role) return {};
  if (person === undefined) return { user: await users.unbind(name, member, role, clock()) };
  const match = await matchMember(user, { connection, people });
  const isOther =
    match.kind === 'person'
      ? personsOf([match.person, person], settings).length > 1
      : match.cause === 'ambiguous';
  if (isOther) return { user: await users.unbind(name, member, role, clock()) };
  const matchedRole = match.kind === 'person' ? match.boundTo.role : role;
  const matched = (await people.read(name, [matchedRole])).get(matchedRole);
  if (matched !== undefined && mayBeMember(matched, settings))
    return { user: await users.followRole(name, member, role, boundToOf(person), clock()) };
  // This role keeps the member in the group. The record makes later refreshes read the role by its id if the list lacks
  // it.
  await people.prove(name, { role: person.role, member, isProven: true });
  return { isOpen: true };
}

interface Asking {
  readonly platform: Platform;
  readonly people: PeopleStore;
  readonly bound: readonly Binding[];
  readonly fields: readonly EmployeeField[];
  /** All roles in the listing, which must be complete. */
  readonly listed: ReadonlySet<RoleId>;
  readonly nowMs: number;
}

/**
 * Reads the roles that a list did not contain, each by its id. The credential may have lost a scope, or the platform
 * may have failed at that position. Only a 404 to a read by id proves that a role is gone (invariant 4).
 *
 * The function reads only roles whose end could remove a member from a group, and only a limited number in each run. If
 * there are more such roles, the runs of each hour read another part of them.
 * @throws PlatformFailure if a failure concerns more than the requested role
 */
export async function askMissing(
  connection: Connection,
  { platform, people, bound, fields, listed, nowMs }: Asking,
) {
  const { name, settings } = connection;
  // An empty list does not prove that all people have left. A fault of the credential is more likely.
  if (listed.size === 0) return { answers: [], failures: [] };
  const missing = new Set(bound.map(({ role }) => role).filter((role) => !listed.has(role)));
  const known = await people.read(name, [...missing]);
  // Other roles of the same user are read too. If another role has ended unnoticed, it would keep the user in the group
  // until a later run reads it.
  const others = await otherRolesOf([...known.values()], connection, people);
  const missingRoles = [...known.values(), ...others.filter(({ role }) => !listed.has(role))];
  const inGroups = missingRoles.filter((one) => mayBeMember(one, settings) || one.fanOutDue);
  const roles = inGroups.map(({ role }) => role).sort(compareText);
  const outcomes = await mapConcurrently(ASKED_IN_FLIGHT, stretchOf(roles, nowMs), (role) =>
    platform
      .employee(role, fields)
      .then((found): EmployeeRecord => found ?? { role, state: GONE, fields: new Map() }, ofThisRole),
  );
  return {
    answers: outcomes.flatMap((one) => (one instanceof PlatformFailure ? [] : [one])),
    failures: outcomes.flatMap((one) => (one instanceof PlatformFailure ? [one] : [])),
  };
}

/** @throws the failure if it concerns more than the requested role */
function ofThisRole(failure: unknown): PlatformFailure {
  if (failure instanceof PlatformFailure && failure.kind === 'unavailable') return failure;
  throw failure;
}

function stretchOf(roles: readonly RoleId[], nowMs: number): readonly RoleId[] {
  if (roles.length <= ASKED_BY_ID) return roles;
  const start = (Math.floor(nowMs / HOUR_MS) * ASKED_BY_ID) % roles.length;
  return [...roles.slice(start), ...roles.slice(0, start)].slice(0, ASKED_BY_ID);
}
