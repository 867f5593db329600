import { NO_GROUP, NO_NAME } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { type GroupRef, intentId, type PlatformGroupId } from '../../domain/ids.ts';
import { READER_SOURCE, type Source } from '../../domain/source.ts';
import { laterStamp, makeStamp, STAMP_ZERO, stampTimeMs } from '../../domain/stamp.ts';
import type { View } from '../../domain/view.ts';
import { viewOf } from '../../plan/external-change.ts';
import { openPlatform } from '../../sync/open-platform.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { MovedGroup } from '../../sync/ports/directory.ts';
import { dirtyNow } from '../../sync/wake.ts';
import { doRecorded } from '../journal.ts';
import type { DirectoryToolPorts } from './listing.ts';

/**
 * How long to wait for the end of an open write. Most writes end within a minute. If a retried write takes longer, the
 * group is not moved and is reported as busy.
 */
const WAIT_MS = 60_000;
const ASKED_EVERY_MS = 2_000;

/**
 * Makes another source the owner of a group and of its platform group. Each step can be repeated:
 *
 *     open move ──▶ old group released ──▶ old link ends ──▶ claim moves ──▶ new group linked ──▶ move closed
 *
 * The old group is released before its link ends. Otherwise apply would create another platform group for the old
 * group. A new group of the reader has no name until the reader has sent all members. Until then it is not written.
 * @returns false if a write of the old group does not end in time, or if a group was changed at the same time
 */
export async function moveGroup(
  connection: Connection,
  move: MovedGroup,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const { from, to, source } = move;
  const { name } = connection;
  const old: GroupRef = { connection: name, group: from };
  const next: GroupRef = { connection: name, group: to };
  if ((await untilNoIntent(old, ports)) === undefined) return false;
  const change = { kind: 'take_over_group', before: from, after: to, reason: OWNS[source] };
  const recorded = { action: 'directory_takeover' as const, changes: [change] };
  return doRecorded(old, recorded, ports, async () => {
    await ports.reader.noteMove(name, from === to ? move : { ...move, isOpen: true });
    if (source === 'directory') await ports.reader.notePushed(name, to, ports.clock());
    if (from === to) return true;
    await ports.reader.dropMove(name, to);
    await ports.groups.release(old, dirtyNow(ports), to);
    const left = await untilNoIntent(old, ports);
    if (left === undefined) return false;
    const isMoved = await movePlatformGroup(connection, left, { ref: next, source }, ports);
    if (isMoved) await ports.reader.noteMove(name, move);
    return isMoved;
  });
}

const OWNS: Readonly<Record<Source, string>> = {
  directory: 'the reader owns it',
  scim: 'a SCIM client owns it',
  events: 'events own it',
};

/** @returns undefined if the intent of the group stays open */
async function untilNoIntent(ref: GroupRef, ports: DirectoryToolPorts): Promise<GroupState | undefined> {
  const untilMs = ports.clock() + WAIT_MS;
  let state = await ports.groups.read(ref);
  while (state?.intent !== undefined) {
    if (ports.clock() >= untilMs) return undefined;
    await ports.sleep(ASKED_EVERY_MS);
    state = await ports.groups.read(ref);
  }
  return state;
}

interface NextOwner {
  readonly ref: GroupRef;
  readonly source: Source;
}

async function movePlatformGroup(
  connection: Connection,
  old: GroupState,
  next: NextOwner,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const { groups } = ports;
  const id = old.link?.id ?? old.previousLink?.platformId;
  const base = await lastView(old, ports);
  if (old.link !== undefined && !(await groups.storeObserved(old, undefined))) return false;
  const state =
    next.source === 'directory' ? await unnamed(next.ref, ports) : await existing(next.ref, ports);
  if (state.link !== undefined) return true;
  const isClaimed = id !== undefined && (await claim(id, { from: old.ref, to: next.ref }, connection, ports));
  if (isClaimed) return link(connection, state, { id, base }, ports);
  return groups.endRelease(next.ref, dirtyNow(ports));
}

/** @returns false if a third group owns or last owned the platform group */
async function claim(
  id: PlatformGroupId,
  { from, to }: { readonly from: GroupRef; readonly to: GroupRef },
  { company }: Connection,
  { claims }: DirectoryToolPorts,
): Promise<boolean> {
  const { now, before } = await claims.owners(company, [id]);
  const owner = now.get(id) ?? before.get(id);
  if (owner !== undefined && !isSame(owner, from) && !isSame(owner, to)) return false;
  return (await claims.takeOver(company, id, { from, to })) || claims.claim(company, id, to);
}

const isSame = (a: GroupRef, b: GroupRef): boolean => a.connection === b.connection && a.group === b.group;

/** Returns the last view of the old group, which shows the users that groupsync had added. */
async function lastView({ ref, link, previousLink }: GroupState, { groups }: DirectoryToolPorts) {
  const { view } = link ?? previousLink ?? {};
  return view && groups.readView(ref, view);
}

/**
 * Returns the reader's group without a name. Such a group is not written and does not count as deleted. If the reader
 * owned the group earlier, the group still has a name and members. This function removes the name with the earliest
 * possible time, so the next name that the reader sends has a later stamp.
 */
async function unnamed(ref: GroupRef, ports: DirectoryToolPorts): Promise<GroupState> {
  const known = (await ports.groups.read(ref))?.registers ?? NO_GROUP;
  const nowMs = ports.clock();
  const stampAt = (ms: number) =>
    makeStamp({ time: new Date(ms).toISOString(), id: ports.newId(), source: READER_SOURCE });
  const named = laterStamp(known.deleted, known.name?.stamp ?? STAMP_ZERO);
  const isNew = named === STAMP_ZERO;
  await ports.desired.markDirty(ref, dirtyNow(ports), {
    ...NO_GROUP,
    upserted: stampAt(nowMs),
    ...(!isNew && { name: { value: NO_NAME, stamp: stampAt(stampTimeMs(named) + 1) } }),
  });
  return existing(ref, ports);
}

async function existing(ref: GroupRef, ports: DirectoryToolPorts): Promise<GroupState> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new Error(`expected the group ${ref.group} to be stored`);
  return state;
}

interface Moved {
  readonly id: PlatformGroupId;
  readonly base: View | undefined;
}

/** @returns false if the new group was changed at the same time */
async function link(
  connection: Connection,
  state: GroupState,
  { id, base }: Moved,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const platform = await openPlatform(connection, ports);
  const observed = await platform.groups.get(id);
  // If the platform group is gone, apply creates a platform group for the new group.
  if (observed === undefined) return ports.groups.endRelease(state.ref, dirtyNow(ports));
  const viewId = intentId(ports.newId());
  const view = await ports.groups.prepareView(state, viewId, viewOf(observed, base));
  return ports.groups.adopt(state, { id, version: observed.version, view }, dirtyNow(ports));
}
