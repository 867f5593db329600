import { createHash } from 'node:crypto';
import { policyFor } from '../../contract/group-policy.ts';
import { type ActivityEvent, UNKNOWN_INITIATOR } from '../../domain/drift.ts';
import type { GroupState, SuspectedChange } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, PlatformGroupId, VersionToken } from '../../domain/ids.ts';
import { groupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup } from '../../domain/view.ts';
import { attribute } from '../../plan/attribute.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { attributeDrift, attributeTo } from '../attribute-drift.ts';
import type { ReconcilePorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { type Platform, PlatformFailure } from '../ports/platform.ts';
import { mapConcurrently, READS_IN_FLIGHT, WRITES_IN_FLIGHT } from '../tuning.ts';
import { dirtyNow } from '../wake.ts';

/** If at most this number of groups is needed, they are fetched one by one. */
const FEW = 20;
/**
 * More groups are read with one list. But if the list has more than this many groups for each needed group, the needed
 * groups are fetched one by one too.
 */
const LISTED_FOR_ONE = 50;
const MAX_ACTIVITY_EVENTS = 50;
/**
 * The maximum number of attempts to store a suspected change. Each conflict means that another worker stored a
 * suspected change.
 */
const MAX_RACES = 5;

export interface Checking {
  readonly platform: Platform;
  readonly ports: ReconcilePorts;
}

/**
 * Compares the shown versions with the known versions. A known version comes from groupsync's last write or read and
 * costs no call. Any other version is a suspected external change. The write that stores the suspected change raises
 * rev and marks the group dirty. Apply then fetches the group. Platform groups without a claim are never written
 * (invariant 6). If such a group has the spokeId of a linked group, it is recorded as a duplicate.
 * @returns the number of groups with a known version
 */
export async function checkGroups(
  connection: Connection,
  activity: ReadonlyMap<PlatformGroupId, readonly ActivityEvent[]>,
  checking: Checking,
): Promise<number> {
  const { ports } = checking;
  const { now, before } = await ports.claims.owners(connection.company, [...activity.keys()]);
  const isMine = ([, owner]: readonly [PlatformGroupId, GroupRef]) => owner.connection === connection.name;
  const mine = new Map([...now].filter(isMine));
  const unmanaged = [...activity].filter(
    ([id, activityEvents]) => !now.has(id) && activityEvents.some(mayClaimSpokeId),
  );
  const shown = await fetchGroups([...mine.keys(), ...unmanaged.map(([id]) => id)], checking);
  // If a group was deleted and created again since the last run, both maps contain it.
  const owners = new Map([...mine, ...[...before].filter(isMine)].map(([, ref]) => [ref.group, ref]));
  // Unreadable group items are skipped here, because the sweep reports them.
  const states = await ports.groups.readMany([...owners.values()], () => {});
  const suspected: SuspectedGroup[] = [];
  let echoes = 0;
  for (const state of states) {
    await attributeDrift(state, activity, ports);
    if (!isWatched(state, connection)) continue;
    const activityEvents = activity.get(state.link.id);
    if (activityEvents === undefined) continue;
    const version = shown.get(state.link.id)?.version ?? null;
    if (version !== state.link.version) suspected.push({ state, version, activityEvents });
    else echoes += 1;
  }
  await markSuspected(suspected, ports);
  await recordDuplicates(connection.name, unmanaged, shown, checking);
  return echoes;
}

export type Linked = GroupState & Required<Pick<GroupState, 'link'>>;

export interface SuspectedGroup {
  readonly state: Linked;
  /** The version that the platform shows; null if the platform does not show the group. */
  readonly version: VersionToken | null;
  readonly activityEvents: readonly ActivityEvent[];
}

/** The linked groups that the connection may write. */
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
  state.link !== undefined &&
  !state.released &&
  !policyFor(settings, state.ref.group, state.registers.name?.value).excluded;

/** What the check needs of a platform group. A malformed group has no version. */
type ShownGroup = Pick<ListedGroup, 'spokeId'> & Partial<Pick<ObservedGroup, 'version'>>;

async function fetchGroups(ids: readonly PlatformGroupId[], { platform }: Checking) {
  const few = Math.max(FEW, platform.groups.countListed() / LISTED_FOR_ONE);
  const read = ids.length > few ? undefined : await readEach(ids, platform);
  const wanted = new Set<string>(ids);
  const shown = new Map<string, ShownGroup>();
  const keep = (group: ListedGroup) => {
    if (!wanted.has(group.id)) return;
    shown.set(group.id, { spokeId: group.spokeId, ...(isWhole(group) && { version: group.version }) });
  };
  if (read === undefined) await platform.groups.each(keep);
  else read.forEach(keep);
  return shown;
}

/** Returns undefined if a group is malformed. In the list, which is read next, such a group has no version. */
async function readEach(ids: readonly PlatformGroupId[], platform: Platform) {
  try {
    const read = await mapConcurrently(READS_IN_FLIGHT, ids, (id) => platform.groups.get(id));
    return read.filter((group) => group !== undefined);
  } catch (error) {
    if (error instanceof PlatformFailure && meaningOf(error, 'group').next === 'invalid') return undefined;
    throw error;
  }
}

export async function isThere(id: PlatformGroupId, platform: Platform): Promise<boolean> {
  return (await readEach([id], platform))?.length !== 0;
}

/** Stores the marks before it sends messages. If a message is lost, the requeue job finds the mark. */
export async function markSuspected(
  suspected: readonly SuspectedGroup[],
  ports: Pick<ReconcilePorts, 'groups' | 'applyQueue' | 'clock' | 'coalesceMs' | 'drift'>,
): Promise<void> {
  const marked = await mapConcurrently(WRITES_IN_FLIGHT, suspected, (suspected) => mark(suspected, ports));
  const unsent = await ports.applyQueue.wake(marked.flatMap((ref) => ref ?? []));
  if (unsent.length > 0) throw new Error(`the apply queue did not accept ${unsent.length} messages`);
}

/**
 * Merges a suspected change with the stored suspected change, and keeps the latest activity events of both. The write
 * is conditional. If another worker has stored a suspected change since the read, this change is read and merged too.
 * If apply has already handled the change, its drift record gets the initiator.
 * @returns the group, if apply must fetch it
 */
async function mark(
  { state, version, activityEvents }: SuspectedGroup,
  ports: Parameters<typeof markSuspected>[1],
) {
  let current: GroupState | undefined = state;
  for (let race = 0; race < MAX_RACES && current !== undefined; race += 1) {
    if (current.link?.id !== state.link.id || current.link.version === version) {
      await attributeDrift(current, new Map([[state.link.id, activityEvents]]), ports);
      return undefined;
    }
    const suspectedChange: SuspectedChange | undefined = current.suspectedChange;
    const { activityEvents: known = [], atMs: markedAtMs = 0 } = suspectedChange ?? {};
    const all = joined(known, activityEvents);
    const isKnown = suspectedChange?.version === version && all.length === known.length;
    if (isKnown && current.dirtySinceMs !== undefined && version !== null) return undefined;
    const dirty = dirtyNow(ports);
    const atMs = Math.max(dirty.nowMs, markedAtMs + 1);
    if (await ports.groups.noteSuspected(current, { version, activityEvents: all, atMs }, dirty))
      return current.ref;
    current = await ports.groups.read(state.ref);
  }
  return undefined;
}

const joined = (before: readonly ActivityEvent[], more: readonly ActivityEvent[]): readonly ActivityEvent[] =>
  [...new Map([...before, ...more].map((event) => [event.id, event])).values()].slice(-MAX_ACTIVITY_EVENTS);

/**
 * Records unmanaged groups that have the spokeId of a linked group. If the linked group is gone, the unmanaged group
 * replaces it and is no duplicate.
 */
async function recordDuplicates(
  connection: ConnectionName,
  unmanaged: readonly (readonly [PlatformGroupId, readonly ActivityEvent[]])[],
  shown: ReadonlyMap<string, ShownGroup>,
  { platform, ports }: Checking,
): Promise<void> {
  for (const [id, activityEvents] of unmanaged) {
    const spokeId = shown.get(id)?.spokeId ?? null;
    if (spokeId === null) continue;
    const [state] = await ports.groups.readMany([{ connection, group: groupId(spokeId) }], () => {});
    if (state?.link === undefined || state.link.id === id) continue;
    const isLinkedThere = shown.has(state.link.id) || (await isThere(state.link.id, platform));
    if (isLinkedThere) await recordDuplicate(state, { id, activityEvents }, ports);
  }
}

/** Whether the event may have set a spokeId. A change of members or a removal cannot set a spokeId. */
const mayClaimSpokeId = ({ type }: ActivityEvent): boolean => !/_MEMBER_|_REMOVE$/.test(type);

/**
 * Records an unmanaged platform group with the spokeId of a linked platform group. groupsync reports the group once and
 * never writes it. An operator decides which of the two groups to use (`adopt`).
 */
export async function recordDuplicate(
  { ref, link }: GroupState,
  { id, activityEvents }: { readonly id: PlatformGroupId; readonly activityEvents: readonly ActivityEvent[] },
  { drift, clock }: Pick<ReconcilePorts, 'drift' | 'clock'>,
): Promise<void> {
  const nowMs = clock();
  const parts = JSON.stringify([ref.group, id, 'duplicate']);
  const recordId = createHash('sha256').update(parts).digest('hex').slice(0, 32);
  const isNew = await drift.record(ref.connection, {
    ...attribute('duplicate_spoke_id', activityEvents),
    id: recordId,
    group: ref.group,
    platformId: id,
    kind: 'duplicate_spoke_id',
    before: link?.id ?? null,
    after: id,
    detectedAtMs: nowMs,
    settledBy: 'report',
    settledAtMs: nowMs,
  });
  if (isNew || activityEvents.length === 0) return;
  // The sweep may have recorded the group before the feed reported the initiator. In this case, the record gets the
  // initiator now.
  for (const record of await drift.read(ref, [recordId])) {
    const named = attributeTo(record, new Map([[id, activityEvents]]));
    if (named.initiator !== UNKNOWN_INITIATOR) await drift.attribute(ref, recordId, named);
  }
}
