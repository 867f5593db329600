import { createHash } from 'node:crypto';
import { contentDigest } from '../../domain/content-digest.ts';
import { DATED, type Difference, NOBODY_KNOWN } from '../../domain/drift.ts';
import type { GroupState, Intent, LinkedGroup, ViewPointer } from '../../domain/group-state.ts';
import { intentId, type PlatformGroupId, type VersionToken } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { attribute } from '../../plan/attribute.ts';
import { endingOf } from '../../plan/decide/drift.ts';
import { REFUSED } from '../../plan/decide/refusal.ts';
import type { Absorb, Decision, DriftEnding } from '../../plan/decision.ts';
import { mayUnlink, UNLINKED_ALWAYS } from '../../plan/guard.ts';
import { attributeDrift, toldOf } from '../attribute-drift.ts';
import type { Flip, FoundForeign } from '../ports/groups.ts';
import type { DriftRecord } from '../ports/logs.ts';
import { foundOf } from './audit.ts';
import type { Performed, Round, Trouble, Turn } from './turn.ts';
import { AGAIN, CONFLICT, OVERTAKEN, unlessOvertaken } from './turn.ts';
import { readRecord, storeMoved } from './uncertain.ts';

/**
 * Takes what somebody else changed as the group's view. The record of it comes first: once the view is what was
 * observed, nothing can tell any more what was changed.
 */
export async function absorb(decision: Absorb, round: Round, turn: Turn): Promise<Performed> {
  const { observed, view, intent, landed, flapDamping } = decision;
  const { state, rejected } = round;
  const { ports } = turn;
  const recorded = await recordForeign(decision, state, turn);
  if (recorded === undefined) return OVERTAKEN;
  const link = await linkTo(state, observed, view, turn);
  const explainsRefusal = state.lastError?.code === REFUSED.why.code;
  const audited = await recordLanded(landed, observed, state, turn);
  const uncertain = await storeMoved(readRecord(round), round, { observed, view }, turn);
  const found = { ...recorded, flapDamping, explainsRefusal, ...audited, uncertain };
  const refused = rejected && { writtenAtMs: undefined };
  const isTaken =
    intent === undefined
      ? ports.groups.absorb(state, link, found)
      : flipFound(intent, state, turn, { happened: false, left: { platform: link, found, ...refused } });
  return unlessOvertaken(isTaken, CONFLICT);
}

/**
 * Ends an open intent by what a look found. The group is left dirty: what the directory wants now may be something else
 * again.
 */
export async function flipFound(
  intent: Intent,
  state: GroupState,
  { ports, record }: Turn,
  { happened, left }: { readonly happened: boolean; readonly left: Partial<Flip> },
): Promise<boolean> {
  const { id, action, atMs, consumes } = intent;
  const nowMs = ports.clock();
  const audited = await record(state, foundOf(intent, nowMs, left.platform?.version ?? null, happened));
  const flipped = await ports.groups.flip(state.ref, {
    intent: id,
    seen: state,
    writtenAtMs: nowMs,
    wakeAtMs: nowMs + ports.coalesceMs,
    settled: 'in_sync',
    counts: state.counts ?? { wanted: 0, applied: 0, pending: 0 },
    unfinished: true,
    ...(action === 'create' ? { createdAtMs: atMs } : {}),
    ...(happened && consumes !== undefined ? { consumedHold: consumes } : {}),
    ...left,
    found: { ...left.found, audited },
  });
  return flipped !== undefined;
}

/** What was looked for in vain is in the audit once it is seen to have happened after all. */
export const recordLanded = async (
  landed: Intent | undefined,
  { version }: { readonly version: VersionToken | null },
  state: GroupState,
  { record, ports }: Turn,
): Promise<Pick<FoundForeign, 'audited'>> =>
  landed === undefined ? {} : { audited: await record(state, foundOf(landed, ports.clock(), version, true)) };

/** @returns undefined where another worker of ours has written meanwhile, so that the change may be ours */
export async function recordForeign(
  { differences, observed }: Absorb,
  state: GroupState,
  turn: Turn,
): Promise<FoundForeign | undefined> {
  if (!(await isStillOurs(state, turn))) return undefined;
  return recordDrift(state, differences, observed.id as PlatformGroupId, turn);
}

/**
 * Whether nobody of ours has written since `state` was read: a write opens its intent before it is sent, so one that a
 * look could have met shows here. Without this, a second worker's own write would be recorded as somebody else's.
 */
async function isStillOurs({ ref, view, intent }: GroupState, { ports }: Turn): Promise<boolean> {
  const now = await ports.groups.read(ref);
  return now?.intent?.id === intent?.id && now?.view?.id === view?.id;
}

/** Stores an observed group as a view for the group's pointer, unless a prepared view exists. */
export async function linkTo(
  seen: GroupState,
  { id, version }: Pick<ObservedGroup, 'id' | 'version'>,
  view: View,
  { ports, showed }: Turn,
  prepared?: ViewPointer,
): Promise<LinkedGroup> {
  showed({ id, version });
  const pointer = prepared ?? (await ports.groups.prepareView(seen, intentId(ports.newId()), view));
  return { id: id as PlatformGroupId, version, view: pointer };
}

/**
 * The group is as our last write left it: the suspicion, or the 404 before, is answered. The digest becomes that of the
 * fetch: the view may contain users that the platform does not show, and the sweep would fetch the group each hour.
 */
