import { createHash } from 'node:crypto';
import { NOBODY_KNOWN } from '../../domain/drift.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { PlatformGroupId, RoleId } from '../../domain/ids.ts';
import { gather } from '../gather.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { GONE, type Person } from '../ports/people.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { Looking } from './suspect.ts';

/** The largest number of ids in one drift record. */
const MOST_NAMED = 1_000;

type IdField = Connection['settings']['memberIdField'];

/** The people to whom members of the connection are bound, including those who have left, and their ids in groups. */
export interface KnownPeople {
  readonly persons: readonly Person[];
  readonly ids: ReadonlySet<string>;
}

/** A managed group, and those of its users that are not ids of bound persons. */
export interface UnboundUsers {
  readonly state: GroupState & { readonly platformId: PlatformGroupId };
  readonly users: readonly string[];
}

export async function readKnownPeople(
  { name, settings }: Connection,
  { people }: Pick<ReconcilePorts, 'people'>,
): Promise<KnownPeople> {
  const bindings = await gather(people.bound(name));
  const roles = [...new Set(bindings.map(({ role }) => role))];
  const persons = [...(await people.read(name, roles)).values()];
  const ids = persons.flatMap((person) => idOf(person, settings.memberIdField) ?? []);
  return { persons, ids: new Set(ids) };
}

/**
 * Records ids in managed groups that belong to no employee, including terminated employees. Either such an id was written
 * by mistake, or groups hold another id than the setting `memberIdField` names. The employees are read only if an id
 * belongs to no bound person.
 * @returns the number of such ids; undefined if not all employees could be read
 */
export async function recordUnknownUsers(
  groups: readonly UnboundUsers[],
  known: KnownPeople,
  { connection, platform, ports }: Looking & { readonly connection: Connection },
): Promise<{ readonly ids: number; readonly newRecords: number } | undefined> {
  if (groups.length === 0) return { ids: 0, newRecords: 0 };
  const employees = await readEmployeeIds(connection.settings.memberIdField, known, platform);
  if (employees === undefined) return undefined;
  const unknown = new Set<string>();
  let newRecords = 0;
  for (const { state, users } of groups) {
    const unknownIds = users.filter((user) => !employees.has(user));
    if (unknownIds.length === 0) continue;
    for (const id of unknownIds) unknown.add(id);
    if (await record(state, unknownIds, ports)) newRecords += 1;
  }
  return { ids: unknown.size, newRecords };
}

/** @returns undefined if the listing failed or is incomplete: nothing is concluded from ids that it does not contain */
async function readEmployeeIds(
  field: IdField,
  { persons }: KnownPeople,
  platform: Looking['platform'],
): Promise<ReadonlySet<string> | undefined> {
  const ids = new Set<string>();
  const listed = new Set<RoleId>();
  try {
    for await (const page of platform.employees({ fields: [], states: [], isEveryone: true })) {
      if (page instanceof PlatformFailure) return undefined;
      for (const employee of page) {
        listed.add(employee.role);
        const id = idOf(employee, field);
        if (id !== undefined) ids.add(id);
      }
    }
  } catch (error) {
    if (error instanceof PlatformFailure) return undefined;
    throw error;
  }
  const isComplete = persons.every(({ role, state }) => state === GONE || listed.has(role));
  // A credential that may not read the ids gets no ids at all.
  return isComplete && ids.size > 0 ? ids : undefined;
}

const idOf = (person: { readonly role: RoleId; readonly userId?: string }, field: IdField) =>
  field === 'id' ? person.role : person.userId;

/** @returns false if the same ids of the group were recorded before */
async function record(
  { ref, platformId }: UnboundUsers['state'],
  unknownIds: readonly string[],
  { drift, clock }: Pick<ReconcilePorts, 'drift' | 'clock'>,
): Promise<boolean> {
  const nowMs = clock();
  const after = [...new Set(unknownIds)].sort();
  const parts = JSON.stringify([ref.group, platformId, 'unknown_users', after]);
  return drift.record(ref.connection, {
    id: createHash('sha256').update(parts).digest('hex').slice(0, 32),
    group: ref.group,
    platformId,
    kind: 'unknown_users',
    before: null,
    after: after.slice(0, MOST_NAMED),
    initiator: NOBODY_KNOWN,
    eventIds: [],
    policy: 'report',
    detectedAtMs: nowMs,
    settledBy: 'report',
    settledAtMs: nowMs,
  });
}
