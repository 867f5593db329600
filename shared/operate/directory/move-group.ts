import { groupExists, NO_GROUP } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { type GroupId, type GroupRef, intentId, type PlatformGroupId } from '../../domain/ids.ts';
import { READER_SOURCE } from '../../domain/source.ts';
import { makeStamp } from '../../domain/stamp.ts';
import type { View } from '../../domain/view.ts';
import { viewOf } from '../../plan/external-change.ts';
import { openPlatform } from '../../sync/open-platform.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { dirtyNow } from '../../sync/wake.ts';
import { doRecorded } from '../journal.ts';
import type { DirectoryToolPorts } from './listing.ts';

export interface Move {
  readonly from: GroupId;
  readonly to: GroupId;
}

/** A write of the group ends within a minute. A retry may take longer and is not awaited. */
const WAIT_MS = 60_000;
const ASKED_EVERY_MS = 2_000;

/**
 * Makes the reader the owner of a group and of its platform group. Each step can be repeated:
 *
 *     owner ──▶ old group released ──▶ old link ends ──▶ claim moves ──▶ new group linked, without a name
 *
 * The old group is released before its link ends, otherwise apply would create another platform group for it. The new
 * group has no name until the reader has sent all its members. A group without a name is not written.
 * @returns false if a write of the old group does not end
 */
export async function moveGroup(
  connection: Connection,
  { from, to }: Move,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const old: GroupRef = { connection: connection.name, group: from };
  const next: GroupRef = { connection: connection.name, group: to };
  if ((await untilNoIntent(old, ports)) === undefined) return false;
  const change = { kind: 'take_over_group', before: from, after: to, reason: 'the reader owns it' };
  const recorded = { action: 'directory_takeover', changes: [change] };
  return doRecorded(old, recorded, ports, async () => {
    await ports.reader.takeOver(connection.name, from, to);
    await ports.reader.notePushed(connection.name, to, ports.clock());
    if (from === to) return true;
    await ports.groups.release(old, dirtyNow(ports));
    const left = await untilNoIntent(old, ports);
    return left !== undefined && movePlatformGroup(connection, left, next, ports);
  });
}

/** @returns undefined if an intent stays open */
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

async function movePlatformGroup(
  connection: Connection,
  old: GroupState,
  next: GroupRef,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const { groups, claims } = ports;
  const id = old.link?.id ?? old.previousLink?.platformId;
  const base = await lastView(old, ports);
  if (old.link !== undefined && !(await groups.storeObserved(old, undefined))) return false;
  const state = await existing(next, ports);
  if (id === undefined || state.link !== undefined) return true;
  const { now, before } = await claims.owners(connection.company, [id]);
  const owner = now.get(id) ?? before.get(id);
  if (owner !== undefined && !isSame(owner, old.ref) && !isSame(owner, next)) return true;
  const isMoved = await claims.takeOver(connection.company, id, { from: old.ref, to: next });
  if (!isMoved && !(await claims.claim(connection.company, id, next))) return true;
  return link(connection, state, { id, base }, ports);
}

const isSame = (a: GroupRef, b: GroupRef): boolean => a.connection === b.connection && a.group === b.group;

/** The last view of the old group: it records which users groupsync had added. */
async function lastView({ ref, link, previousLink }: GroupState, { groups }: DirectoryToolPorts) {
  const { view } = link ?? previousLink ?? {};
  return view && groups.readView(ref, view);
}

/** Returns the new group. Without a name, the group is not written, and does not count as deleted. */
async function existing(ref: GroupRef, ports: DirectoryToolPorts): Promise<GroupState> {
  const known = await ports.groups.read(ref);
  if (known !== undefined && groupExists(known.registers)) return known;
  const time = new Date(ports.clock()).toISOString();
  const upserted = makeStamp({ time, id: ports.newId(), source: READER_SOURCE });
  await ports.desired.markDirty(ref, dirtyNow(ports), { ...NO_GROUP, upserted });
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new Error(`expected the group ${ref.group} to be stored`);
  return state;
}

interface Moved {
  readonly id: PlatformGroupId;
  readonly base: View | undefined;
}

/** @returns false if the new group changed meanwhile */
async function link(
  connection: Connection,
  state: GroupState,
  { id, base }: Moved,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const platform = await openPlatform(connection, ports);
  const observed = await platform.groups.get(id);
  // The platform group is gone: apply creates the reader's group like every other group.
  if (observed === undefined) return true;
  const { acceptedDrift: _, ...known } = base ?? {};
  const before = 'users' in known ? (known as View) : undefined;
  const viewId = intentId(ports.newId());
  const view = await ports.groups.prepareView(state, viewId, viewOf(observed, before));
  return ports.groups.adopt(state, { id, version: observed.version, view }, dirtyNow(ports));
}
