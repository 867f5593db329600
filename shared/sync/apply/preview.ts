import type {
  GroupState,
  GuardRecord,
  LinkedGroup,
  StateChange,
  Uncertain,
} from '../../domain/group-state.ts';
import { removalsAfter } from '../../domain/hold.ts';
import { intentId, type PlatformGroupId, platformGroupId } from '../../domain/ids.ts';
import { once } from '../../domain/once.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { decide } from '../../plan/decide/index.ts';
import { type Decision, type Observe, readsGroup } from '../../plan/decision.ts';
import { adoptedView, viewOf } from '../../plan/external-change.ts';
import type { Facts, PassedOver, Shown } from '../../plan/facts.ts';
import { withAdoption } from '../../plan/marks.ts';
import {
  changeByAdoption,
  changeByDrop,
  changeByFetch,
  changeByWrite,
  changed,
  noted,
  outcomeFound,
} from '../../plan/transition.ts';
import { NO_WRITES, NOTHING_SENT } from '../../plan/uncertain.ts';
import { ownerOf } from '../claim-group.ts';
import { withCurrentOwner } from '../moves.ts';
import { openPlatform } from '../open-platform.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { type Platform, PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';
import { MAX_CONFLICTS } from '../tuning.ts';
import { claimAdopted, readPreviousLink } from './adopt.ts';
import { withRemovals } from './hold.ts';
import { learn, startOf } from './load.ts';
import { withGroupCounts } from './perform.ts';

export interface PreviewPorts extends Pick<ApplyPorts, 'platforms' | 'clock' | 'createSettleMs'> {
  readonly groups: Pick<
    ApplyPorts['groups'],
    'read' | 'readMany' | 'members' | 'readView' | 'readChange' | 'readHeld'
  >;
  readonly users: Pick<ApplyPorts['users'], 'read'>;
  readonly people: Pick<ApplyPorts['people'], 'read' | 'holding' | 'ofUser'>;
  readonly guard: Pick<ApplyPorts['guard'], 'recent'>;
  readonly claims: Pick<ApplyPorts['claims'], 'owners' | 'previousOwner' | 'claimedBy'>;
  readonly index: Pick<ApplyPorts['index'], 'all'>;
  readonly connections: Pick<ApplyPorts['connections'], 'current'>;
}

/** The maximum number of decisions of a preview. Apply never needs more decisions, including reads. */
const MAX_DECISIONS = 12 * MAX_CONFLICTS;

/** The last decision that apply would reach (a write, a settlement or a wait), with its facts. */
export interface Preview {
  readonly decision: Decision;
  readonly facts: Facts;
  /**
   * The failure of a read of the platform; undefined if no read failed. After a failure, the decision is based on the
   * stored view, or it is the decision whose read failed.
   */
  readonly unseen: PlatformFailure | undefined;
}

/** Follows the decisions of apply up to its first write. If a fetch fails, the plan uses the stored view. */
export async function previewGroup(
  state: GroupState,
  connection: Connection,
  ports: PreviewPorts,
): Promise<Preview> {
  const reading = readingOf(state, connection, ports);
  return followFrom(startOf(await withCurrentOwner(state, ports.groups), reading), reading, ports);
}

/** Follows the decisions of apply as if an operator had just linked this platform group to the group. */
export async function previewAdoption(
  state: GroupState,
  observed: ObservedGroup,
  connection: Connection,
  ports: PreviewPorts,
): Promise<Preview> {
  const reading = readingOf(state, connection, ports);
  const previousLink = await readPreviousLink(state, platformGroupId(observed.id), reading);
  const base = withAdoption(viewOf(observed, previousLink));
  const adopted = changed(state, { ...changeByAdoption(linkOf(observed, base)), intent: undefined });
  return followFrom({ ...startOf(adopted, reading), ...shownAs(observed, base) }, reading, ports);
}

async function followFrom(start: Facts, reading: Reading, ports: PreviewPorts): Promise<Preview> {
  let facts = start;
  let unseen: PlatformFailure | undefined;
  for (let count = 0; count < MAX_DECISIONS; count += 1) {
    const decision = decide(facts);
    try {
      const next = await follow(decision, facts, reading, ports);
      if (next === undefined) return { decision, facts, unseen };
      facts = next;
    } catch (error) {
      if (!(error instanceof PlatformFailure)) throw error;
      const asStored = { ...facts, shown: storedOf(facts) };
      if (!readsGroup(decision) || readsGroup(decide(asStored))) return { decision, facts, unseen: error };
      unseen = error;
      facts = asStored;
    }
  }
  const { group } = start.state.ref;
  throw new Error(`expected a preview of ${group} to end within ${MAX_DECISIONS} decisions`);
}

const storedOf = ({ state: { link }, nowMs }: Facts): Shown | undefined =>
  link && { id: link.id, version: link.version, atMs: nowMs };

/**
 * Calls `ask` with the group's item. If the item changes during the call, it calls `ask` again, because the views of
 * the old item may have been deleted. If the item changes during each call, it returns the last result. Apply needs no
 * such repetition, because its conditional write fails if the item has changed.
 */
