import type { PeopleReport } from '../contract/answers.ts';
import { matchRules } from '../contract/settings.ts';
import type { GroupId, RoleId } from '../domain/ids.ts';
import { mayBeMember } from '../plan/person.ts';
import { personsBoundTo } from './bound-person.ts';
import { throughGate } from './gate.ts';
import { atOnce, gather } from './gather.ts';
import { readListing, saveAndWake } from './people-listing.ts';
import { groupsOfSolvable } from './people-wake.ts';
import type { PeoplePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { type Binding, GONE } from './ports/people.ts';
import { PlatformFailure } from './ports/platform.ts';
import { WRITES_IN_FLIGHT } from './tuning.ts';
import { askUnlisted } from './unlisted-people.ts';
import { wakeAll } from './wake.ts';
import { walkAndWake } from './walk.ts';

/**
 * Brings the people index up to date with the platform's employees, and wakes the affected groups: those of people whose
 * state or ids changed, page by page, and those with a pending member who can now be resolved.
 *
 * Nothing is concluded from a person's absence (invariant 4): after a complete listing, a role that is missing from it is
 * read by id. Employees for which the platform returns errors are skipped, and the run ends with that error.
 * @throws PlatformFailure if anything could not be read; everything else was saved and announced before
 */
export const refreshPeople = (connection: Connection, ports: PeoplePorts): Promise<PeopleReport> =>
  throughGate(connection, ports, () => refresh(connection, ports));

async function refresh(connection: Connection, ports: PeoplePorts): Promise<PeopleReport> {
  const { name, settings } = connection;
  const fields = matchRules(settings).map(({ employeeField }) => employeeField);
  const platform = await ports.platforms.open(connection);
  const bound = await gather(ports.people.bound(name));
  const saving = { connection, ports, hasBindings: bound.length > 0 };
  const { listed, unread, cut, ...listing } = await readListing(platform, saving);
  const solvable = await groupsOfSolvable(connection, ports);
  await wakeAll(
    [...new Set(solvable)].map((group) => ({ connection: name, group })),
    ports,
  );
  const asking = { platform, people: ports.people, bound, fields, listed, nowMs: ports.clock() };
  const asked = cut === undefined ? await askUnlisted(connection, asking) : { answers: [], failures: [] };
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
 * A first binding was made by what the refresh before it knew, and whoever was found then may have left long ago: the
 * event of a newcomer with a leaver's address must mean the same before and after the refresh that tells of both. So the
 * refresh after it either proves the binding, which then stays whatever becomes of its person, or undoes it.
 *
 *     refresh    leaver ACTIVE ─────────────────────▶ leaver TERMINATED, newcomer ACTIVE ──▶ unbound, matched anew
 *     event                     └▶ bound, unproven
 */
async function judgeBindings(
  connection: Connection,
  bound: readonly Binding[],
  seen: ReadonlySet<RoleId>,
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const { name, settings } = connection;
  const unproven = bound.filter(({ isProven }) => !isProven);
  const persons = await personsBoundTo(
    unproven.map(({ role }) => ({ role })),
    connection,
    ports.people,
  );
  const memberRoles = persons.map((person) =>
    person !== undefined && mayBeMember(person, settings) ? person.role : undefined,
  );
  const doubted = unproven.filter((_, at) => memberRoles[at] === undefined).map(({ member }) => member);
  const users = await ports.users.read(name, doubted);
  const woken = await atOnce(WRITES_IN_FLIGHT, unproven.entries(), async ([at, binding]) => {
    const { role, member } = binding;
    const memberRole = memberRoles[at];
    // A match that is not stored yet may be soon, by what was known before this refresh: the next one judges it.
    const isDue = memberRole === undefined ? users.get(member)?.role !== undefined : seen.has(memberRole);
    if (!isDue) return [];
    const user = memberRole === undefined ? await ports.users.unbind(name, member, role) : undefined;
    const groups = user === undefined ? [] : (await walkAndWake(name, user, ports)).groups;
    await ports.people.prove(name, binding);
    return groups;
  });
  return woken.flat();
}
