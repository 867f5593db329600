import { readerBinding } from '../../../shared/contract/decode.ts';
import { readApplyMessage } from '../../../shared/contract/invocation.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import { requeueDue } from '../../../shared/sync/requeue.ts';
import type { Queue, QueuedMessage } from '../../../simulate/queues.ts';
import { isOfReader } from '../../../simulate/reader/reader-events.ts';
import type { Worker } from '../../../simulate/worker.ts';
import type { Scheduler } from './scheduler.ts';
import { CONNECTION, type World } from './world.ts';

interface DriveOptions {
  readonly world: World;
  readonly scheduler: Scheduler;
  readonly batchSize?: number;
  /** The largest difference between a worker's clock and the true time, in milliseconds. */
  readonly skewMs?: number;
  /** The probability that a second worker also gets a message, as after an expired visibility timeout. */
  readonly twins?: number;
  /** Called when the engine has no work left. Returns true if it has added work. */
  readonly whenQuiet?: () => Promise<boolean>;
  /** The number of rounds after which the run counts as endless and fails. */
  readonly maxRounds?: number;
}

const PUMP_MS = 60_000;
/** Some changes, such as the deletion of a group by another client, are found only by the hourly sweep. */
const SWEEP_MS = 3_600_000;

type Task = () => Promise<unknown>;

/**
 * Runs the whole engine until no work is left. Several batches of events and messages of several groups run at once,
 * and the requeue job runs each minute. If only later work is scheduled, the time advances to this work.
 * @throws if the work does not end
 */
export async function drive(options: DriveOptions): Promise<void> {
  const { world, scheduler, whenQuiet = async () => false, maxRounds = 2_000 } = options;
  let pumpedAtMs = world.nowMs();
  let sweptAtMs = world.nowMs();
  for (let round = 0; round < maxRounds; round += 1) {
    const tasks = tasksFor(options);
    if (world.nowMs() - pumpedAtMs >= PUMP_MS) {
      pumpedAtMs = world.nowMs();
      tasks.push(pumping(options));
    }
    if (tasks.length > 0) {
      await scheduler.run(tasks);
      continue;
    }
    const nextMs = nextReadyMs(world);
    if (nextMs !== undefined && nextMs > world.nowMs()) world.advance(nextMs - world.nowMs());
    else if ((await hasBacklog(world)) && world.nowMs() - sweptAtMs < SWEEP_MS)
      world.advance(Math.max(1, pumpedAtMs + PUMP_MS - world.nowMs()));
    else {
      sweptAtMs = world.nowMs();
      if (!(await whenQuiet()) && !(await hasBacklog(world))) return;
    }
  }
  throw new Error(`the engine was still busy after ${maxRounds} rounds`);
}

function tasksFor(options: DriveOptions): Task[] {
  const { world, twins = 0, batchSize = 10 } = options;
  const { random } = world;
  const tasks: Task[] = [];
  for (let i = 0; i < 2; i += 1) {
    const batch =
      i === 0 || random.chance(0.7) ? takenFrom(world.eventsQueue, 1 + random.below(batchSize)) : [];
    if (batch.length > 0) tasks.push(ingesting(options, batch));
  }
  const waiting = world.applyQueue.messages.length;
  for (const message of takenFrom(world.applyQueue, 1 + random.below(Math.max(1, waiting)))) {
    tasks.push(applying(options, message));
    if (random.chance(twins)) tasks.push(applying(options, message));
  }
  return tasks;
}

/** Returns copies of the received messages, because a later receive changes the receipt of a message. */
const takenFrom = (queue: Queue, most: number): readonly QueuedMessage[] =>
  queue.receive(most).map((message) => ({ ...message }));

function nextReadyMs({ applyQueue, eventsQueue }: World): number | undefined {
  const nextMs = Math.min(applyQueue.nextDueMs() ?? Infinity, eventsQueue.nextDueMs() ?? Infinity);
  return nextMs === Infinity ? undefined : nextMs;
}

function newWorker({ world, scheduler, skewMs = 0 }: DriveOptions, name: string): Worker {
  return scheduler.worker(name, Math.round((world.random.next() * 2 - 1) * skewMs));
}

function ingesting(options: DriveOptions, batch: readonly QueuedMessage[]): Task {
  const { world } = options;
  const worker = newWorker(options, 'ingest');
  return async () => {
    try {
      const messages = batch.map(({ id, body, sentAtMs, attributes: { sentBy, connection } }) => ({
        messageId: id,
        body,
        sentAtMs,
        sentBy,
        ...(isOfReader(body) && { connection, bound: readerBinding('groupsync-events', connection) }),
      }));
      const { failedMessages } = await ingest(messages, world.portsFor(worker));
      await worker.effect('acknowledge events');
      for (const { id, receipt = '' } of batch)
        if (!failedMessages.has(id)) world.eventsQueue.delete(receipt);
    } catch (error) {
      refuseMistake(error);
    }
  };
}

function applying(options: DriveOptions, { body, receipt = '' }: QueuedMessage): Task {
  const { world } = options;
  const worker = newWorker(options, 'apply');
  const ref = readApplyMessage(body);
  if (ref === undefined) throw new Error(`not a message for apply: ${body}`);
  return async () => {
    try {
      await applyGroup(ref, world.portsFor(worker));
      await worker.effect('acknowledge apply');
      world.applyQueue.delete(receipt);
    } catch (error) {
      refuseMistake(error);
    }
  };
}

/** Throws a programming error. After any other error, the message returns after its visibility timeout. */
function refuseMistake(error: unknown): void {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)
    throw error;
}

function pumping(options: DriveOptions): Task {
  const worker = newWorker(options, 'pump');
  return () => requeueDue(CONNECTION, options.world.portsFor(worker));
}

async function hasBacklog({ toolPorts }: World): Promise<boolean> {
  for await (const page of toolPorts.index.all(CONNECTION)) {
    if (page.some(({ dirtySinceMs, pausedAtMs }) => dirtySinceMs !== undefined && pausedAtMs === undefined))
      return true;
  }
  for await (const walks of toolPorts.users.openFanOuts(CONNECTION)) if (walks.length > 0) return true;
  return (await toolPorts.gates.read(CONNECTION)).state !== 'open';
}
