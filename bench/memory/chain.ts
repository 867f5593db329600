import { readApplyMessage } from '../../shared/contract/invocation.ts';
import type { QueueKey } from '../../shared/contract/names.ts';
import { EVENT_SOURCES, SCHEDULES } from '../../shared/contract/topology.ts';
import { connectionName, type GroupRef } from '../../shared/domain/ids.ts';
import { hide } from '../../shared/queues/visibility.ts';
import { AT_ONCE, eachConnection } from '../../shared/runtime/each-connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { runPeople, runReconcile } from '../../shared/runtime/run-reconcile.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest, postponedSeconds } from '../../shared/sync/ingest/ingest.ts';
import { isOccupied } from '../../shared/sync/under-lease.ts';
import type { EnginePorts } from '../../simulate/engine.ts';
import { createQueues, type QueuedMessage, queueUrl } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { createTime } from '../../simulate/time.ts';
import { readPrices } from '../figures/cost.ts';
import { capacityMeter } from './capacity.ts';
import { type Company, type Connected, type Container, containers } from './container.ts';
import { type BenchEvent, createDirectory } from './directory.ts';
import { fairOrder } from './fair-queue.ts';
import { FUNCTIONS, type FunctionName, limitsOfFunctions } from './functions.ts';
import { createCountedPlatform } from './platform.ts';
import { connectionOf, requestsOf, START_MS, TOKEN } from './rig.ts';
import { createThroughput, type Throughput, type Units } from './throughput.ts';
import { createTotals } from './totals.ts';

type TaskName = 'pump' | 'feed' | 'sweep' | 'health' | 'people';

interface Usage {
  runs: number;
  seconds: number;
  now: number;
}

const SILENT: Logger = { info() {}, warn() {}, error() {}, with: () => SILENT };
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
const LONG_TASKS: ReadonlySet<string> = new Set(['people', 'sweep']);
const FINE = new Set(['written', 'in_sync', 'nothing_to_do', 'postponed']);

interface ChainOptions {
  /** Minutes between two runs of a task. Default: as deployed. */
  readonly minutes?: Partial<typeof TASKS>;
}

export type Chain = ReturnType<typeof createChain>;

/**
 * Simulates the whole system in simulated time. Each request takes time, and concurrent requests overlap. Concurrent
 * invocations have separate containers, and each container keeps its caches. If a function has the maximum number of
 * invocations, further messages wait. An invocation ends at its timeout without a result. Failed messages are received
 * again.
 */
