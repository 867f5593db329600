import type { Gate } from '../domain/gate.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { WAKE_GRACE_MS } from '../domain/wake-up.ts';
import { type GateKeeperPorts, tryGate } from './gatekeeper.ts';
import { continueMove, type MovePorts, openMovesOf } from './moves.ts';
import type { ConnectionStore, GroupIndex, UserStore, WakePorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { GroupSummary } from './ports/group-index.ts';
import {
  backoffMs,
  LONGEST_BACKOFF_MS,
  MAX_RESUMED_FAN_OUTS,
  mapConcurrently,
  REQUEUE_BATCH,
  WRITES_IN_FLIGHT,
} from './tuning.ts';
import { fanOutAndWake, replanAll } from './wake.ts';

export interface RequeuePorts extends WakePorts, GateKeeperPorts, Omit<MovePorts, 'desired'> {
  readonly index: GroupIndex;
  readonly users: UserStore;
  readonly connections: Pick<ConnectionStore, 'find' | 'list' | 'replanned'>;
}

export interface RequeueReport {
  readonly connection: ConnectionName;
  readonly gate: string;
  readonly walksResumed: number;
  readonly reenqueued: number;
  /** The items that failed, each as `id: reason`. All other items are processed. */
  readonly stuck?: readonly string[];
}

/** Runs the work of one item. A failure is reported and does not stop the other items. */
type Alone = (item: string, work: () => Promise<void>) => Promise<void>;

/**
 * Runs the requeue job for one connection, once a minute. The job resumes fan-outs, runs `replanAll` after a change of
 * settings, probes a closed gate, and wakes the dirty groups that are due. The groups that have been due for the
 * longest time come first. The job wakes at most `REQUEUE_BATCH` groups, so that a backlog is processed at a limited
 * rate.
 * @param everything whether to wake all dirty groups after a restart, even before their time or with a closed gate
 */
export async function requeueDue(
  connection: ConnectionName,
  ports: RequeuePorts,
  { everything = false }: { readonly everything?: boolean } = {},
): Promise<RequeueReport> {
  const stuck: string[] = [];
  const alone: Alone = async (item, work) => {
    try {
      await work();
    } catch (error) {
      stuck.push(`${item}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const walksResumed = await resumeFanOuts(connection, ports, alone);
  const found = await ports.connections.find(connection);
  if (found !== undefined) await continueMoves(found, ports, alone);
  const { replanSinceMs } = found ?? {};
  if (replanSinceMs !== undefined && ports.clock() - replanSinceMs > INDEX_SHOWS_ALL_MS)
    await alone('settings', async () => {
      await replanAll(connection, ports);
      await ports.connections.replanned(connection, replanSinceMs);
    });
  const gate = await tryGate(connection, ports);
  // A paused connection's groups are woken too, because apply settles their open intents.
  if (gate.state !== 'open' && gate.state !== 'paused' && !everything) {
    return { connection, gate: gate.state, walksResumed, reenqueued: 0, ...stuckReport(stuck) };
  }
  if (gate.backlog === true) await endBackOffs(connection, gate, ports, alone);
  const limit = everything ? Number.MAX_SAFE_INTEGER : REQUEUE_BATCH;
  const due = await ports.index.due(connection, {
    nowMs: everything ? AFTER_EVERY_DUE_MS : ports.clock(),
    limit,
  });
  const reenqueued = await wakeDue(due, ports, alone);
  return { connection, gate: gate.state, walksResumed, reenqueued, ...stuckReport(stuck) };
}

/** Continues open moves. They send nothing to the platform, so neither the gate nor a pause stops them. */
async function continueMoves(connection: Connection, ports: RequeuePorts, alone: Alone): Promise<void> {
  const open = (await openMovesOf(connection.name, ports.reader)).slice(0, REQUEUE_BATCH);
  await mapConcurrently(WRITES_IN_FLIGHT, open, (move) =>
    alone(`move of ${move.from}`, async () => void (await continueMove(connection, move, ports))),
  );
}

/**
 * How long after a change of settings the index may lack groups that workers created with the old settings. Workers
 * cache settings for 30 seconds, and in the worst case the index is two minutes behind.
 */
const INDEX_SHOWS_ALL_MS = 180_000;

const stuckReport = (stuck: readonly string[]) => (stuck.length === 0 ? {} : { stuck });

/**
 * Makes all waiting groups due immediately, because many of them failed while the gate was closed. The function runs
 * once after each opening of the gate. A group that fails afterwards has a backoff again.
 */
async function endBackOffs(
  connection: ConnectionName,
  { backlog: _, ...gate }: Gate,
  ports: RequeuePorts,
  alone: Alone,
): Promise<void> {
  const { index, gates } = ports;
  const nowMs = ports.clock();
  for await (const page of index.all(connection, 'unsettled')) {
    const backedOff = page.filter(
      ({ dirtySinceMs, dueMs = 0 }) => dirtySinceMs !== undefined && dueMs > nowMs,
    );
    const hasten = (group: GroupSummary) =>
      alone(`group ${group.ref.group}`, async () => {
        await index.reschedule(group, { wakeAtMs: nowMs, dueMs: nowMs });
      });
    await mapConcurrently(WRITES_IN_FLIGHT, backedOff, hasten);
  }
  await gates.write(connection, gate, gate);
}

/** A time later than any due time, with the number of digits that the index sorts by. */
const AFTER_EVERY_DUE_MS = 9_999_999_999_999;

async function wakeDue(due: readonly GroupSummary[], ports: RequeuePorts, alone: Alone): Promise<number> {
  const rescheduled: GroupRef[] = [];
  const nowMs = ports.clock();
  // The new wake-up is stored before the message is sent. After a crash between the two, the group is woken late, but
  // never twice.
  const reschedule = async (group: GroupSummary) => {
    const isOurs = await ports.index.reschedule(group, { wakeAtMs: nowMs, dueMs: nextDueMs(group, ports) });
    if (isOurs) rescheduled.push(group.ref);
  };
  await mapConcurrently(WRITES_IN_FLIGHT, due, (group) =>
    alone(`group ${group.ref.group}`, () => reschedule(group)),
  );
  return rescheduled.length - (await ports.applyQueue.wake(rescheduled)).length;
}

/**
 * Returns the time of the next wake-up by the requeue job. The wait grows with the time for which the group has been
 * dirty. Otherwise a group for which apply never finishes would fill the dead-letter queue with its messages.
 */
function nextDueMs({ dirtySinceMs }: GroupSummary, { clock, coalesceMs, random }: RequeuePorts): number {
  const nowMs = clock();
  const inVainMs = Math.min(LONGEST_BACKOFF_MS, Math.round((nowMs - (dirtySinceMs ?? nowMs)) / 8));
  return nowMs + coalesceMs + Math.max(inVainMs, WAKE_GRACE_MS + backoffMs(0, random()));
}

async function resumeFanOuts(connection: ConnectionName, ports: RequeuePorts, alone: Alone): Promise<number> {
  let resumed = 0;
  for await (const members of ports.users.openFanOuts(connection)) {
    for (const member of members) {
      await alone(`user ${member}`, async () => {
        // The order is the same as in ingest: the function copies the change to the groups and wakes them before it
        // ends the fan-out.
        const user = (await ports.users.read(connection, [member])).get(member);
        if (user?.fanOut !== undefined) await fanOutAndWake(connection, user, ports);
        resumed += 1;
      });
      if (resumed >= MAX_RESUMED_FAN_OUTS) return resumed;
    }
  }
  return resumed;
}
