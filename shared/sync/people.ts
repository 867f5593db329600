import pMap from 'p-map';
import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import type { ConnectionName, GroupId } from '../domain/ids.ts';
import { matchMember } from './apply/resolve.ts';
import type { Connection } from './ports/connections.ts';
import type { UserStore } from './ports/desired.ts';
import type { GroupIndex, PendingEntry } from './ports/index.ts';
import type { PeopleStore, Person, PersonFacts } from './ports/people.ts';
import type { EmployeeRecord, Platforms } from './ports/platform.ts';
import { WRITES_IN_FLIGHT } from './tuning.ts';
import { type WakePorts, wakeGroups } from './wake.ts';

export interface PeoplePorts extends WakePorts {
  readonly people: PeopleStore;
  readonly users: UserStore;
  readonly index: GroupIndex;
  readonly platforms: Platforms;
}

export interface PeopleReport {
  readonly connection: ConnectionName;
  readonly read: number;
  readonly changed: number;
  readonly woken: number;
}

/**
 * Brings the people index up to date with the platform's employees, then wakes the groups for which that matters:
 * those of people whose state or ids changed, and those with a pending member who can be told by now.
 *
 * A page that fails ends the run with an error; what was read before it is kept, and nothing is concluded from anybody's
 * absence (invariant 4).
 */
export async function refreshPeople(connection: Connection, ports: PeoplePorts): Promise<PeopleReport> {
  const { name, settings } = connection;
  const fields = matchRules(settings).map(({ employeeField }) => employeeField);
  const platform = await ports.platforms.open(connection);
  const unheard: Person[] = [];
  let read = 0;
  for await (const page of platform.employees({ fields, states: settings.includeStates })) {
    read += page.length;
    unheard.push(...(await savePage(name, page, ports)));
  }
  const groups = new Set<GroupId>([
    ...(await groupsOfPeople(name, unheard, ports)),
    ...(await groupsOfSolvable(connection, ports)),
  ]);
  const refs = [...groups].map((group) => ({ connection: name, group }));
  const unwoken = await wakeGroups(refs, ports);
  if (unwoken.length > 0) {
    throw new Error(`${unwoken.length} groups could not be woken`, { cause: unwoken[0]?.cause });
  }
  await ports.people.heard(name, unheard);
  return { connection: name, read, changed: unheard.length, woken: refs.length };
}

/** @returns whom their groups must hear of: a new state or user id, now or in a run that did not come to its end */
async function savePage(
  connection: ConnectionName,
  page: readonly EmployeeRecord[],
  { people }: PeoplePorts,
): Promise<readonly Person[]> {
  const known = await people.read(
    connection,
    page.map(({ role }) => role),
  );
  const persons = await pMap(
    page,
    async (record) => {
      const seen = known.get(record.role);
      const facts = factsOf(record, seen);
      if (seen !== undefined && !differs(facts, seen)) return seen;
      const isNews = seen !== undefined && (facts.state !== seen.state || facts.userId !== seen.userId);
      const unheard = isNews || seen?.unheard === true;
      await people.save(connection, { ...facts, unheard }, seen);
      return { ...facts, unheard, revision: (seen?.revision ?? 0) + 1 };
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
  return persons.filter(({ unheard }) => unheard);
}

/** A field that the answer does not carry (a scope that was lost) keeps its value; null says that there is none. */
function factsOf(record: EmployeeRecord, seen: Person | undefined): PersonFacts {
  const values = new Map(seen?.values);
  for (const [field, value] of record.fields) {
    const name = fieldName(field);
    if (value === null || value.trim() === '') values.delete(name);
    else values.set(name, matchForm(name, value));
  }
  const userId = record.userId ?? seen?.userId;
  return {
    role: record.role,
    state: record.state ?? seen?.state ?? 'UNKNOWN',
    values,
    ...(userId === undefined ? {} : { userId }),
  };
}

const differs = (facts: PersonFacts, seen: Person): boolean =>
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

/** Groups with a pending member for whom matching now says something else than when it was found pending. */
export async function groupsOfSolvable(
  connection: Connection,
  ports: PeoplePorts,
): Promise<readonly GroupId[]> {
  const groups: GroupId[] = [];
  for await (const page of ports.index.pending(connection.name)) {
    groups.push(...(await solvable(connection, page, ports)));
  }
  return groups;
}

async function solvable(
  connection: Connection,
  entries: readonly PendingEntry[],
  { users, people }: PeoplePorts,
): Promise<readonly GroupId[]> {
  const undecided = entries.filter(({ cause }) => cause === 'unknown' || cause === 'ambiguous');
  const known = await users.read(
    connection.name,
    undecided.map(({ member }) => member),
  );
  const rules = matchRules(connection.settings);
  const solved = await pMap(
    undecided,
    async ({ ref, member, cause }) => {
      const user = known.get(member);
      if (user === undefined) return [];
      const matched = await matchMember(user, { connection: connection.name, rules, people });
      return matched.kind === 'person' || matched.cause !== cause ? [ref.group] : [];
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
  return solved.flat();
}
