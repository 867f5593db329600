import { type Gate, OPEN_GATE } from '../domain/gate.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { WAKE_GRACE_MS } from '../domain/promise.ts';
import { type GateKeeperPorts, tryGate } from './gatekeeper.ts';
import { atOnce } from './gather.ts';
import type { WakePorts } from './ports/bundles.ts';
import type { Connections, Replanned } from './ports/connections.ts';
import type { UserStore } from './ports/desired.ts';
import type { GroupIndex, GroupSummary } from './ports/group-index.ts';
import { backoffMs, LONGEST_BACKOFF_MS, PUMP_BATCH, PUMP_WALKS, WRITES_IN_FLIGHT } from './tuning.ts';
import { replanAll } from './wake.ts';
import { walkAndWake } from './walk.ts';

export interface PumpPorts extends WakePorts, GateKeeperPorts {
  readonly index: GroupIndex;
  readonly users: UserStore;
  readonly connections: Connections & Replanned;
}

export interface PumpReport {
  readonly connection: ConnectionName;
  readonly gate: string;
  readonly walksResumed: number;
  readonly reenqueued: number;
  /** The items that failed, by id, with the reason. They do not stop the others. */
  readonly stuck?: readonly string[];
}

/** Runs the work of one item. A failure is reported and does not stop the other items. */
type Alone = (item: string, work: () => Promise<void>) => Promise<void>;

/**
 * The requeue job, run each minute. It tries a closed gate, resumes interrupted fan-outs, and wakes the dirty groups that
 * are due. The longest due come first, at most `PUMP_BATCH` at a time, so that a backlog drains at a limited rate.
 * @param everything wakes every dirty group, due or not: after a restart with empty queues
 */
export async function pump(
  connection: ConnectionName,
  ports: PumpPorts,
  { everything = false }: { readonly everything?: boolean } = {},
): Promise<PumpReport> {
  const stuck: string[] = [];
  const alone: Alone = async (item, work) => {
    try {
      await work();
    } catch (error) {
      stuck.push(`${item}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const walksResumed = await resumeWalks(connection, ports, alone);
  const { replanSinceMs } = (await ports.connections.find(connection)) ?? {};
  if (replanSinceMs !== undefined && ports.clock() - replanSinceMs > INDEX_SHOWS_ALL_MS)
    await alone('settings', async () => {
      await replanAll(connection, ports);
      await ports.connections.replanned(connection, replanSinceMs);
    });
  const gate = await tryGate(connection, ports);
  if (gate.state !== 'open' && !everything) {
    return { connection, gate: gate.state, walksResumed, reenqueued: 0, ...told(stuck) };
  }
  if (gate.backlog === true) await endBackOffs(connection, gate, ports, alone);
  const limit = everything ? Number.MAX_SAFE_INTEGER : PUMP_BATCH;
  const due = await ports.index.due(connection, {
    nowMs: everything ? NO_MATTER_WHEN : ports.clock(),
    limit,
  });
  const reenqueued = await wakeDue(due, ports, alone);
  return { connection, gate: gate.state, walksResumed, reenqueued, ...told(stuck) };
}

/** Workers cache settings for 30 seconds, and the index may be two minutes behind. */
const INDEX_SHOWS_ALL_MS = 180_000;

const told = (stuck: readonly string[]) => (stuck.length === 0 ? {} : { stuck });

/**
 * Makes the groups that failed behind a closed gate due now that the gate has opened, instead of after their own backoff.
 * This happens once per opening: a group that fails with the gate open waits again.
 */
async function endBackOffs(
  connection: ConnectionName,
  { backlog: _, ...gate }: Gate,
  ports: PumpPorts,
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
    await atOnce(WRITES_IN_FLIGHT, backedOff, hasten);
  }
  await gates.write(connection, gate, gate.failing === undefined ? OPEN_GATE : gate);
}

/** Later than any group can be due, and still of the width that the index sorts by. */
const NO_MATTER_WHEN = 9_999_999_999_999;

async function wakeDue(due: readonly GroupSummary[], ports: PumpPorts, alone: Alone): Promise<number> {
  const rescheduled: GroupRef[] = [];
  const nowMs = ports.clock();
  // The new wake-up is stored before the message is sent: after a crash in between the group is late, never sent too often.
  const reschedule = async (group: GroupSummary) => {
    const isOurs = await ports.index.reschedule(group, { wakeAtMs: nowMs, dueMs: nextDueMs(group, ports) });
    // A paused group is woken when its pause ends, and only kept out of the way of the others.
    if (isOurs && !group.paused) rescheduled.push(group.ref);
  };
  await atOnce(WRITES_IN_FLIGHT, due, (group) => alone(`group ${group.ref.group}`, () => reschedule(group)));
  return rescheduled.length - (await ports.applyQueue.wake(rescheduled)).length;
}

/** The backoff of a group whose apply never finishes, because each of its messages becomes a dead-lettered message. */
function nextDueMs({ dirtySinceMs }: GroupSummary, { clock, coalesceMs, random }: PumpPorts): number {
  const nowMs = clock();
  const inVainMs = Math.min(LONGEST_BACKOFF_MS, Math.round((nowMs - (dirtySinceMs ?? nowMs)) / 8));
  return nowMs + coalesceMs + Math.max(inVainMs, WAKE_GRACE_MS + backoffMs(0, random()));
}

async function resumeWalks(connection: ConnectionName, ports: PumpPorts, alone: Alone): Promise<number> {
  let resumed = 0;
  for await (const members of ports.users.openWalks(connection)) {
    for (const member of members) {
      await alone(`user ${member}`, async () => {
        // As in ingest: the groups get the change and are woken before the fan-out ends.
        const user = (await ports.users.read(connection, [member])).get(member);
        if (user?.fanOut !== undefined) await walkAndWake(connection, user, ports);
        resumed += 1;
      });
      if (resumed >= PUMP_WALKS) return resumed;
    }
  }
  return resumed;
}
