import type { GroupRef, PlatformGroupId } from '../domain/ids.ts';
import { changeByDrop, changeByFetch } from '../plan/transition.ts';
import type { ConnectionStore, Ports } from './ports/bundles.ts';
import type { Owners } from './ports/claims.ts';

interface Claiming {
  readonly company: string;
  readonly id: PlatformGroupId;
  readonly owner: GroupRef;
  /** The time of the creation, if the owner created the platform group. */
  readonly createdAtMs?: number | undefined;
}

interface ClaimPorts {
  readonly claims: Pick<Ports['claims'], 'claim' | 'owners' | 'takeOver'>;
  readonly groups: Pick<Ports['groups'], 'read' | 'dropIntent' | 'storeObserved'>;
  readonly connections: Pick<ConnectionStore, 'current'>;
}

/** The maximum number of tries of one claim. A try fails if the owner or the owner's item changes during the try. */
const MAX_RACES = 3;

/**
 * Claims a platform group. A claim is valid only while the connection of its owner exists. So if an operator removes a
 * connection and creates it again under another name, the new connection takes over the platform groups.
 *
 *   the claim is       | its connection | result
 *   -------------------|----------------|------------------------------------------
 *   free, or our own   | –              | claimed
 *   of another group   | exists         | the owner keeps the platform group
 *   of a group that moved to the claiming group          | claimed
 *   of another group   | was removed    | the old link is ended, then the group is claimed
 *
 * The old link ends before the claim moves. If an operator later creates a connection with the removed name, its group
 * therefore has no link. So two connections never write the same platform group.
 * @returns the directory group that keeps the platform group; undefined if the claim succeeded
 */
export async function claimGroup(claiming: Claiming, ports: ClaimPorts): Promise<GroupRef | undefined> {
  const { company, id, owner, createdAtMs } = claiming;
  for (let race = 0; race < MAX_RACES; race += 1) {
    if (await ports.claims.claim(company, id, owner, createdAtMs)) return undefined;
    const from = (await ports.claims.owners(company, [id])).now.get(id);
    // Another worker may have claimed the platform group for the same directory group in the meantime.
    if (from === undefined || isSame(from, owner)) continue;
    if (await keepsClaim(from, owner, ports)) return from;
    if (!(await endLink(from, id, ports))) continue;
    if (await ports.claims.takeOver(company, id, { from, to: owner })) return undefined;
  }
  throw new Error(`expected to claim the platform group ${id}, but its owner changed ${MAX_RACES} times`);
}

/** Returns the owner that would make a claim fail now; undefined if a claim would succeed. */
export async function ownerOf(
  { company, id, owner }: Claiming,
  ports: {
    readonly claims: Pick<Ports['claims'], 'owners'>;
    readonly connections: ClaimPorts['connections'];
  },
): Promise<GroupRef | undefined> {
  const now = (await ports.claims.owners(company, [id])).now.get(id);
  if (now === undefined || isSame(now, owner)) return undefined;
  return (await isLive(now, ports)) ? now : undefined;
}

const isSame = (a: GroupRef, b: GroupRef): boolean => a.connection === b.connection && a.group === b.group;

/** While a group moved, a worker may have claimed a new platform group for the old group. The new group then gets it. */
const keepsClaim = async (from: GroupRef, { group }: GroupRef, ports: ClaimPorts): Promise<boolean> =>
  (await isLive(from, ports)) && (await ports.groups.read(from))?.movedTo !== group;

const isLive = async (
  { connection }: Pick<GroupRef, 'connection'>,
  { connections }: Pick<ClaimPorts, 'connections'>,
): Promise<boolean> => (await connections.current(connection)) !== undefined;

/** Returns a predicate: whether the connection of an owner was removed, so that the owner's claim is not valid. */
export async function findRemovedOwners(
  owners: Owners['now'],
  ports: { readonly connections: ClaimPorts['connections'] },
): Promise<(owner: GroupRef) => boolean> {
  const names = new Set([...owners.values()].map(({ connection }) => connection));
  const removed = new Set<string>();
  for (const connection of names) if (!(await isLive({ connection }, ports))) removed.add(connection);
  return ({ connection }) => removed.has(connection);
}

/**
 * Ends the link and the open intent of a group whose connection was removed. Otherwise a later connection with the
 * removed name would settle the intent, and could repeat a deletion.
 * @returns false if the group's item changed between the read and the write
 */
async function endLink(ref: GroupRef, id: PlatformGroupId, { groups }: ClaimPorts): Promise<boolean> {
  const seen = await groups.read(ref);
  if (seen?.intent?.platformId === id) await groups.dropIntent(ref, seen.intent, changeByDrop());
  const now = seen?.intent === undefined ? seen : await groups.read(ref);
  return now?.link?.id !== id || groups.storeObserved(now, changeByFetch(now, undefined));
}