export async function clearSuspicion(
  { observed, flapDamping }: Extract<Decision, { kind: 'clear' }>,
  { state }: Round,
  { ports }: Turn,
): Promise<Performed> {
  const { platformId, view } = state;
  await attributeDrift(state, toldOf(state), ports);
  if (platformId === undefined || view === undefined) return AGAIN;
  const shown = { ...view, digest: contentDigest(observed) };
  const link = { id: platformId, version: observed.version, view: shown };
  return unlessOvertaken(ports.groups.absorb(state, link, { flapDamping }));
}

const UNLINKING_HELD = {
  code: 'missing_held',
  message: 'the platform answers 404 for this group and too many others: none more is made anew this hour',
};

export const isUnlinkingHeld = (why: Trouble): boolean => why.code === UNLINKING_HELD.code;

/** Gives up the link to a group that is gone, unless too many are gone at once, or it is there after all. */
export async function unlink(
  { id, difference, waiver, landed }: Extract<Decision, { kind: 'unlink' }>,
  { state }: Round,
  turn: Turn,
): Promise<Performed> {
  const { ports, platform } = turn;
  const { ref } = state;
  if (!(await drawOnBudget(id, state, turn)))
    return { step: { kind: 'wait', waitMs: undefined, why: UNLINKING_HELD } };
  if ((await platform.groups.get(id)) !== undefined) {
    await ports.guard.keepLink(ref.connection, id);
    return CONFLICT;
  }
  if (!(await isStillOurs(state, turn))) return OVERTAKEN;
  const told = difference && (await recordDrift(state, [difference], id, turn));
  const audited = await recordLanded(landed, { version: null }, state, turn);
  const left = { ...told, ...audited, isGone: true, ...(waiver && { acceptedDeletion: waiver }) };
  return unlessOvertaken(ports.groups.absorb(state, undefined, left));
}

/** The record is put before the others are counted, so two at once may both wait, but never both pass. */
async function drawOnBudget(
  id: PlatformGroupId,
  { ref: { connection } }: GroupState,
  { ports, connection: { company } }: Turn,
): Promise<boolean> {
  const recent = await ports.guard.unlink(connection, id, ports.clock());
  if (recent < UNLINKED_ALWAYS) return true;
  const { length: links } = await ports.claims.claimedBy(company, connection);
  if (mayUnlink({ links, recent })) return true;
  await ports.guard.keepLink(connection, id);
  return false;
}

/**
 * Records differences that somebody else made. `report` and `adopt` settle them by leaving them; `restore` leaves the
 * record open until apply has put the group right. A record is named by the view of ours that it departs from: so a crash
 * before the group knows of it repeats nothing, and what is changed again after we put it right is
 * another record, whatever version the platform shows.
 */
async function recordDrift(
  state: GroupState,
  differences: readonly Difference[],
  platformId: PlatformGroupId,
  turn: Turn,
): Promise<FoundForeign> {
  const { ports, connection, found } = turn;
  const traces = state.suspectedChange?.traces ?? [];
  await attributeDrift(state, toldOf(state), ports);
  const nowMs = ports.clock();
  const records = differences.map((difference): DriftRecord => {
    const settledBy = endingOf(difference, state, connection.settings);
    const isLeft = settledBy !== 'restore';
    return {
      ...difference,
      ...attribute(difference.kind, traces),
      id: idOf(state, difference, platformId),
      group: state.ref.group,
      platformId,
      policy: settledBy,
      detectedAtMs: nowMs,
      settledBy: isLeft ? settledBy : null,
      settledAtMs: isLeft ? nowMs : null,
    };
  });
  const idsOf = (some: readonly DriftRecord[]) => some.map(({ id }) => id);
  // From before a crash, where somebody has taken the difference back since.
  const lasting =
    differences.length > 0 ? [] : LASTING_KINDS.map((kind) => idOf(state, { kind }, platformId));
  const all = [...records, ...(await ports.drift.read(state.ref, lasting))];
  const noted = {
    openDrift: idsOf(all.filter(({ settledAtMs }) => settledAtMs === null)),
    unattributed: idsOf(records.filter(({ initiator }) => initiator === NOBODY_KNOWN)),
  };
  for (const record of records) {
    if (await ports.drift.record(connection.name, record)) found(record.kind);
    else if (record.initiator !== NOBODY_KNOWN) await ports.drift.attribute(state.ref, record.id, record);
  }
  return noted;
}

/** What somebody may take back; a group that is gone is gone. */
const LASTING_KINDS = ['name', 'members_added', 'members_removed', 'spoke_id'] as const;

function idOf({ ref, view }: GroupState, { kind }: Pick<Difference, 'kind'>, platformId: PlatformGroupId) {
  const parts = JSON.stringify([ref.group, platformId, view?.id ?? null, kind]);
  const hash = createHash('sha256').update(parts).digest('hex').slice(0, 20);
  // What departs from a later view was found later.
  return `${DATED}${(view?.id ?? '').slice(0, 12).padStart(12, '0')}${hash}`;
}

/**
 * What somebody else had changed has come to its end: put right, or left because the group is not ours to write any
 * more. Said before the group forgets it: said twice does no harm.
 */
export async function closeDrift(
  { openDrift, ref }: GroupState,
  { ports }: Turn,
  by: Exclude<DriftEnding, 'open'> = 'restore',
): Promise<void> {
  if (openDrift.length === 0) return;
  await ports.drift.settle(ref, openDrift, { by, atMs: ports.clock() });
}
