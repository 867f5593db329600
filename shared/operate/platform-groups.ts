import { createHash } from 'node:crypto';
import type {
  AdoptionPreview,
  PlatformGroupRow,
  PlatformGroupsReport,
} from '../contract/answers/platform-groups.ts';
import { mayCreate } from '../contract/group-policy.ts';
import { renderName } from '../contract/name-template.ts';
import { groupExists, groupName } from '../domain/group.ts';
import type { GroupState } from '../domain/group-state.ts';
import { type GroupRef, groupId, platformGroupId } from '../domain/ids.ts';
import { isWhole, type ListedGroup } from '../domain/view.ts';
import { adoptionMatches, certainMatches } from '../plan/names.ts';
import { planAdopted, WRITES } from '../sync/apply/plan-group.ts';
import { findRemovedOwners } from '../sync/claim-group.ts';
import { openPlatform } from '../sync/open-platform.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../sync/tuning.ts';
import { allGroups } from './names.ts';

export interface AdoptionPair {
  readonly group: string;
  readonly platformId: string;
}

/** The order in which states are listed: groups that an operator can adopt come first. */
const ORDER = { adoptable: 0, unmanaged: 1, managed: 2 } as const;

/**
 * Returns every group of the platform with its state, and the directory groups that could adopt it. A directory group
 * cannot adopt a platform group if it is linked, released or deleted, or if the settings exclude it.
 * @throws PlatformFailure if the platform cannot be read
 */
export async function listPlatformGroups(
  connection: Connection,
  ports: ToolPorts,
): Promise<PlatformGroupsReport> {
  const [listed, states] = await Promise.all([readListed(connection, ports), statesOf(connection, ports)]);
  const owners = await ownersOf(listed, connection, ports);
  const unmanaged = listed.filter(({ id }) => !owners.has(id));
  const unlinked = states.flatMap((state) => unlinkedGroup(state, connection));
  const matches = adoptionMatches(unmanaged, unlinked);
  const certain = certainMatches(matches);
  const names = new Map(states.map(({ ref, registers }) => [ref.group, groupName(registers) ?? null]));
  const rows = listed.map((group): PlatformGroupRow => {
    const owner = owners.get(group.id);
    const found = matches.get(group) ?? [];
    return {
      platformId: group.id,
      name: isWhole(group) && group.name !== '' ? group.name : null,
      spokeId: group.spokeId,
      users: isWhole(group) ? group.users.length : null,
      state: stateOf(owner, found.length),
      owner: owner === undefined ? null : { ...owner, name: nameOf(owner, connection, names) },
      matches: found,
      ambiguous: found.length > 0 && !certain.has(group),
    };
  });
  const count = (state: PlatformGroupRow['state']) => rows.filter((row) => row.state === state).length;
  return {
    connection: connection.name,
    groups: rows.sort(
      (a, b) => ORDER[a.state] - ORDER[b.state] || (a.name ?? '').localeCompare(b.name ?? ''),
    ),
    totals: {
      managed: count('managed'),
      adoptable: count('adoptable'),
      unmanaged: count('unmanaged'),
    },
  };
}

const readListed = async (connection: Connection, ports: ToolPorts): Promise<readonly ListedGroup[]> =>
  (await openPlatform(connection, ports)).groups.list(0);

const statesOf = async ({ name }: Connection, ports: ToolPorts): Promise<readonly GroupState[]> =>
  ports.groups.readMany(await allGroups(name, ports), () => {});

async function ownersOf(
  listed: readonly ListedGroup[],
  { company }: Connection,
  ports: ToolPorts,
): Promise<ReadonlyMap<string, GroupRef>> {
  const ids = listed.map(({ id }) => platformGroupId(id));
  const { now } = await ports.claims.owners(company, ids);
  const isOfRemoved = await findRemovedOwners(now, ports);
  return new Map([...now].filter(([, owner]) => !isOfRemoved(owner)));
}

function unlinkedGroup({ ref, registers, link, released }: GroupState, { settings, name }: Connection) {
  const named = groupExists(registers) ? groupName(registers) : undefined;
  if (named === undefined || link !== undefined || released) return [];
  if (!mayCreate(settings, ref.group, named)) return [];
  const sent = renderName(settings.nameTemplate, { name: named, id: ref.group, connection: name });
  return [{ group: ref.group as string, name: sent }];
}

function stateOf(owner: GroupRef | undefined, matches: number): PlatformGroupRow['state'] {
  if (owner !== undefined) return 'managed';
  return matches > 0 ? 'adoptable' : 'unmanaged';
}

const nameOf = (owner: GroupRef, { name }: Connection, names: ReadonlyMap<string, string | null>) =>
  owner.connection === name ? (names.get(owner.group) ?? null) : null;

export const certainPairs = ({ groups }: PlatformGroupsReport): readonly AdoptionPair[] =>
  groups.flatMap(({ platformId, matches: [match], ambiguous }) =>
    match === undefined || ambiguous ? [] : [{ group: match.group, platformId }],
  );

export async function previewAdoptions(
  connection: Connection,
  pairs: readonly AdoptionPair[],
  ports: ToolPorts,
): Promise<readonly AdoptionPreview[]> {
  const listed = new Map((await readListed(connection, ports)).map((group) => [group.id, group]));
  const owners = await ownersOf([...listed.values()], connection, ports);
  return mapConcurrently(READS_IN_FLIGHT, pairs, async ({ group, platformId }) => {
    const state = await ports.groups.read({ connection: connection.name, group: groupId(group) });
    const found = { state, observed: listed.get(platformId), owner: owners.get(platformId) };
    const shown = found.observed !== undefined && isWhole(found.observed) ? found.observed : undefined;
    const problem = problemOf(found);
    const effect =
      problem === null && state !== undefined && shown !== undefined
        ? effectOf(await planAdopted(state, shown, connection, ports))
        : NO_EFFECT;
    const named = (state && groupName(state.registers)) ?? group;
    return { group, groupName: named, platformId, name: shown?.name ?? null, ...effect, problem };
  });
}

interface FoundPair {
  readonly state: GroupState | undefined;
  readonly observed: ListedGroup | undefined;
  readonly owner: GroupRef | undefined;
}

function problemOf({ state, observed, owner }: FoundPair): string | null {
  if (state === undefined || !groupExists(state.registers)) return 'the directory has no such group';
  if (state.link !== undefined) return `the group already has the platform group ${state.link.id}`;
  const { connection, group } = state.ref;
  // The text does not name the other connection, because the operator may have no role for it.
  if (owner !== undefined && owner.connection !== connection) return 'it belongs to another connection';
  if (owner !== undefined && owner.group !== group) return `it belongs to the group ${owner.group}`;
  if (observed === undefined || !isWhole(observed)) return 'the platform does not show such a group';
  return null;
}

const NO_EFFECT = { renamedTo: null, added: 0, removed: 0, held: 0, digest: null };

function effectOf({ action, changes, held, digests }: Awaited<ReturnType<typeof planAdopted>>) {
  const written = WRITES.has(action) ? changes : [];
  const countOf = (kind: string) => written.filter((change) => change.kind === kind).length;
  return {
    renamedTo: written.find(({ kind }) => kind === 'rename')?.after ?? null,
    added: countOf('add_member'),
    removed: countOf('remove_member'),
    held: held.length,
    digest: digestOfAll(digests),
  };
}

/** Returns one digest for all of these. The removals of people who left have a digest of their own. */
export function digestOfAll(digests: readonly string[]): string | null {
  const [first = null, ...others] = digests.toSorted();
  return others.length === 0 ? first : createHash('sha256').update(`${first} ${others}`).digest('hex');
}