export function createChain({ minutes = {} }: ChainOptions = {}) {
  const { ingestSeconds, applySeconds, scheduledSeconds } = readPrices().assumed;
  const scheduled = { reconcile: scheduledSeconds, people: scheduledSeconds };
  const leastSeconds = { ingest: ingestSeconds, apply: applySeconds, ...scheduled };
  const limits = limitsOfFunctions();
  const time = createTime(START_MS);
  const clock = () => Math.floor(time.nowMs());
  const totals = createTotals();
  let throughput: Throughput | undefined;
  const table = new MemoryTable({ meter: capacityMeter(totals, () => throughput) });
  const order = (visible: QueuedMessage[], all: readonly QueuedMessage[]) => fairOrder(visible, all, clock());
  const queues = createQueues({ nowMs: clock, random: seededRandom(1), order });
  const companies = new Map<string, Connected>();
  const { next: random } = seededRandom(2);
  const usage = new Map(FUNCTIONS.map((name) => [name, { runs: 0, seconds: 0, now: 0 }]));
  const usageOf = (name: FunctionName) => usage.get(name) as Usage;
  const idle = new Map<FunctionName, Container[]>(FUNCTIONS.map((name) => [name, []]));
  const failures: string[] = [];
  const noteFailure = (where: string, error: unknown) => {
    const { message, cause } = error as Error;
    failures.push(`${where}: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`);
  };
  const open = containers({
    limits,
    time,
    totals,
    table,
    queues,
    companies,
    random,
    throughput: () => throughput,
  });
  const hasFree = (name: FunctionName) =>
    usageOf(name).now < (limits[name].maxConcurrency ?? Number.POSITIVE_INFINITY);
  const invoke = async (name: FunctionName, run: (ports: EnginePorts) => Promise<unknown>): Promise<void> => {
    const one = usageOf(name);
    one.now += 1;
    const startedMs = clock();
    const container = idle.get(name)?.pop() ?? open(name);
    let isOver = false;
    const ended = run(container.ports)
      .catch((error: unknown) => noteFailure(name, error))
      .then(() => {
        isOver = true;
      });
    const timeout = new Promise<void>((resolve) =>
      time.at(startedMs + 1_000 * limits[name].seconds, resolve),
    );
    await Promise.race([ended, timeout]);
    if (isOver) {
      await time.sleep(Math.max(0, startedMs + 1_000 * leastSeconds[name] - clock()));
      idle.get(name)?.push(container);
    } else {
      container.kill();
      totals.add('killed invocations');
    }
    one.now -= 1;
    one.runs += 1;
    one.seconds += (clock() - startedMs) / 1_000;
  };

  let written: (groups: readonly GroupRef[]) => void = () => {};
  const { events, apply } = queues.of;
  const gatherMs = 1_000 * EVENT_SOURCES.ingest.maximumBatchingWindowSeconds;
  const takeEvents = (): void => {
    const { batchSize } = EVENT_SOURCES.ingest;
    while (hasFree('ingest')) {
      const visible = events.messages.filter(({ visibleAtMs }) => visibleAtMs <= clock());
      const isOld = visible.some(({ sentAtMs }) => clock() >= sentAtMs + gatherMs);
      if (visible.length < batchSize && !isOld) return;
      const batch = events.receive(batchSize);
      totals.add('sqs requests', 2 * Math.ceil(batch.length / 10));
      const takenAtMs = clock();
      void invoke('ingest', async (ports) => {
        const at = (part: number) => takenAtMs + 1_000 * part * limits.ingest.seconds;
        const messages = batch.map(({ id, body, sentAtMs, receives, group }) => ({
          messageId: id,
          body,
          sentAtMs,
          receives,
          connection: group,
        }));
        const times = { startUntilMs: at(START_UNTIL), stopAtMs: at(STOP_AT) };
        const { rejected, failedMessages, postponed, causes } = await ingest(messages, ports, times);
        if (rejected.length > 0) throw new Error('ingest refused an event of the benchmark');
        for (const cause of causes) noteFailure('ingest', cause);
        totals.add('ingest messages failed', failedMessages.size);
        const soon = batch.flatMap(({ id, receipt = '' }) => (postponed.has(id) ? [{ receipt }] : []));
        const seconds = postponedSeconds(random());
        await hide(queues.client(), queueUrl('events'), soon, seconds);
        planAt('events', clock() + 1_000 * seconds, takeEvents);
        const stored = batch.filter(({ id }) => !failedMessages.has(id));
        events.delete(...stored.map(({ receipt = '' }) => receipt));
      }).then(takeEvents);
    }
  };
  const takeGroups = (): void => {
    while (hasFree('apply')) {
      const batch = apply.receive(EVENT_SOURCES.apply.batchSize);
      if (batch.length === 0) return;
      totals.add('sqs requests', 2);
      const groups = new Map<string, GroupRef>();
      for (const { body } of batch) {
        const ref = readApplyMessage(body);
        if (ref !== undefined) groups.set(body, ref);
      }
      const applyOne = async (body: string, ref: GroupRef, ports: EnginePorts) => {
        try {
          const { outcome, cause } = await applyGroup(ref, ports);
          if (!FINE.has(outcome)) noteFailure('apply', new Error(`apply ended as ${outcome}`, { cause }));
          const done = batch.filter((one) => one.body === body);
          apply.delete(...done.map(({ receipt = '' }) => receipt));
        } catch (error) {
          noteFailure('apply', error);
        }
      };
      void invoke('apply', (ports) =>
        Promise.all([...groups].map(([body, ref]) => applyOne(body, ref, ports))),
      ).then(() => {
        written([...groups.values()]);
        takeGroups();
      });
    }
  };
  const planned = new Set<string>();
  const planAt = (key: QueueKey, wantedMs: number, take: () => void) => {
    // Wake-ups that are due within the same 10 ms are handled together.
    const atMs = Math.ceil(wantedMs / 10) * 10;
    const name = `${key} ${atMs}`;
    if (planned.has(name)) return;
    planned.add(name);
    time.at(atMs, () => {
      planned.delete(name);
      take();
    });
  };
  queues.listen((key, dueMs) => {
    if (key === 'apply') planAt(key, dueMs, takeGroups);
    if (key !== 'events') return;
    planAt(key, dueMs, takeEvents);
    planAt(key, dueMs + gatherMs, takeEvents);
  });

  /** The runs of each task of each connection that ended without an error, by `<task> <connection>`. */
  const runs = new Map<string, { readonly endMs: number; readonly seconds: number }[]>();
  /** Processor time of a task of a connection, in addition to that of its requests. */
  const processorSeconds = new Map<string, number>();
  const runTask = (task: TaskName, everyMinutes?: number): Promise<void> => {
    const name = task === 'people' ? task : 'reconcile';
    const deadlineMs = clock() + 1_000 * limits[name].seconds - RESERVE_MS;
    totals.add('scheduler invocations');
    return invoke(name, async (ports) => {
      const { connections } = ports;
      const round = { connections, only: undefined, logger: SILENT, random, atOnce: AT_ONCE[task] };
      const { failure } = await eachConnection<unknown>(round, async (each) => {
        const beganMs = clock();
        const report =
          task === 'people'
            ? await runPeople(each, { everyMinutes }, ports)
            : await runReconcile(each, { task, everyMinutes }, { ports, found: new Map(), deadlineMs });
        if (report === undefined || isOccupied(report)) return report;
        const key = `${task} ${each.name}`;
        await time.sleep(1_000 * (processorSeconds.get(key) ?? 0));
        const ended = { endMs: clock(), seconds: (clock() - beganMs) / 1_000 };
        runs.set(key, [...(runs.get(key) ?? []), ended]);
        return report;
      });
      if (failure !== undefined) noteFailure(task, failure.error);
    });
  };

  const store = createConnectionStore(table, { clock, rememberMs: 0 });
  return {
    time,
    clock,
    totals,
    table,
    limits,
    companies,
    runs: runs as ReadonlyMap<string, readonly { readonly endMs: number; readonly seconds: number }[]>,
    processorSeconds,
    failures: failures as readonly string[],
    sqs: queues.client(),
    /** The operations of the table, for calls from another process. */
    requests: requestsOf(table),
    directory: createDirectory(clock),
    async connect(company: Company) {
      const { name, people } = company;
      const platform = createCountedPlatform({ totals, clock, people, token: TOKEN, company: name });
      companies.set(name, { ...company, platform });
      const settings = { baseUrl: `https://${name}.test` };
      await store.save({ ...connectionOf(true, settings), name: connectionName(name), company: name });
      return platform;
    },
    /** Sets the limits of the table. Until then, DynamoDB throttles no request. */
    limitTable(units: Units): void {
      throughput = createThroughput(clock, units);
    },
    /** Returns the usage of each function since the previous call. */
    takeUsage() {
      const taken = FUNCTIONS.map((name) => [name, { ...usageOf(name) }] as const);
      for (const one of usage.values()) Object.assign(one, { runs: 0, seconds: 0 });
      return Object.fromEntries(taken) as Readonly<Record<FunctionName, Readonly<Usage>>>;
    },
    isIdle: () =>
      events.messages.length + apply.messages.length + usageOf('ingest').now + usageOf('apply').now === 0,
    send(name: string, sent: readonly BenchEvent[]): void {
      totals.add('sqs requests', sent.length);
      for (const event of sent)
        events.send({ body: JSON.stringify(event), attributes: { connection: name }, group: name });
    },
    onWritten: (listener: typeof written) => {
      written = listener;
    },
    begin: (task: TaskName) => void runTask(task),
    beginSchedules() {
      for (const [n, [task, everyMinutes]] of Object.entries({ ...TASKS, ...minutes }).entries()) {
        const again = (atMs: number) =>
          time.at(atMs, () => {
            again(atMs + 60_000 * (LONG_TASKS.has(task) ? SCHEDULES.longTaskMinutes : everyMinutes));
            void runTask(task as TaskName, everyMinutes);
          });
        again(clock() + 7_000 * (n + 1));
      }
    },
  };
}
