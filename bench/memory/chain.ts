import { readApplyMessage } from '../../shared/contract/invocation.ts';
import { DEFAULT_COALESCE_SECONDS, EVENT_SOURCES, SCHEDULES } from '../../shared/contract/topology.ts';
import { eachConnection } from '../../shared/runtime/each-connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { runReconcile } from '../../shared/runtime/run-reconcile.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { type EnginePorts, portsOver, tableOf } from '../../simulate/engine.ts';
import { createQueues, queueUrl } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { createTime } from '../../simulate/time.ts';
import type { Worker } from '../../simulate/worker.ts';
import { resourcesOf, synthesise } from '../../test/infra/synthesised.ts';
import { readPrices } from '../figures/cost.ts';
import { capacityMeter } from './capacity.ts';
import { type BenchEvent, createDirectory } from './directory.ts';
import { createCountedPlatform } from './platform.ts';
import { connectionOf, START_MS, TOKEN } from './rig.ts';
import { createTotals } from './totals.ts';

export const FUNCTIONS = ['ingest', 'apply', 'reconcile', 'people'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];
type TaskName = 'pump' | 'feed' | 'sweep' | 'health' | 'people';

/** The assumed duration of one request to AWS, which is a high estimate. */
export const REQUEST_SECONDS = 0.01;

/** The limits of a function in the template. `maxConcurrency` is undefined if only the account has a limit. */
export interface Limits {
  readonly seconds: number;
  readonly memoryGb: number;
  readonly maxConcurrency: number | undefined;
}

export interface Usage {
  runs: number;
  seconds: number;
  longest: number;
  now: number;
  most: number;
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => SILENT };
/** Fractions of ingest's time limit. A run starts no new work after START_UNTIL, and returns after STOP_AT. */
const [START_UNTIL, STOP_AT] = [0.5, 0.85];
const RESERVE_MS = 30_000;
const TASKS: Readonly<Record<TaskName, number>> = {
  pump: SCHEDULES.pumpMinutes,
  feed: SCHEDULES.feedMinutes,
  sweep: SCHEDULES.sweepMinutes,
  people: SCHEDULES.peopleMinutes,
  health: SCHEDULES.healthMinutes,
};
const FINE = new Set(['written', 'in_sync', 'nothing_to_do', 'postponed']);

/** Returns the timeout, memory and concurrency of each function in the CloudFormation template. */
export function limitsOfFunctions(): Readonly<Record<FunctionName, Limits>> {
  const { template } = synthesise();
  const mappings = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'));
  const functions = Object.entries(resourcesOf(template, 'AWS::Lambda::Function'));
  const limits = FUNCTIONS.map((name) => {
    const [id, one] =
      functions.find(([, { Properties }]) => Properties.FunctionName.endsWith(`-${name}`)) ?? [];
    if (one === undefined) throw new Error(`the template has no function ${name}`);
    const { Timeout, MemorySize, ReservedConcurrentExecutions: reserved } = one.Properties;
    const fed = mappings.find(({ Properties }) => Properties.FunctionName.Ref === id)?.Properties;
    const maxConcurrency: number | undefined = reserved ?? fed?.ScalingConfig.MaximumConcurrency;
    return [name, { seconds: Timeout, memoryGb: MemorySize / 1_024, maxConcurrency }];
  });
  return Object.fromEntries(limits);
}

/**
 * Simulates the whole system in simulated time. Each request takes time, and concurrent requests overlap. Concurrent
 * invocations have separate containers, and each container keeps its caches. If a function has the maximum number of
 * invocations, further messages wait.
 */
