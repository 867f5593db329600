import { blockedUsers } from '../../domain/block.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { type Hold, holdsOf } from '../../domain/hold.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../../domain/view.ts';
import type { Read, StoredFact } from '../../plan/decision.ts';
import { isOurCreation } from '../../plan/external-change.ts';
import type { Facts, HeldUsers, Views } from '../../plan/facts.ts';
import { foldName, mayBeAny, mayBeSpokeId } from '../../plan/names.ts';
import { changedView, NO_CHANGE } from '../../plan/uncertain.ts';
import { readDeparted, readEnded, readPart, readWanted, readWantedAgain } from '../match/wanted.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';
import { readNamesakes, readOfList } from './listed-groups.ts';

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

type Stored = Pick<Facts, 'wanted' | 'views' | 'held' | 'departed' | 'ended' | 'listed'>;

async function readStored(
  what: readonly StoredFact[],
  facts: Facts,
  reading: Reading,
): Promise<Stored | Pick<Facts, 'wanted' | 'views'>> {
  const part = what.includes('views') ? await readPart(facts, reading) : undefined;
  if (part !== undefined) return part;
  const [wanted, views, held, departed, ended, listed] = await Promise.all([
    what.includes('wanted') ? readWanted(facts.state, reading) : facts.wanted,
    what.includes('views') ? readViews(facts.state, reading) : facts.views,
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
