import { setImmediate as settled } from 'node:timers/promises';
import { readApplyMessage } from '../../../shared/contract/invocation.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import { pump } from '../../../shared/sync/pump.ts';
import type { Queue, QueuedMessage } from '../../../simulate/queues.ts';
import type { Worker } from '../../../simulate/worker.ts';
import { CONNECTION, type World } from './world.ts';

/** Rounds after which the engine is taken for endless. */
const MOST_ROUNDS = 2_000;
const PUMP_MS = 60_000;

type Task = (worker: Worker) => Promise<unknown>;

/**
 * Runs the whole engine until nothing is left to do: batches of events and messages of several lanes at once, the pump
 * each minute, and time that jumps to the next thing that waits.
 * @throws where that does not end
 */
export async function drive(world: World, maxRounds = MOST_ROUNDS): Promise<void> {
  let pumpedAtMs = world.nowMs();
  for (let round = 0; round < maxRounds; round += 1) {
    const tasks = tasksFor(world);
    if (world.nowMs() - pumpedAtMs >= PUMP_MS) {
      pumpedAtMs = world.nowMs();
      tasks.push((worker) => pump(CONNECTION, world.portsFor(worker)));
    }
    if (tasks.length > 0) {
      await inTurns(world, tasks);
      continue;
    }
    const nextMs = nextReadyMs(world);
    if (nextMs !== undefined && nextMs > world.nowMs()) world.advance(nextMs - world.nowMs());
    else if (await hasBacklog(world)) world.advance(Math.max(1, pumpedAtMs + PUMP_MS - world.nowMs()));
    else return;
  }
  throw new Error(`the engine was still busy after ${maxRounds} rounds`);
}

/** Lets workers run at once, one effect of a millisecond at a time, in an order that only the seed decides. */
async function inTurns(world: World, tasks: readonly Task[]): Promise<void> {
  const waiting: (() => void)[] = [];
  let left = tasks.length;
  const effect = async () => {
    await new Promise<void>((go) => waiting.push(go));
    world.advance(1);
  };
  const done = Promise.allSettled(
    tasks.map((task) =>
      task({ name: 'worker', skewMs: 0, isDead: () => false, effect }).finally(() => {
        left -= 1;
      }),
    ),
  );
  while (left > 0) {
    await settled();
    waiting.splice(world.random.below(waiting.length), 1)[0]?.();
  }
  for (const one of await done) if (one.status === 'rejected' && isMistake(one.reason)) throw one.reason;
}

/** Of the code, not of the world: whatever else goes wrong, the message comes back when its time with the worker is over. */
const isMistake = (error: unknown) =>
  [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind);

function tasksFor(world: World): Task[] {
  const { random, eventsQueue, applyQueue } = world;
  const batches = [takenFrom(eventsQueue, 1 + random.below(10))];
  if (random.chance(0.7)) batches.push(takenFrom(eventsQueue, 1 + random.below(10)));
  const lanes = new Set(applyQueue.messages.map(({ lane }) => lane)).size;
  return [
    ...batches.filter(({ length }) => length > 0).map((batch) => ingesting(world, batch)),
    ...takenFrom(applyQueue, 1 + random.below(lanes)).map((message) => applying(world, message)),
  ];
}

/** As this receive gave them: a later one changes the receipt. */
const takenFrom = (queue: Queue, most: number): readonly QueuedMessage[] =>
  queue.receive(most).map((message) => ({ ...message }));

/** When the next message can be received: of a lane the first goes before the others. */
function nextReadyMs({ applyQueue, eventsQueue }: World): number | undefined {
  const firsts = new Map<string | undefined, number>();
  for (const { lane, visibleAtMs } of applyQueue.messages)
    if (!firsts.has(lane)) firsts.set(lane, visibleAtMs);
  const nextMs = Math.min(...firsts.values(), eventsQueue.nextDueMs() ?? Infinity);
  return nextMs === Infinity ? undefined : nextMs;
}

const ingesting =
  (world: World, batch: readonly QueuedMessage[]): Task =>
  async (worker) => {
    const messages = batch.map(({ id, body, sentAtMs }) => ({ messageId: id, body, sentAtMs }));
    const { failedMessages } = await ingest(messages, world.portsFor(worker));
    for (const { id, receipt = '' } of batch) if (!failedMessages.has(id)) world.eventsQueue.delete(receipt);
  };

function applying(world: World, { body, receipt = '' }: QueuedMessage): Task {
  const ref = readApplyMessage(body);
  if (ref === undefined) throw new Error(`not a message for apply: ${body}`);
  return async (worker) => {
    await applyGroup(ref, world.portsFor(worker));
    world.applyQueue.delete(receipt);
  };
}

async function hasBacklog({ onlooker }: World): Promise<boolean> {
  for await (const page of onlooker.index.all(CONNECTION)) {
    if (page.some(({ dirtySinceMs, paused }) => dirtySinceMs !== undefined && !paused)) return true;
  }
  for await (const walks of onlooker.users.openWalks(CONNECTION)) if (walks.length > 0) return true;
  return (await onlooker.gates.read(CONNECTION)).state !== 'open';
}
