import type { SyncReport, Waiting } from '../contract/answers/groups.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { GroupId, GroupRef } from '../domain/ids.ts';
import { shows } from '../plan/external-change.ts';
import { reportWaiting, waitingOf } from '../plan/waiting.ts';
import { openPlatform } from '../sync/open-platform.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { markSuspected, type SuspectedGroup, watched } from '../sync/reconcile/check-groups.ts';
import { mapConcurrently, READS_IN_FLIGHT, WRITES_IN_FLIGHT } from '../sync/tuning.ts';
import { wakeAll } from '../sync/wake.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';
import { plural } from './names.ts';
import { stateName } from './report.ts';
import { formatGate, formatWaiting, reportGate } from './status.ts';

type SyncPorts = WakePorts &
  JournalPorts &
  Pick<ToolPorts, 'groups' | 'index' | 'drift' | 'gates' | 'health' | 'connections' | 'platforms' | 'sleep'>;

interface FollowOptions {
  readonly timeoutMs: number;
  /** True for a paused group or connection: wait only for writes in progress, because no other write starts. */
  readonly writesOnly?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called once per group and reason. `waiting` contains the time before which the group is not written. */
  readonly onWaiting?: ((group: string, waiting: Waiting) => void) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

const LOOK_EVERY_MS = 400;

/**
 * Wakes groups that exist, and waits until each is written, held, failed or in sync. Apply first reads a linked group
 * from the platform, because the stored view may be out of date. So apply finds external changes and deletions
 * immediately, and handles them by the mode. Members and fields that the platform refused are tried again. If the group
 * is in sync, and a fetch shows that it has not changed since groupsync's last write, it is not woken.
 */
export async function syncGroups(asked: readonly GroupRef[], ports: SyncPorts, options: FollowOptions) {
  const refs = (await ports.groups.readMany(asked)).map(({ ref }) => ref);
  await recordSync(refs, ports);
  await forgetRefusals(refs, ports);
  const connection = refs[0] && (await ports.connections.find(refs[0].connection));
  if (connection !== undefined) await wakeChanged(refs, connection, ports);
  return followGroups(refs, ports, options);
}

async function recordSync(refs: readonly GroupRef[], ports: SyncPorts): Promise<void> {
  const [first, ...others] = refs;
  if (first === undefined) return;
  const asked = { kind: 'sync', before: null, reason: 'requested by an operator' };
  const changes = refs.slice(0, MAX_RECORDED).map(({ group }) => ({ ...asked, after: group }));
  const at = others.length === 0 ? first : journalOf(first.connection);
  await recordAction(at, { action: 'sync', changes }, ports);
}

const MAX_RECORDED = 1_000;

async function forgetRefusals(refs: readonly GroupRef[], { index, groups }: SyncPorts): Promise<void> {
  const [first] = refs;
  if (first === undefined) return;
  const asked = new Set(refs.map(({ group }) => group));
  for await (const page of index.pending(first.connection)) {
    for (const { ref, member, cause } of page) {
      if (cause === 'refused' && asked.has(ref.group)) await groups.markPending(ref, member, undefined);
    }
  }
}

async function wakeChanged(refs: readonly GroupRef[], connection: Connection, ports: SyncPorts) {
  const linked = await watched(refs, connection, ports);
  const refused = linked.filter(({ refusedFields }) => refusedFields !== undefined);
  await mapConcurrently(WRITES_IN_FLIGHT, refused, ({ ref }) => ports.groups.forgetRefusedFields(ref));
  const fetchGroups = async (state: SuspectedGroup['state']): Promise<readonly SuspectedGroup[]> =>
    (await isUntouched(state, connection, ports)) ? [] : [{ state, version: null, activityEvents: [] }];
  const changed = await mapConcurrently(READS_IN_FLIGHT, linked, fetchGroups);
  await markSuspected(changed.flat(), ports);
  const known: ReadonlySet<GroupId> = new Set(linked.map(({ ref }) => ref.group));
  const others = refs.map(({ group }) => group).filter((group) => !known.has(group));
  await wakeAll(connection.name, others, ports, 'asked');
}

async function isUntouched(state: SuspectedGroup['state'], connection: Connection, ports: SyncPorts) {
  const { ref, link, counts, flapDamping, uncertain, suspectedChange } = state;
  const isSettled =
    stateName(state) === 'in_sync' && (flapDamping ?? uncertain ?? suspectedChange) === undefined;
  if (!isSettled || link === undefined || counts?.pending !== 0) return false;
  try {
    const [written, { groups }] = await Promise.all([
      ports.groups.readView(ref, link.view),
      openPlatform(connection, ports),
    ]);
    const shown = await groups.get(link.id);
    if (shown === undefined || written === undefined) return false;
    return shown.version === link.version && shows(shown, written);
  } catch {
    // False, because apply reads the group itself and reports the failure.
    return false;
  }
}

/**
 * Waits until no group is dirty or, with `writesOnly`, until no write is open. Without `writesOnly`, it ends early if
 * the gate is closed, if the connection only observes, or if all remaining groups wait for longer than the timeout.
 */
export async function followGroups(
  refs: readonly GroupRef[],
  ports: SyncPorts,
  { timeoutMs, writesOnly = false, signal, onProgress, onWaiting }: FollowOptions,
): Promise<SyncReport> {
  const endMs = ports.clock() + timeoutMs;
  const notify = onceEach(onWaiting);
  for (;;) {
    const states = await ports.groups.readMany(refs);
    const nowMs = ports.clock();
    const synced = syncedRows(states, nowMs);
    const isLeft = (one: GroupState) => (writesOnly ? one.intent !== undefined : stateName(one) === 'dirty');
    const left = states.filter(isLeft);
    onProgress?.(synced.length - left.length, refs.length);
    if (left.length === 0) return { synced, stopped: null };
    const stopped = writesOnly
      ? undefined
      : ((await reasonToStop(refs, ports)) ?? waitsBeyond(left, { nowMs, endMs, count: refs.length }));
    if (stopped !== undefined) return { synced, stopped };
    if (nowMs >= endMs) {
      return {
        synced,
        stopped: `${left.length} of ${plural(refs.length, 'group')} not done after ${timeoutMs / 1_000} s`,
      };
    }
    if (signal?.aborted === true) return { synced, stopped: 'interrupted; apply continues' };
    notify(synced);
    await ports.sleep(LOOK_EVERY_MS);
  }
}

/** Calls `onWaiting` once for each group and kind of reason. */
function onceEach(onWaiting: FollowOptions['onWaiting']): (rows: SyncReport['synced']) => void {
  const notified = new Set<string>();
  return (rows) => {
    for (const { group, waiting } of rows) {
      if (waiting === null || notified.has(`${group} ${waiting.code}`)) continue;
      notified.add(`${group} ${waiting.code}`);
      onWaiting?.(group, waiting);
    }
  };
}

function syncedRows(states: readonly GroupState[], nowMs: number): SyncReport['synced'] {
  const rows = states.map((state) => ({
    group: state.ref.group,
    state: stateName(state),
    version: state.link?.version ?? null,
    lastError: state.lastError?.message ?? null,
    waiting: reportWaiting(waitingOf(state, nowMs)),
  }));
  return rows.toSorted((a, b) => (a.group < b.group ? -1 : 1));
}

/** Returns why the command stops waiting, if each remaining group must wait longer than the timeout. */
function waitsBeyond(
  left: readonly GroupState[],
  { nowMs, endMs, count }: { readonly nowMs: number; readonly endMs: number; readonly count: number },
): string | undefined {
  const [first] = left;
  const waits = left.map((state) => waitingOf(state, nowMs));
  const waiting = reportWaiting(waits[0]);
  if (first === undefined || waiting === null) return undefined;
  if (waits.some((wait) => wait === undefined || wait.untilMs <= endMs)) return undefined;
  const others = left.length === 1 ? '' : `${left.length} of ${plural(count, 'group')} have to wait; `;
  return `${others}${first.ref.group} is ${formatWaiting(waiting)}`;
}

async function reasonToStop([first]: readonly GroupRef[], ports: SyncPorts): Promise<string | undefined> {
  if (first === undefined) return undefined;
  const { connection: name } = first;
  const gate = await ports.gates.read(name);
  if (gate.state !== 'open')
    return `the gate is ${formatGate(reportGate(gate, await ports.health.read(name)))}`;
  const connection = await ports.connections.find(name);
  return connection?.observing === true ? 'the connection only observes, and writes nothing' : undefined;
}
