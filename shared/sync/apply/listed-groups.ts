import { hasDeparted } from '../../domain/group.ts';
import type { GroupRef, PlatformGroupId } from '../../domain/ids.ts';
import type { StoredFact } from '../../plan/decision.ts';
import type { Facts, Listing, MissingGroups } from '../../plan/facts.ts';
import { isListed } from '../../plan/names.ts';
import { findRemovedOwners } from '../claim-group.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Claim } from '../ports/claims.ts';
import type { Connection } from '../ports/connections.ts';
import type { Platform } from '../ports/platform.ts';

interface Reading {
  readonly connection: Pick<Connection, 'company'>;
  readonly platform: { readonly groups: Pick<Platform['groups'], 'get'> };
  readonly ports: {
    readonly claims: Pick<ApplyPorts['claims'], 'owners' | 'claimedBy'>;
    readonly createSettleMs: number;
  };
}

/** Returns the list with the further facts in `what`: whether it shows managed groups, and whether it lacks groups. */
export async function readOfList(
  what: readonly StoredFact[],
  facts: Facts,
  reading: Reading,
): Promise<Listing | undefined> {
  const { listed } = facts;
  if (listed === undefined) return undefined;
  return {
    ...listed,
    ...(what.includes('managed') ? await readOwners(listed, facts, reading) : {}),
    ...(what.includes('missing') ? await readMissing(listed, facts, reading) : {}),
  };
}

interface NamesakeReading extends Reading {
  readonly ports: Reading['ports'] & {
    readonly groups: Pick<ApplyPorts['groups'], 'readMany'>;
    readonly connections: Pick<ApplyPorts['connections'], 'current'>;
  };
}

/**
 * Returns the list with the other groups of this connection that own these platform groups, and whether one of the
 * platform groups has no owner. A group that its source deleted does not keep its name.
 */
export async function readNamesakes(
  ids: readonly PlatformGroupId[],
  { listed, state: { ref } }: Facts,
  { connection, ports }: NamesakeReading,
): Promise<Listing | undefined> {
  const { now } = await ports.claims.owners(connection.company, ids);
  const isOfRemoved = await findRemovedOwners(now, ports);
  const own = [...now.values()].filter((owner) => owner.connection === ref.connection);
  const others = own.filter((owner) => owner.group !== ref.group);
  const states = await ports.groups.readMany(others);
  const owners = states.filter(({ released, registers }) => !released && !hasDeparted(registers));
  const isUnmanaged = (owner: GroupRef | undefined) => owner === undefined || isOfRemoved(owner);
  const areUnmanaged = ids.some((id) => isUnmanaged(now.get(id)));
  return listed && { ...listed, namesakes: { owners, areUnmanaged } };
}

/** The number of claims that one request reads, to find out whether a list shows a managed group. */
const OWNERS_AT_ONCE = 100;

/** Whether the list shows a platform group of another directory group. The first request usually finds such a group. */
async function readOwners(listed: Listing, { state }: Facts, { connection, ports }: Reading) {
  const { connection: own, group } = state.ref;
  for (let at = 0; at < listed.groups.length; at += OWNERS_AT_ONCE) {
    const ids = listed.groups.slice(at, at + OWNERS_AT_ONCE).map(({ id }) => id as PlatformGroupId);
    const owners = [...(await ports.claims.owners(connection.company, ids)).now.values()];
    if (owners.some((owner) => owner.connection !== own || owner.group !== group))
      return { showsManaged: true };
  }
  return { showsManaged: false };
}

/**
 * At most this many missing groups are fetched by id, because each fetch counts towards the hourly limit of the group.
 */
const MISSING_ASKED = 3;

/** The result of `findMissing` for each list. It is kept because the creations of many groups use the same list. */
const compared = new WeakMap<Listing['groups'], Promise<MissingGroups>>();

/** Returns whether the list lacks groups. Without an open intent, the result is valid for the whole connection. */
async function readMissing(listed: Listing, facts: Facts, reading: Reading) {
  if (facts.state.intent !== undefined) return { missing: await findMissing(listed, facts, reading) };
  const missing = compared.get(listed.groups) ?? findMissing(listed, facts, reading);
  compared.set(listed.groups, missing);
  return { missing: await missing };
}

/**
 * Finds one group that existed before a creation and is missing from the list. If the platform answers 404 for a group,
 * the group does not count as missing, because it may be gone. Managed groups younger than `createSettleMs` are not
 * checked, because a list may not show them yet.
 */
async function findMissing(
  listed: Listing,
  { state, nowMs }: Facts,
  { connection, platform, ports }: Reading,
): Promise<MissingGroups> {
  const claims = await ports.claims.claimedBy(connection.company, state.ref.connection);
  const isMissing = (id: PlatformGroupId) => !isListed(listed.groups, id);
  const showsNoManaged = claims.length > 0 && claims.every(({ id }) => isMissing(id));
  const isOld = ({ createdAtMs = Number.NEGATIVE_INFINITY }: Claim) =>
    nowMs - listed.ageMs - createdAtMs >= ports.createSettleMs;
  const expected = [...claims.filter(isOld).map(({ id }) => id), ...(state.intent?.known ?? [])];
  const missing = [...new Set(expected)].filter(isMissing);
  for (const id of spread(missing, MISSING_ASKED)) {
    if ((await platform.groups.get(id)) !== undefined) return { existing: id, showsNoManaged };
  }
  return { existing: undefined, showsNoManaged };
}

/** Returns at most `count` items, at even distances in the list. */
const spread = <Item>(items: readonly Item[], count: number): readonly Item[] => {
  const stride = Math.max(1, items.length / count);
  return items.filter((_, at) => Math.floor(at / stride) !== Math.floor((at - 1) / stride)).slice(0, count);
};
