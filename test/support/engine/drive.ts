import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import { pump } from '../../../shared/sync/pump.ts';
import type { ApplyMessage } from './queues.ts';
import type { Scheduler, Worker } from './scheduler.ts';
import { CONNECTION, type World } from './world.ts';

export interface DriveOptions {
  readonly world: World;
  readonly scheduler: Scheduler;
  /** Most events that one batch receives. */
  readonly batchSize?: number;
  /** Largest difference of a worker's clock from the true time, milliseconds. */
  readonly skewMs?: number;
  /** How likely a message is also given to a second worker, as after an expired visibility timeout. */
  readonly twins?: number;
  /** Done when nothing is left to do; true says that there is something again. */
  readonly whenQuiet?: () => Promise<boolean>;
  /** Rounds after which the run is taken for endless. */
  readonly maxRounds?: number;
}

const PUMP_MS = 60_000;

type Task = () => Promise<unknown>;

/**
 * Runs the whole engine until nothing is left to do: batches of events and messages of several lanes at once, the pump
 * each minute, and time that jumps to the next thing that waits.
 * @throws where that does not end
 */
export async function drive(options: DriveOptions): Promise<void> {
  const { world, scheduler, whenQuiet = async () => false, maxRounds = 2_000 } = options;
  let pumpedAtMs = world.nowMs();
  for (let round = 0; round < maxRounds; round += 1) {
    const tasks = tasksFor(options);
    const isPumpDue = world.nowMs() - pumpedAtMs >= PUMP_MS;
    if (isPumpDue) {
      pumpedAtMs = world.nowMs();
      tasks.push(pumping(options));
    }
    if (tasks.length > 0) {
      await scheduler.run(tasks);
      continue;
    }
    const nextMs = world.applyQueue.nextVisibleMs();
    if (nextMs !== undefined && nextMs > world.nowMs()) world.advance(nextMs - world.nowMs());
    else if (await hasBacklog(world)) world.advance(Math.max(1, pumpedAtMs + PUMP_MS - world.nowMs()));
    else if (!(await whenQuiet())) return;
  }
  throw new Error(`the engine was still busy after ${maxRounds} rounds`);
}

function tasksFor(options: DriveOptions): Task[] {
  const { world, twins = 0 } = options;
  const { random } = world;
  const tasks: Task[] = [];
  for (let i = 0; i < 2 && world.eventsQueue.messages.length > 0; i += 1) {
    if (i === 0 || random.chance(0.7)) tasks.push(ingesting(options));
  }
  for (const message of world.applyQueue.ready()) {
    if (tasks.length > 0 && random.chance(0.3)) continue;
    tasks.push(applying(options, message));
    if (random.chance(twins)) tasks.push(applying(options, message));
  }
  return tasks;
}

function newWorker({ world, scheduler, skewMs = 0 }: DriveOptions, name: string): Worker {
  return scheduler.worker(name, Math.round((world.random.next() * 2 - 1) * skewMs));
}

function ingesting(options: DriveOptions): Task {
  const { world, batchSize = 10 } = options;
  const { eventsQueue, random } = world;
  const batch = eventsQueue.take(1 + random.below(batchSize), random.below(1_000));
  const worker = newWorker(options, 'ingest');
  return async () => {
    try {
      const { failedMessages } = await ingest(batch, world.portsFor(worker));
      await worker.effect('acknowledge events');
      eventsQueue.giveBack(batch.filter(({ messageId }) => failedMessages.has(messageId)));
    } catch {
      eventsQueue.giveBack(batch);
    }
  };
}

function applying(options: DriveOptions, message: ApplyMessage): Task {
  const { world } = options;
  const worker = newWorker(options, 'apply');
  return async () => {
    message.receives += 1;
    try {
      await applyGroup(message.ref, world.portsFor(worker));
      await worker.effect('acknowledge apply');
      world.applyQueue.acknowledge(message);
    } catch (error) {
      if (message.receives > 50) throw error;
    }
  };
}

function pumping(options: DriveOptions): Task {
  const worker = newWorker(options, 'pump');
  return () => pump(CONNECTION, options.world.portsFor(worker));
}

async function hasBacklog({ onlooker }: World): Promise<boolean> {
  for await (const page of onlooker.index.all(CONNECTION)) {
    if (page.some(({ dirtySinceMs, paused }) => dirtySinceMs !== undefined && !paused)) return true;
  }
  for await (const walks of onlooker.users.openWalks(CONNECTION)) if (walks.length > 0) return true;
  return (await onlooker.gates.read(CONNECTION)).state !== 'open';
}