export async function createChain(people: number) {
  const { ingestSeconds, applySeconds, scheduledSeconds, apiCallSeconds } = readPrices().assumed;
  const scheduled = { reconcile: scheduledSeconds, people: scheduledSeconds };
  const leastSeconds = { ingest: ingestSeconds, apply: applySeconds, ...scheduled };
  const limits = limitsOfFunctions();
  const time = createTime(START_MS);
  const clock = time.nowMs;
  const totals = createTotals();
  const table = new MemoryTable({ meter: capacityMeter(totals) });
  const queues = createQueues({ nowMs: clock, random: seededRandom(1) });
  const platform = createCountedPlatform({ totals, clock, people, token: TOKEN });
  const usage = new Map(
    FUNCTIONS.map((name) => [name, { runs: 0, seconds: 0, longest: 0, now: 0, most: 0 }]),
  );
  const usageOf = (name: FunctionName) => usage.get(name) as Usage;
  const idle = new Map<FunctionName, EnginePorts[]>(FUNCTIONS.map((name) => [name, []]));
  let ids = 0;

  const open = (name: FunctionName): EnginePorts => {
    const worker: Worker = {
      name,
      skewMs: 0,
      isDead: () => false,
      async effect(kind) {
        totals.add(kind);
        const isCall = kind.startsWith('platform.');
        await time.sleep(1_000 * (isCall ? apiCallSeconds : REQUEST_SECONDS));
      },
    };
    return portsOver({
      table: tableOf(table, worker, () => 'none'),
      sqs: queues.client((operation) => worker.effect(`sqs ${operation}`)),
      queueUrl,
      dispatcher: platform.dispatcherFor(worker),
      secrets: {
        async read() {
          await worker.effect('secretsmanager GetSecretValue');
          return { value: { token: TOKEN }, version: '1' };
        },
        write: async () => '1',
      },
      clock,
      random: () => 0.5,
      newId: () => {
        ids += 1;
        return `${clock().toString(16).padStart(12, '0')}${String(ids).padStart(20, '0')}`;
      },
      sleep: time.sleep,
      coalesceMs: DEFAULT_COALESCE_SECONDS * 1_000,
      createSettleMs: 600_000,
      source: name === 'ingest' ? 'ingest' : 'apply',
    });
  };
  const hasFree = (name: FunctionName) =>
    usageOf(name).now < (limits[name].maxConcurrency ?? Number.POSITIVE_INFINITY);
  const fail = (error: unknown) =>
    time.at(0, () => {
      throw error;
    });
  const invoke = async (name: FunctionName, run: (ports: EnginePorts) => Promise<unknown>): Promise<void> => {
    const one = usageOf(name);
    one.now += 1;
    one.most = Math.max(one.most, one.now);
    const startedMs = clock();
    const ports = idle.get(name)?.pop() ?? open(name);
    await run(ports);
    await time.sleep(Math.max(0, startedMs + 1_000 * leastSeconds[name] - clock()));
    idle.get(name)?.push(ports);
    const seconds = (clock() - startedMs) / 1_000;
    one.now -= 1;
    one.runs += 1;
    one.seconds += seconds;
    one.longest = Math.max(one.longest, seconds);
  };

  interface Message {
    readonly event: BenchEvent;
    readonly sentAtMs: number;
  }
  const events: Message[] = [];
  let written: (groups: readonly string[]) => void = () => {};
  const gatherMs = 1_000 * EVENT_SOURCES.ingest.maximumBatchingWindowSeconds;
  const takeEvents = (): void => {
    const isFull = () => events.length >= EVENT_SOURCES.ingest.batchSize;
    const isOld = () => events[0] !== undefined && clock() >= events[0].sentAtMs + gatherMs;
    while (hasFree('ingest') && (isFull() || isOld())) {
      const batch = events.splice(0, EVENT_SOURCES.ingest.batchSize);
      totals.add('sqs requests', 2 * Math.ceil(batch.length / 10));
      const takenAtMs = clock();
      const done = invoke('ingest', async (ports) => {
        const at = (part: number) => takenAtMs + 1_000 * part * limits.ingest.seconds;
        const messages = batch.map(({ event, sentAtMs }) => {
          return { messageId: event.id, body: JSON.stringify(event), sentAtMs };
        });
        const report = await ingest(messages, ports, {
          startUntilMs: at(START_UNTIL),
          stopAtMs: at(STOP_AT),
        });
        if (report.rejected.length > 0) throw new Error('ingest refused an event of the benchmark');
        if (report.failedMessages.size > 0) throw new Error('ingest did not complete its batch');
      });
      done.then(takeEvents).catch(fail);
    }
  };
  const send = (messages: readonly Message[]) => {
    totals.add('sqs requests', messages.length);
    for (const message of messages) events.push(message);
    takeEvents();
    time.at(clock() + gatherMs, takeEvents);
  };

  const queue = queues.of.apply;
  const planned = new Set<number>();
  const takeGroups = (): void => {
    while (hasFree('apply')) {
      const batch = queue.receive(EVENT_SOURCES.apply.batchSize);
      if (batch.length === 0) return;
      totals.add('sqs requests', 2);
      const groups = new Set<string>();
      const receipts = batch.map(({ receipt = '' }) => receipt);
      const done = invoke('apply', async (ports) => {
        const refs = batch.flatMap(({ body }) => readApplyMessage(body) ?? []);
        const some = refs.filter(({ group }) => !groups.has(group) && groups.add(group));
        const reports = await Promise.all(some.map((ref) => applyGroup(ref, ports)));
        const odd = reports.find(({ outcome }) => !FINE.has(outcome));
        if (odd !== undefined) throw new Error(`apply ended as ${odd.outcome}`, { cause: odd.cause });
      });
      const end = () => {
        queue.delete(...receipts);
        written([...groups]);
        takeGroups();
      };
      done.then(end).catch(fail);
    }
  };
  queues.listen((key, wantedMs) => {
    // Wake-ups that are due within the same 10 ms are handled together.
    const atMs = Math.ceil(wantedMs / 10) * 10;
    if (key !== 'apply' || planned.has(atMs)) return;
    planned.add(atMs);
    time.at(atMs, () => {
      planned.delete(atMs);
      takeGroups();
    });
  });

  const runTask = (task: TaskName): Promise<void> => {
    const name = task === 'people' ? task : 'reconcile';
    const deadlineMs = clock() + 1_000 * limits[name].seconds - RESERVE_MS;
    totals.add('scheduler invocations');
    return invoke(name, async (ports) => {
      const round = { connections: ports.connections, only: undefined, logger: SILENT, random: () => 0 };
      const { failure } = await eachConnection<unknown>(round, (each) =>
        task === 'people'
          ? refreshPeople(each, ports)
          : runReconcile(each, { task }, { ports, found: new Map(), deadlineMs }),
      );
      if (failure !== undefined) throw failure.error;
    });
  };

  await createConnectionStore(table, { clock, rememberMs: 0 }).save(connectionOf(true));
  return {
    time,
    clock,
    totals,
    platform,
    limits,
    directory: createDirectory(clock),
    /** Returns the usage of each function since the previous call. */
    takeUsage() {
      const taken = FUNCTIONS.map((name) => [name, { ...usageOf(name) }] as const);
      for (const one of usage.values())
        Object.assign(one, { runs: 0, seconds: 0, longest: 0, most: one.now });
      return Object.fromEntries(taken) as Readonly<Record<FunctionName, Readonly<Usage>>>;
    },
    isIdle: () => events.length + queue.messages.length + usageOf('ingest').now + usageOf('apply').now === 0,
    send: (sent: readonly BenchEvent[]) => send(sent.map((event) => ({ event, sentAtMs: clock() }))),
    onWritten: (listener: typeof written) => {
      written = listener;
    },
    /** Starts a task immediately. An error of the task ends the simulation. */
    begin: (task: TaskName) => void runTask(task).catch(fail),
    beginSchedules() {
      for (const [n, [task, minutes]] of Object.entries(TASKS).entries()) {
        const again = (atMs: number) =>
          time.at(atMs, () => {
            again(atMs + 60_000 * minutes);
            void runTask(task as TaskName).catch(fail);
          });
        again(clock() + 7_000 * (n + 1));
      }
    },
  };
}
