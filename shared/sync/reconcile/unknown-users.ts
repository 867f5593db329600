import { createHash } from 'node:crypto';
import { UNKNOWN_INITIATOR } from '../../domain/drift.ts';
import { type RoleId, roleId } from '../../domain/ids.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { GONE, type Person } from '../ports/people.ts';
import { PlatformFailure } from '../ports/platform.ts';
import { collectPages, mapConcurrently, READS_IN_FLIGHT } from '../tuning.ts';
import type { Checking, Linked } from './check-groups.ts';

/** The maximum number of ids in one drift record. */
const MOST_NAMED = 1_000;
/** The number of ids that are looked up together in the people index, until one id is not found. */
const LOOKED_UP = 1_000;

type IdField = Connection['settings']['memberIdField'];

/** The persons of bound members, including people who left, and their ids in groups. */
interface KnownPeople {
  readonly persons: readonly Person[];
  readonly ids: ReadonlySet<string>;
}

/** A managed group, with its users that are not bound persons. */
export interface UnboundUsers {
  readonly state: Linked;
  readonly users: readonly string[];
}

export async function readKnownPeople(
  { name, settings }: Connection,
  { people }: Pick<ReconcilePorts, 'people'>,
): Promise<KnownPeople> {
  const bindings = await collectPages(people.bound(name));
  const roles = [...new Set(bindings.map(({ role }) => role))];
  const persons = [...(await people.read(name, roles)).values()];
  const ids = persons.flatMap((person) => idOf(person, settings.memberIdField) ?? []);
  return { persons, ids: new Set(ids) };
}

interface Seeking extends Checking {
  readonly connection: Connection;
  readonly deadlineMs: number;
}

/**
 * Records ids in managed groups that belong to no present or terminated employee. A client wrote such an id by mistake,
 * or the setting `memberIdField` names the wrong kind of id. The employees are listed only if an id is not in the
 * people index. If they cannot be read before the deadline, nothing is recorded.
 */
export async function recordUnknownUsers(
  groups: readonly UnboundUsers[],
  known: KnownPeople,
  seeking: Seeking,
): Promise<void> {
  const ids = new Set(groups.flatMap(({ users }) => users));
  const employees = await employeesAmong(ids, known, seeking);
  if (employees === undefined) return;
  for (const { state, users } of groups) {
    const unknownIds = users.filter((user) => !employees.has(user));
    if (unknownIds.length > 0) await record(state, unknownIds, seeking.ports);
  }
}

/** @returns ids of employees, including every given id that belongs to an employee */
async function employeesAmong(ids: ReadonlySet<string>, known: KnownPeople, seeking: Seeking) {
  const all = [...ids];
  const indexed = new Set<string>();
  for (let from = 0; from < all.length; from += LOOKED_UP) {
    if (isLate(seeking)) return undefined;
    const some = all.slice(from, from + LOOKED_UP);
    const found = await mapConcurrently(READS_IN_FLIGHT, some, (id) => isIndexed(id, seeking));
    for (const [at, id] of some.entries()) if (found[at]) indexed.add(id);
    // After the first unknown id, all employees are listed, so no further ids are looked up.
    if (found.includes(false)) {
      const listed = await readEmployeeIds(known, seeking);
      return listed && new Set([...indexed, ...listed]);
    }
  }
  return indexed;
}

/** Whether the people index has a person with this id who still existed at the last refresh. */
async function isIndexed(id: string, { connection, ports }: Seeking): Promise<boolean> {
  const { name, settings } = connection;
  const persons =
    settings.memberIdField === 'id'
      ? (await ports.people.read(name, [roleId(id)])).values()
      : await ports.people.ofUser(name, id);
  return [...persons].some(({ state }) => state !== GONE);
}

const isLate = ({ ports, deadlineMs }: Seeking): boolean => ports.clock() >= deadlineMs;

/** @returns undefined if the listing failed or is incomplete, because a missing id then proves nothing */
async function readEmployeeIds({ persons }: KnownPeople, seeking: Seeking) {
  const { memberIdField } = seeking.connection.settings;
  const listed = new Set<RoleId>();
  const ids = new Set<string>();
  try {
    for await (const page of seeking.platform.employees({ fields: [], states: [], isEveryone: true })) {
      if (page instanceof PlatformFailure || isLate(seeking)) return undefined;
      const roles = page.map(({ role }) => role);
      const memberIds = page.flatMap((employee) => idOf(employee, memberIdField) ?? []);
      addAll(listed, roles);
      addAll(ids, memberIds);
    }
  } catch (error) {
    if (error instanceof PlatformFailure) return undefined;
    throw error;
  }
  const isComplete = persons.every(({ role, state }) => state === GONE || listed.has(role));
  // If the credential may not read the ids, the list has none.
  return isComplete && ids.size > 0 ? ids : undefined;
}

function addAll<Id>(ids: Set<Id>, more: readonly Id[]): void {
  for (const id of more) ids.add(id);
}

const idOf = (person: { readonly role: RoleId; readonly userId?: string }, field: IdField) =>
  field === 'id' ? person.role : person.userId;

/** Records the ids, unless the same ids of the group were recorded before. */
async function record(
  { ref, link }: Linked,
  unknownIds: readonly string[],
  { drift, clock }: Pick<ReconcilePorts, 'drift' | 'clock'>,
): Promise<void> {
  const nowMs = clock();
  const after = [...new Set(unknownIds)].sort();
  const parts = JSON.stringify([ref.group, link.id, 'unknown_users', after]);
  await drift.record(ref.connection, {
    id: createHash('sha256').update(parts).digest('hex').slice(0, 32),
    group: ref.group,
    platformId: link.id,
    kind: 'unknown_users',
    before: null,
    after: after.slice(0, MOST_NAMED),
    initiator: UNKNOWN_INITIATOR,
    eventIds: [],
    detectedAtMs: nowMs,
    settledBy: 'report',
    settledAtMs: nowMs,
  });
}
