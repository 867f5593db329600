import { createHash } from 'node:crypto';
import { policyFor } from '../../contract/group-policy.ts';
import { type Trace, UNKNOWN_INITIATOR } from '../../domain/drift.ts';
import type { GroupState, SuspectedChange } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, PlatformGroupId, VersionToken } from '../../domain/ids.ts';
import { groupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup } from '../../domain/view.ts';
import { attribute } from '../../plan/attribute.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { attributeDrift, attributeTo } from '../attribute-drift.ts';
import { atOnce } from '../gather.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { type Platform, PlatformFailure } from '../ports/platform.ts';
import { READS_IN_FLIGHT, WRITES_IN_FLIGHT } from '../tuning.ts';
import { dirtyNow } from '../wake.ts';

/**
 * Up to here groups are read one by one; past it one listing is cheaper, and kinder to the platform, unless it is of so
 * many groups for each that is to be read: a large company would be listed at each look.
 */
const FEW = 20;
const LISTED_FOR_ONE = 50;
/** Events that a suspicion keeps: the group item stays small. */
const MAX_TRACES = 50;
/** A group whose suspected change is replaced this often while it is being marked is marked by the other workers. */
const MAX_RACES = 5;

export interface Looking {
  readonly platform: Platform;
  readonly ports: ReconcilePorts;
}

/**
 * Compares versions only. A version that we know is the echo of our own write and costs no further call. Any other version
 * is a suspected external change, stored with rev and dirty in the same write; apply then fetches the group.
 * Unclaimed platform groups are never written (invariant 6). One that carries the spokeId of a linked group is only
 * recorded.
 * @returns how many of the groups showed our own version, and how many unmanaged groups were newly recorded
 */
export async function suspectTouched(
  connection: Connection,
  touched: ReadonlyMap<PlatformGroupId, readonly Trace[]>,
  looking: Looking,
): Promise<{ readonly echoes: number; readonly duplicates: number }> {
  const { ports } = looking;
  const { now, before } = await ports.claims.owners(connection.company, [...touched.keys()]);
  const isMine = ([, owner]: readonly [PlatformGroupId, GroupRef]) => owner.connection === connection.name;
  const mine = new Map([...now].filter(isMine));
  const strangers = [...touched].filter(([id, traces]) => !now.has(id) && traces.some(mayClaimSpokeId));
  const shown = await lookAt([...mine.keys(), ...strangers.map(([id]) => id)], looking);
  // A group that was deleted and made again within a step is named by both.
  const owners = new Map([...mine, ...[...before].filter(isMine)].map(([, ref]) => [ref.group, ref]));
  // Unreadable group items are skipped here; the sweep reports them.
  const states = await ports.groups.readMany([...owners.values()], () => {});
  const suspects: Suspicion[] = [];
  let echoes = 0;
  for (const state of states) {
    await attributeDrift(state, touched, ports);
    if (!isWatched(state, connection)) continue;
    const traces = touched.get(state.platformId);
    if (traces === undefined) continue;
    const version = versionOf(shown.get(state.platformId)) ?? null;
    if (version !== state.version) suspects.push({ state, version, traces });
    else echoes += 1;
  }
  await markSuspects(suspects, ports);
  return { echoes, duplicates: await recordDuplicates(connection.name, strangers, shown, looking) };
}

type Linked = GroupState & { readonly platformId: PlatformGroupId };

export interface Suspicion {
  readonly state: Linked;
  /** The version that the platform shows; null where it does not show the group. */
  readonly version: VersionToken | null;
  readonly traces: readonly Trace[];
}

/** Groups with a link that are ours to write. */
export async function watched(
  refs: readonly GroupRef[],
  connection: Connection,
  {
    groups,
    passOver,
  }: Pick<ReconcilePorts, 'groups'> & { readonly passOver?: (unreadable: GroupRef) => void },
): Promise<readonly Linked[]> {
  const states = await groups.readMany(refs, passOver);
  return states.filter((state) => isWatched(state, connection));
}

const isWatched = (state: GroupState, { settings }: Connection): state is Linked =>
  state.platformId !== undefined &&
  !state.released &&
  !policyFor(settings, state.ref.group, state.registers.name?.value).excluded;

const versionOf = (shown: ListedGroup | undefined): VersionToken | undefined =>
  shown !== undefined && isWhole(shown) ? shown.version : undefined;

/** Groups as the platform shows them now; one that it does not know is left out. */
async function lookAt(ids: readonly PlatformGroupId[], { platform }: Looking) {
  const few = Math.max(FEW, platform.groups.countListed() / LISTED_FOR_ONE);
  const read = ids.length > few ? undefined : await readEach(ids, platform);
  const wanted = new Set<string>(ids);
  const shown = read ?? (await platform.groups.list(0)).filter(({ id }) => wanted.has(id));
  return new Map(shown.map((group) => [group.id, group]));
}

/** Returns undefined if one of the groups, which may be unmanaged, is malformed. A listing skips such a group. */
async function readEach(ids: readonly PlatformGroupId[], platform: Platform) {
  try {
    const read = await atOnce(READS_IN_FLIGHT, ids, (id) => platform.groups.get(id));
    return read.filter((group) => group !== undefined);
  } catch (error) {
    if (error instanceof PlatformFailure && meaningOf(error, 'group').next === 'odd') return undefined;
    throw error;
  }
}

