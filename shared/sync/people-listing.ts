import { pMapIterable } from 'p-map';
import { fieldName, matchForm } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import type { GroupId, RoleId } from '../domain/ids.ts';
import { mayBeMember } from '../plan/person.ts';
import { wakeMembersOf } from './people-wake.ts';
import type { PeoplePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import { GONE, type Person } from './ports/people.ts';
import { type EmployeeRecord, failureIn, type Platform, PlatformFailure } from './ports/platform.ts';
import { mapConcurrently, ROLE_END_WAIT_MS, WRITES_IN_FLIGHT } from './tuning.ts';

type Known = ReadonlyMap<RoleId, Person>;

interface Saving {
  readonly connection: Connection;
  readonly ports: PeoplePorts;
  /** Whether any member is bound. If no member is bound, a new role of a known user cannot change a group. */
  readonly hasBindings: boolean;
}

/**
 * Reads the employees page by page, saves each page, and wakes the affected groups. So if one page fails, leavers on
 * other pages are still removed from their groups.
 *
 * If `memberIdField` is `userId`, the end of a role waits for the following pages, but at most one minute. A following
 * page may have the user's current role, which keeps the person in the groups.
 *
 *     page 1   contractor TERMINATED ──▶ waits ─────────────────────▶ saved, still a member
 *     page 7                                employee ACTIVE ──▶ saved
 *
 * @returns `unread`: the failures for positions of the list that the platform could not return; `cut`: the reason why
 * the listing is incomplete, or undefined
 */
export async function readListing(platform: Platform, saving: Saving) {
  const { settings } = saving.connection;
  const fields = matchRules(settings).map(({ employeeField }) => employeeField);
  const pages = platform.employees({ fields, states: settings.includeStates });
  const listed = new Set<RoleId>();
  const unread: PlatformFailure[] = [];
  const savings = savePages(saving);
  const cut = await failureIn(async () => {
    // While a page is saved, one more page is requested.
    for await (const page of pMapIterable(pages, (one) => one, { concurrency: 1 })) {
      if (page instanceof PlatformFailure) {
        unread.push(page);
        continue;
      }
      for (const { role } of page) listed.add(role);
      await savings.add(page);
    }
  });
  return { listed, unread, cut, ...(await savings.end()) };
}

/** Saves the pages in order. The end of a role waits, see `readListing`. */
function savePages(saving: Saving) {
  const { connection, ports } = saving;
  const woken = new Set<GroupId>();
  let changed = 0;
  let waiting: EmployeeRecord[] = [];
  let waitingSinceMs = 0;
  const save = async (records: readonly EmployeeRecord[], known?: Known) => {
    const saved = await saveAndWake(records, saving, known);
    changed += saved.changed;
    for (const group of saved.woken) woken.add(group);
  };
  return {
    async add(page: readonly EmployeeRecord[]) {
      const known = await ports.people.read(connection.name, rolesOf(page));
      const ended = endedRoles(page, known, connection);
      const others = page.filter((record) => !ended.has(record));
      await save(others, known);
      if (waiting.length === 0) waitingSinceMs = ports.clock();
      waiting.push(...ended);
      if (waiting.length === 0 || ports.clock() - waitingSinceMs < ROLE_END_WAIT_MS) return;
      await save(waiting);
      waiting = [];
    },
    async end() {
      await save(waiting);
      return { changed, woken };
    },
  };
}

export async function saveAndWake(records: readonly EmployeeRecord[], saving: Saving, known?: Known) {
  const { connection, ports } = saving;
  const news = await saveRecords(
    records,
    known ?? (await ports.people.read(connection.name, rolesOf(records))),
    saving,
  );
  if (news.length === 0) return { changed: 0, woken: [] };
  const woken = await wakeMembersOf(connection, news, ports);
  await ports.people.clearFanOutDue(connection.name, news);
  return { changed: news.filter(({ revision }) => revision > 1).length, woken };
}

function endedRoles(
  page: readonly EmployeeRecord[],
  known: Known,
  { settings }: Connection,
): ReadonlySet<EmployeeRecord> {
  if (settings.memberIdField === 'id') return new Set();
  const hasEnded = (record: EmployeeRecord) => {
    const seen = known.get(record.role);
    if (seen === undefined || !mayBeMember(seen, settings)) return false;
    const facts = factsOf(record, seen);
    return !mayBeMember(facts, settings) || facts.userId !== seen.userId;
  };
  return new Set(page.filter(hasEnded));
}

const rolesOf = (list: readonly { readonly role: RoleId }[]) => list.map(({ role }) => role);

/** @returns the roles whose groups must be woken after a change in this run or in an unfinished earlier run */
async function saveRecords(records: readonly EmployeeRecord[], known: Known, saving: Saving) {
  const { name } = saving.connection;
  const { people } = saving.ports;
  // Whether the record changes the person, or an earlier change is not fanned out. Nearly all records are no news.
  const isNews = (record: EmployeeRecord, seen: Person | undefined) =>
    seen === undefined || seen.fanOutDue || differs(factsOf(record, seen), seen);
  const persons = await mapConcurrently(
    WRITES_IN_FLIGHT,
    records.filter((record) => isNews(record, known.get(record.role))),
    async (record) => {
      const { role } = record;
      // If another refresh has written the person first, this refresh reads that data and merges the record into it.
      const saved =
        (await saveRecord(record, known.get(role), saving)) ??
        (await saveRecord(record, (await people.read(name, [role])).get(role), saving));
      if (saved === undefined) throw new Error('a person was changed by two other refreshes at once');
      return saved;
    },
  );
  return persons.filter(({ fanOutDue }) => fanOutDue);
}

/** @returns the person after the change; undefined if the stored person no longer equals `seen` */
async function saveRecord(
  record: EmployeeRecord,
  seen: Person | undefined,
  { connection: { name, settings }, ports, hasBindings }: Saving,
): Promise<Person | undefined> {
  const facts = factsOf(record, seen);
  if (seen !== undefined && !differs(facts, seen)) return seen;
  const joinsUser = seen === undefined && settings.memberIdField === 'userId' && facts.userId !== undefined;
  const isNews =
    seen === undefined
      ? joinsUser && hasBindings
      : facts.state !== seen.state || facts.userId !== seen.userId;
  const fanOutDue = isNews || seen?.fanOutDue === true;
  const previousUserId = seen?.previousUserId ?? (facts.userId === seen?.userId ? undefined : seen?.userId);
  const person = { ...facts, fanOutDue, ...(previousUserId !== undefined && { previousUserId }) };
  const isSaved = await ports.people.save(name, person, seen);
  return isSaved ? { ...person, revision: (seen?.revision ?? 0) + 1 } : undefined;
}

export function personAfter(record: EmployeeRecord, seen: Person | undefined): Person {
  const facts = factsOf(record, seen);
  const isSame = seen !== undefined && !differs(facts, seen);
  return isSame ? seen : { ...facts, fanOutDue: false, revision: (seen?.revision ?? 0) + 1 };
}

/**
 * Merges a record into the stored person. A field that the answer lacks (for example after a lost scope) keeps its
 * value. A null or an empty value removes the value.
 */
function factsOf(record: EmployeeRecord, seen: Person | undefined) {
  const values = new Map(seen?.values);
  for (const [field, value] of record.fields) {
    const name = fieldName(field);
    if (value === null || value.trim() === '') values.delete(name);
    else values.set(name, matchForm(name, value));
  }
  const userId = record.userId ?? seen?.userId;
  // A role that the platform returns exists. So the stored state `GONE` must not stay if the answer has no state.
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
