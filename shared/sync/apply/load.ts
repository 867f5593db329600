import { blockedUsers } from '../../domain/block.ts';
import { hasDeparted } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { type Hold, holdsOf } from '../../domain/hold.ts';
import type { GroupRef, PlatformGroupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../../domain/view.ts';
import type { Read, StoredFact } from '../../plan/decision.ts';
import { isOurCreation } from '../../plan/external-change.ts';
import type { Facts, HeldUsers, Listing, MissingGroups, Views } from '../../plan/facts.ts';
import { foldName, isListed, mayBeAny, mayBeSpokeId } from '../../plan/names.ts';
import { changedView, NO_CHANGE } from '../../plan/uncertain.ts';
import { findRemovedOwners } from '../claim-group.ts';
import { readDeparted, readEnded, readPart, readWanted, readWantedAgain } from '../match/wanted.ts';
import type { Claim } from '../ports/claims.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';

export const startOf = (
  state: GroupState,
  { connection, ports }: Pick<Reading, 'connection' | 'ports'>,
): Facts => ({
  nowMs: ports.clock(),
  createSettleMs: ports.createSettleMs,
  state,
  settings: connection.settings,
  restoredAtMs: connection.restoredAtMs,
  blocked: blockedUsers(connection.blocks, connection.settings.memberIdField),
});

export const ALL_MEMBERS: Read = { kind: 'read', what: ['wanted'] };

/** Returns the facts with the requested data added. Reads of the table are strongly consistent. */
export async function learn<Known extends Facts>(
  { what, maxAgeMs = 0, ids = [] }: Read,
  facts: Known,
  reading: Reading,
): Promise<Known> {
  if (what[0] === 'group') return readGroup(facts, reading);
  if (what[0] === 'list') {
    const groups = await reading.platform.groups.list(maxAgeMs);
    return { ...facts, listed: { groups, ageMs: maxAgeMs } };
  }
  if (what[0] === 'namesakes') return { ...facts, listed: await readNamesakes(ids, facts, reading) };
  return { ...facts, ...(await readStored(what as readonly StoredFact[], facts, reading)) };
}

async function readGroup<Known extends Facts>(facts: Known, reading: Reading): Promise<Known> {
  const { intent, link } = facts.state;
  if (intent?.action === 'create') {
    const views = facts.views ?? (await readViews(facts.state, reading));
    return findCreation({ ...facts, views }, reading);
  }
  const id = intent?.platformId ?? link?.id;
  const fetched = await reading.platform.groups.get(id as PlatformGroupId);
  const shown = fetched && { id: fetched.id, version: fetched.version, atMs: reading.ports.clock() };
  return { ...facts, fetched: fetched ?? 'gone', shown };
}

async function readStored(what: readonly StoredFact[], facts: Facts, reading: Reading) {
  const part = what.includes('views') ? await readPart(facts, reading) : undefined;
  if (part !== undefined) return part;
  const [wanted, views, held, departed, ended, listed] = await Promise.all([
    what.includes('wanted') ? readWanted(facts.state, reading) : facts.wanted,
    // A preview has views that are not stored.
    facts.views ?? (what.includes('views') ? readViews(facts.state, reading) : undefined),
    what.includes('held') ? readHeld(facts, reading) : facts.held,
    what.includes('departed') ? readDeparted(facts, reading) : facts.departed,
    what.includes('ended') ? readEnded(facts, reading) : facts.ended,
    readOfList(what, facts, reading),
  ]);
  return { wanted, views, held, departed, ended, listed };
}

export async function readViews(
  state: GroupState,
  { ports: { groups } }: { readonly ports: Pick<Reading['ports'], 'groups'> },
): Promise<Views> {
  const { ref, link, uncertain } = state;
  const made = uncertain?.write?.action === 'create' ? uncertain.write.change : undefined;
  const [base, prepare, created, late] = await Promise.all([
    link && groups.readView(ref, link.view),
    readPrepared(state, groups),
    made && groups.readView(ref, made),
    uncertain?.change && groups.readChange(ref, uncertain.change),
  ]);
  return {
    base,
    prepared: prepare(base),
    created,
    uncertain: uncertain?.change === undefined ? uncertain && NO_CHANGE : late,
    isUnreadable: link !== undefined && base === undefined,
  };
}

/** Returns a function that computes the intended result of the open intent from the view before its write. */
async function readPrepared(
  { ref, intent }: GroupState,
  groups: Reading['ports']['groups'],
): Promise<(base: View | undefined) => View | undefined> {
  if (intent === undefined) return () => undefined;
  if (intent.action === 'create') {
    const whole = intent.change && (await groups.readView(ref, intent.change));
    return () => whole;
  }
  const change = intent.change && (await groups.readChange(ref, intent.change));
  if (intent.change !== undefined && change === undefined) return () => undefined;
  return (base) => base && changedView(base, intent, change);
}

async function readHeld({ state, wanted }: Facts, reading: Reading): Promise<HeldUsers> {
  const { groups } = reading.ports;
  const read = async (hold: Hold) => ({ hold, users: await groups.readHeld(state.ref, hold) });
  const holds = holdsOf(state);
  const asOf = holds.map((hold) => hold.asOf).reduce((a, b) => (a < b ? a : b));
  const [sets, wantedAt] = await Promise.all([
    Promise.all(holds.map(read)),
    readWantedAgain({ state, registers: wanted?.registers ?? [] }, asOf, reading),
  ]);
  return { sets, wantedAt };
}

/** Finds the platform group that an open creation made. A cached list may lack the group, so the list is read again. */
async function findCreation<Known extends Facts & { readonly views: Views }>(
  facts: Known,
  reading: Reading,
): Promise<Known> {
  const { state, views } = facts;
  const groups = await reading.platform.groups.list(0);
  // An exact external id takes precedence, because the id of another directory group may differ only in its form.
  const isExact = ({ spokeId }: ListedGroup) => spokeId === state.intent?.spokeId;
  const inOrder = [...groups.filter(isExact), ...groups.filter((group) => !isExact(group))];
  for (const group of inOrder) {
    const observed = await creationOf(group, state, reading);
    if (observed === undefined || state.intent === undefined) continue;
    if (!isOurCreation(observed, state.intent, views.prepared)) continue;
    if ((await reading.claim(observed.id as PlatformGroupId, facts.nowMs)) === undefined) {
      return { ...facts, fetched: observed, listed: { groups, ageMs: 0 } };
    }
  }
  refuseMoreMalformed(groups, state.intent?.malformedBefore);
  return { ...facts, fetched: 'gone', listed: { groups, ageMs: 0 } };
}

/**
 * Refuses to settle a creation if the list has more malformed groups than before the POST, because the POST may have
 * created a malformed group. The function compares only the numbers, because the intent may not have the ids of all
 * malformed groups.
 * @throws PlatformFailure if the number has grown
 */
function refuseMoreMalformed(groups: readonly ListedGroup[], before = Number.POSITIVE_INFINITY): void {
  const now = groups.filter(mayBeAny).length;
  if (now <= before) return;
  const message = `expected at most ${before} malformed groups, as before the creation, got ${now}`;
  throw new PlatformFailure('unavailable', message, { status: 200 });
}

/**
 * Returns a listed group that the creation may have made. The function fetches the group by its id, because a list may
 * show only some of its users. If it cannot read a malformed group by its id, the creation stays unsettled.
 */
async function creationOf(
  listed: ListedGroup,
  { intent }: GroupState,
  { platform }: Pick<Reading, 'platform'>,
): Promise<ObservedGroup | undefined> {
  const { id, spokeId } = listed;
  if (intent === undefined || intent.known?.includes(id as PlatformGroupId)) return undefined;
  const mayBeOurs =
    spokeId === null
      ? (!isWhole(listed) && intent.malformedBefore === undefined) ||
        (isWhole(listed) && foldName(listed.name) === foldName(intent.name))
      : mayBeSpokeId(spokeId, intent.spokeId);
  return mayBeOurs ? platform.groups.get(id as PlatformGroupId) : undefined;
}

/** Returns the list with the further facts in `what`: whether it shows managed groups, and whether it lacks groups. */
async function readOfList(what: readonly StoredFact[], facts: Facts, reading: Reading) {
  const { listed } = facts;
  if (listed === undefined) return undefined;
  return {
    ...listed,
    ...(what.includes('managed') ? await readOwners(listed, facts, reading) : {}),
    ...(what.includes('missing') ? await readMissing(listed, facts, reading) : {}),
  };
}

/**
 * Returns the list with the other groups of this connection that own these platform groups, and whether one of the
 * platform groups has no owner. A group that its source deleted does not keep its name.
 */
async function readNamesakes(
  ids: readonly PlatformGroupId[],
  { listed, state: { ref } }: Facts,
  { connection, ports }: Reading,
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

const spread = <Item>(items: readonly Item[], count: number): readonly Item[] => {
  const stride = Math.max(1, items.length / count);
  return items.filter((_, at) => Math.floor(at / stride) !== Math.floor((at - 1) / stride)).slice(0, count);
};