/** Whether the platform knows the group, however odd the answer is. */
export async function isThere(id: PlatformGroupId, platform: Platform): Promise<boolean> {
  return (await readEach([id], platform))?.length !== 0;
}

/** Marks, then wakes: a mark whose message is lost is found by the pump. */
export async function markSuspects(
  suspicions: readonly Suspicion[],
  ports: Pick<ReconcilePorts, 'groups' | 'applyQueue' | 'clock' | 'coalesceMs' | 'drift'>,
): Promise<void> {
  const marked = await atOnce(WRITES_IN_FLIGHT, suspicions, (suspicion) => mark(suspicion, ports));
  const unsent = await ports.applyQueue.wake(marked.flatMap((ref) => ref ?? []));
  if (unsent.length > 0) throw new Error(`the apply queue did not accept ${unsent.length} messages`);
}

/**
 * Joins a suspected change with an open one, so that no activity event is lost. The condition and the new mark are one
 * write; if another worker was faster, its mark is read and joined. If apply has already handled the change, its drift
 * record gets the initiator.
 * @returns the group, if apply has to fetch it
 */
async function mark({ state, version, traces }: Suspicion, ports: Parameters<typeof markSuspects>[1]) {
  let current: GroupState | undefined = state;
  for (let race = 0; race < MAX_RACES && current !== undefined; race += 1) {
    if (current.platformId !== state.platformId || current.version === version) {
      await attributeDrift(current, new Map([[state.platformId, traces]]), ports);
      return undefined;
    }
    const suspectedChange: SuspectedChange | undefined = current.suspectedChange;
    const { traces: known = [], atMs: markedAtMs = 0 } = suspectedChange ?? {};
    const all = joined(known, traces);
    const isKnown = suspectedChange?.version === version && all.length === known.length;
    if (isKnown && current.dirtySinceMs !== undefined && version !== null) return undefined;
    const dirty = dirtyNow(ports);
    const atMs = Math.max(dirty.nowMs, markedAtMs + 1);
    if (await ports.groups.suspect(current, { version, traces: all, atMs }, dirty)) return current.ref;
    current = await ports.groups.read(state.ref);
  }
  return undefined;
}

const joined = (before: readonly Trace[], more: readonly Trace[]): readonly Trace[] =>
  [...new Map([...before, ...more].map((trace) => [trace.id, trace])).values()].slice(-MAX_TRACES);

/** A stranger's claim to the spokeId of a linked group; where the linked group is gone, it was re-created instead. */
async function recordDuplicates(
  connection: ConnectionName,
  strangers: readonly (readonly [PlatformGroupId, readonly Trace[]])[],
  shown: ReadonlyMap<string, ListedGroup>,
  { platform, ports }: Looking,
): Promise<number> {
  let recorded = 0;
  for (const [id, traces] of strangers) {
    const spokeId = shown.get(id)?.spokeId ?? null;
    if (spokeId === null) continue;
    const [state] = await ports.groups.readMany([{ connection, group: groupId(spokeId) }], () => {});
    if (state?.platformId === undefined || state.platformId === id) continue;
    const isLinkedThere = shown.has(state.platformId) || (await isThere(state.platformId, platform));
    if (isLinkedThere && (await recordDuplicate(state, { id, traces }, ports))) recorded += 1;
  }
  return recorded;
}

/** Members come and go without a new spokeId, and what was removed carries none. */
const mayClaimSpokeId = ({ type }: Trace): boolean => !/_MEMBER_|_REMOVE$/.test(type);

/**
 * Records a platform group, not ours, that carries the spokeId of a linked one. It is told of once and left alone: it
 * has another owner, and which of the two is meant only a person can say (`adopt`).
 * @returns false where it was known already
 */
export async function recordDuplicate(
  { ref, platformId }: GroupState,
  { id, traces }: { readonly id: PlatformGroupId; readonly traces: readonly Trace[] },
  { drift, clock }: Pick<ReconcilePorts, 'drift' | 'clock'>,
): Promise<boolean> {
  const nowMs = clock();
  const parts = JSON.stringify([ref.group, id, 'duplicate']);
  const recordId = createHash('sha256').update(parts).digest('hex').slice(0, 32);
  const isNew = await drift.record(ref.connection, {
    ...attribute('duplicate_spoke_id', traces),
    id: recordId,
    group: ref.group,
    platformId: id,
    kind: 'duplicate_spoke_id',
    before: platformId ?? null,
    after: id,
    policy: 'report',
    detectedAtMs: nowMs,
    settledBy: 'report',
    settledAtMs: nowMs,
  });
  if (isNew || traces.length === 0) return isNew;
  // A sweep may have met it before the feed told of it.
  for (const record of await drift.read(ref, [recordId])) {
    const named = attributeTo(record, new Map([[id, traces]]));
    if (named.initiator !== UNKNOWN_INITIATOR) await drift.attribute(ref, recordId, named);
  }
  return false;
}
