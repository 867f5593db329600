import { pMapIterable } from 'p-map';
import type { PeopleReport } from '../contract/answers.ts';
import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import type { ConnectionName, GroupId, RoleId } from '../domain/ids.ts';
import { throughGate } from './gate.ts';
import { atOnce } from './gather.ts';
import { refusedRevisionOf, standingNow } from './member-standing.ts';
import type { PeoplePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { undescribed } from './ports/desired.ts';
import { type Binding, GONE, type PeopleStore, type Person } from './ports/people.ts';
import type { EmployeeRecord } from './ports/platform.ts';
import { WRITES_IN_FLIGHT } from './tuning.ts';
import { askUnlisted } from './unlisted-people.ts';
import { wakeAll } from './wake.ts';
import { walkAndWake } from './walk.ts';

/**
 * Brings the people index up to date with the platform's employees, then wakes the groups for which that matters:
 * those of people whose state or ids changed, and those with a pending member who can be told by now.
 *
 * A page that fails ends the run with an error; what was read before it is kept, and nothing is concluded from anybody's
 * absence (invariant 4). Whoever a complete listing did not name is asked for by id, once the others are heard of.
 */
export const refreshPeople = (connection: Connection, ports: PeoplePorts): Promise<PeopleReport> =>
  throughGate(connection, ports, () => refresh(connection, ports));

async function refresh(connection: Connection, ports: PeoplePorts): Promise<PeopleReport> {
  const { name, settings } = connection;
  const fields = matchRules(settings).map(({ employeeField }) => employeeField);
  const platform = await ports.platforms.open(connection);
  const bound: Binding[] = [];
  for await (const page of ports.people.bound(name)) bound.push(...page);
  const unheard: Person[] = [];
  const listed = new Set<RoleId>();
  const listing = platform.employees({ fields, states: settings.includeStates });
  // The next page is on its way while this one is saved, and no more than that.
  for await (const page of pMapIterable(listing, (one) => one, { concurrency: 1 })) {
    for (const { role } of page) listed.add(role);
    unheard.push(...(await savePage(name, page, ports)));
  }
  const woken = new Set(await announce(name, unheard, ports, await groupsOfSolvable(connection, ports)));
  const asking = { platform, people: ports.people, bound, fields, listed, nowMs: ports.clock() };
  const answers = await askUnlisted(connection, asking);
  const changed = await savePage(name, answers, ports);
  for (const group of await announce(name, changed, ports)) woken.add(group);
  const seen = new Set([...listed, ...answers.map(({ role }) => role)]);
  for (const group of await judgeBindings(connection, bound, seen, ports)) woken.add(group);
  return {
    connection: name,
    read: listed.size,
    changed: unheard.length + changed.length,
    woken: woken.size,
    asked: answers.length,
    gone: answers.filter(({ state }) => state === GONE).length,
  };
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
  { name, settings }: Connection,
  bound: readonly Binding[],
  seen: ReadonlySet<RoleId>,
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const states: ReadonlySet<string> = new Set(settings.includeStates);
  const unproven = bound.filter(({ isProven }) => !isProven);
  const persons = await ports.people.read(name, rolesOf(unproven));
  const mayBeMember = ({ role }: Binding) => states.has(persons.get(role)?.state ?? GONE);
  const doubted = unproven.filter((one) => !mayBeMember(one)).map(({ member }) => member);
  const users = await ports.users.read(name, doubted);
  const woken = await atOnce(WRITES_IN_FLIGHT, unproven, async (binding) => {
    const { role, member } = binding;
    const isMember = mayBeMember(binding);
    // A match that is not stored yet may be soon, by what was known before this refresh: the next one judges it.
    if (isMember ? !seen.has(role) : users.get(member)?.role === undefined) return [];
    const user = isMember ? undefined : await ports.users.unbind(name, member, role);
    const groups = user === undefined ? [] : (await walkAndWake(name, user, ports)).groups;
    await ports.people.prove(name, binding);
    return groups;
  });
  return woken.flat();
}

/** Wakes the groups of people whose state or ids changed; only then have they been heard of. */
async function announce(
  connection: ConnectionName,
  persons: readonly Person[],
  ports: PeoplePorts,
  also: readonly GroupId[] = [],
): Promise<readonly GroupId[]> {
  const groups = [...new Set([...(await groupsOfPeople(connection, persons, ports)), ...also])];
  const refs = groups.map((group) => ({ connection, group }));
  await wakeAll(refs, ports);
  await ports.people.heard(connection, persons);
  return groups;
}

const rolesOf = (list: readonly { readonly role: RoleId }[]) => list.map(({ role }) => role);

/** @returns whom their groups must hear of: a new state or user id, now or in a run that did not come to its end */
async function savePage(
  connection: ConnectionName,
  page: readonly EmployeeRecord[],
  { people }: PeoplePorts,
): Promise<readonly Person[]> {
  const known = await people.read(connection, rolesOf(page));
  // Nearly everybody is as they were, and was heard of.
  const isNews = (record: EmployeeRecord, seen: Person | undefined) =>
    seen === undefined || seen.unheard || differs(factsOf(record, seen), seen);
  const persons = await atOnce(
    WRITES_IN_FLIGHT,
    page.filter((record) => isNews(record, known.get(record.role))),
    async (record) => {
      const { role } = record;
      // Where another refresh was faster, what it wrote is read, and joined with what this one has seen.
      const saved =
        (await saveRecord(connection, record, known.get(role), people)) ??
        (await saveRecord(connection, record, (await people.read(connection, [role])).get(role), people));
      if (saved === undefined) throw new Error('a person was changed by two other refreshes at once');
      return saved;
    },
  );
  return persons.filter(({ unheard }) => unheard);
}

/** @returns the person as it is then; undefined where it is not what was `seen` any more */
async function saveRecord(
  connection: ConnectionName,
  record: EmployeeRecord,
  seen: Person | undefined,
  people: PeopleStore,
): Promise<Person | undefined> {
  const facts = factsOf(record, seen);
  if (seen !== undefined && !differs(facts, seen)) return seen;
  const isNews = seen !== undefined && (facts.state !== seen.state || facts.userId !== seen.userId);
  const unheard = isNews || seen?.unheard === true;
  const isSaved = await people.save(connection, { ...facts, unheard }, seen);
  return isSaved ? { ...facts, unheard, revision: (seen?.revision ?? 0) + 1 } : undefined;
}

/** A field that the answer does not carry (a scope that was lost) keeps its value; null says that there is none. */
function factsOf(record: EmployeeRecord, seen: Person | undefined) {
  const values = new Map(seen?.values);
  for (const [field, value] of record.fields) {
    const name = fieldName(field);
    if (value === null || value.trim() === '') values.delete(name);
    else values.set(name, matchForm(name, value));
  }
  const userId = record.userId ?? seen?.userId;
  // Whoever answers again is there, even where the answer does not say how.
  const before = seen?.state === GONE ? undefined : seen?.state;
  return {
    role: record.role,
    state: record.state ?? before ?? 'UNKNOWN',
    values,
    ...(userId === undefined ? {} : { userId }),
  };
}

const differs = (facts: ReturnType<typeof factsOf>, seen: Person): boolean =>
  facts.state !== seen.state ||
  facts.userId !== seen.userId ||
  facts.values.size !== seen.values.size ||
  [...facts.values].some(([field, value]) => seen.values.get(field) !== value);

async function groupsOfPeople(
  connection: ConnectionName,
  persons: readonly Person[],
  { people, users }: PeoplePorts,
): Promise<readonly GroupId[]> {
  const groups: GroupId[] = [];
  for (const { role } of persons) {
    for await (const members of people.membersBoundTo(connection, role)) {
      for (const member of members) {
        for await (const page of users.groupsOf(connection, member)) groups.push(...page);
      }
    }
  }
  return groups;
}

/** Groups with a pending member who would not be pending now, or for another cause. */
export async function groupsOfSolvable(
  connection: Connection,
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const groups: GroupId[] = [];
  const asked = new Map<string, ReturnType<PeopleStore['holding']>>();
  // Whoever is pending in many groups is looked for once.
  const holding: PeopleStore['holding'] = (name, field, value) => {
    const found = asked.get(`${field} ${value}`) ?? ports.people.holding(name, field, value);
    asked.set(`${field} ${value}`, found);
    return found;
  };
  const people = { ...ports.people, holding };
  for await (const page of ports.index.pending(connection.name)) {
    const members = page.map(({ member }) => member);
    const known = await ports.users.read(connection.name, members);
    const solved = await atOnce(WRITES_IN_FLIGHT, page, async (entry) => {
      // A member that no event described can still be known by its id.
      const user = known.get(entry.member) ?? undescribed(entry.member);
      const refused = refusedRevisionOf(entry, ports.clock());
      const { cause } = await standingNow(user, refused, { connection, people });
      return cause === entry.cause ? [] : [entry.ref.group];
    });
    groups.push(...solved.flat());
  }
  return groups;
}