export async function undisturbed<Result>(
  state: GroupState,
  { groups }: Pick<PreviewPorts, 'groups'>,
  ask: (state: GroupState) => Promise<Result>,
  needsProof: (result: Result) => boolean = () => true,
): Promise<Result> {
  for (let [seen, tries] = [state, 1]; ; tries += 1) {
    const result = await ask(seen);
    const now = tries < MAX_CONFLICTS && needsProof(result) ? await groups.read(seen.ref) : undefined;
    if (now === undefined || JSON.stringify(now) === JSON.stringify(seen)) return result;
    seen = now;
  }
}

/** Returns the reads that apply uses, without the writes. */
export function readingOf(
  { ref }: Pick<GroupState, 'ref'>,
  connection: Connection,
  ports: PreviewPorts,
): Reading {
  const { users, people, groups } = ports;
  // The platform is opened at the first call. The plan of a group in sync makes no call, so it needs no credential.
  const platform = once(() => openPlatform(connection, ports));
  const list: Platform['groups']['list'] = async (ageMs) => (await platform()).groups.list(ageMs);
  const get: Platform['groups']['get'] = async (id) => (await platform()).groups.get(id);
  return {
    connection,
    platform: { groups: { list, get } },
    ports: {
      ...ports,
      groups: {
        read: groups.read,
        readMany: groups.readMany,
        members: groups.members,
        readView: groups.readView,
        readChange: groups.readChange,
        readHeld: groups.readHeld,
      },
      users: { read: users.read },
      people: { read: people.read, holding: people.holding, ofUser: people.ofUser },
    },
    claim: (id) => ownerOf({ company: connection.company, id, owner: ref }, ports),
  };
}

/** Returns the facts that the pass would have after this decision; undefined if apply would end the pass or write. */
async function follow(
  decision: Decision,
  facts: Facts,
  reading: Reading,
  { guard }: Pick<PreviewPorts, 'guard'>,
): Promise<Facts | undefined> {
  const { state, nowMs } = facts;
  switch (decision.kind) {
    case 'read':
      return learn(decision, facts, reading);
    case 'reserve': {
      const { removals, size, deletes, replaces } = decision;
      const counted = { ...state.ref, platformId: state.link?.id };
      const reserved = await guard.recent(counted, nowMs, [replaces], state.lastWriteAtMs);
      const recent = await withGroupCounts(reserved, size, facts, reading);
      const reservation = { intent: intentId(''), atMs: nowMs, removals, size, deletes, recent };
      return { ...facts, reservation };
    }
    case 'hold':
      return withRemovals(decision.sets, facts);
    case 'drop':
      return again(facts, changeByDrop({ uncertain: owing(state, decision.owed) }));
    case 'note':
      return noted(facts, decision, nowMs);
    case 'observe':
      return afterObserving(decision, facts);
    case 'mark':
      return { ...facts, views: facts.views && { ...facts.views, base: decision.view } };
    case 'unlink':
      return again(facts, changeByFetch(state, undefined, { isGone: true }));
    case 'adopt': {
      const id = decision.candidate.id as PlatformGroupId;
      const passOver = (why: PassedOver): Facts => ({
        ...facts,
        passedOver: new Map([...(facts.passedOver ?? []), [id, why]]),
      });
      const owner = await claimAdopted(decision.candidate, state, reading);
      if (owner !== undefined) return passOver(owner);
      const observed = await reading.platform.groups.get(id);
      if (observed === undefined) return passOver('not_found');
      const previousLink = await readPreviousLink(state, id, reading);
      const base = adoptedView(observed, decision.candidate, previousLink);
      return { ...again(facts, changeByFetch(state, linkOf(observed, base))), ...shownAs(observed, base) };
    }
    default:
      return undefined;
  }
}

function afterObserving({ observed, view, intent, external, flapDamping }: Observe, facts: Facts): Facts {
  const { state, nowMs } = facts;
  const shown = observed === 'gone' || view === undefined ? undefined : linkOf(observed, view);
  const platform = observed === 'gone' ? undefined : (shown ?? state.link);
  const found = { flapDamping };
  const change =
    intent === undefined
      ? changeByFetch(state, platform, found)
      : changeByWrite(state, { ...outcomeFound(intent, state, platform, nowMs), found });
  const isMade = intent !== undefined && external === undefined;
  const used = isMade && { removals: platform && removalsAfter(state, intent.consumes) };
  const next = again(facts, { ...change, ...used });
  if (observed === 'gone' || view === undefined) return next;
  return { ...next, ...shownAs(observed, view), ...(isMade && { held: undefined }) };
}

/** Returns the record of uncertain writes, with the removals that the dropped intent keeps reserved. */
const owing = ({ uncertain }: GroupState, removals: GuardRecord | undefined): Uncertain | undefined =>
  removals === undefined ? uncertain : { sent: NOTHING_SENT, untilMs: 0, ...uncertain, removals };

/** Returns the facts of a new pass. The wanted state stays. The state of the platform must be read again. */
function again(
  { fetched, listed, views, departed, held, reservation, ...facts }: Facts,
  change: StateChange,
): Facts {
  return { ...facts, state: changed(facts.state, change), held };
}

const linkOf = ({ id, version }: ObservedGroup, { users }: View): LinkedGroup => ({
  id: platformGroupId(id),
  version,
  view: { id: intentId(''), size: users.size },
});

const shownAs = (fetched: ObservedGroup, base: View): Pick<Facts, 'fetched' | 'views'> => ({
  fetched,
  views: { base, ...NO_WRITES, isUnreadable: false },
});
