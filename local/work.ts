import type { SQSClient } from '@aws-sdk/client-sqs';
import {
  functionName,
  type QueueKey,
  queueName,
  readerQueueName,
  SCHEDULE_KEYS,
  type ScheduleKey,
  scheduleName,
} from '../shared/contract/names.ts';
import { EVENT_SOURCES } from '../shared/contract/topology.ts';
import { queueArn, urlOfQueue } from './emulators/sqs.ts';
import type { EventLine } from './event-files.ts';
import { invoke, type LocalFunction } from './invocation.ts';
import { type PollerOptions, processVisible, startPoller } from './poller.ts';
import { publish } from './publish.ts';
import { type Schedule, startSchedule } from './schedules.ts';

/** For each schedule, the function that it runs and the event that it sends. */
const TASKS = {
  pump: { fn: 'reconcile', event: { task: 'pump' } },
  feed: { fn: 'reconcile', event: { task: 'feed' } },
  sweep: { fn: 'reconcile', event: { task: 'sweep' } },
  health: { fn: 'reconcile', event: { task: 'health' } },
  people: { fn: 'people', event: {} },
} as const satisfies Readonly<Record<ScheduleKey, { fn: string; event: object }>>;
const RETRY_AFTER_SECONDS = 2;
/** The interval of directory reads. A deployed stack reads every five minutes. */
const DIRECTORY_EVERY_SECONDS = 15;
/**
 * Maximum number of runs at the same time. Lambda gives each run of a function its own processor, but all local runs
 * share one. With the deployed concurrency, runs of a large import would time out.
 */
const RUNS_AT_ONCE = { ingest: 1, apply: EVENT_SOURCES.apply.maximumConcurrency } as const;

interface WorkOptions {
  readonly prefix: string;
  readonly client: SQSClient;
  readonly queueUrls: Readonly<Record<QueueKey, string>>;
  readonly functions: ReadonlyMap<string, LocalFunction>;
  readonly everySeconds: Readonly<Record<ScheduleKey, number>>;
  readonly batchingWindowSeconds?: number | undefined;
  readonly isDirectoryRead: boolean;
  /** An empty map. `startWork` adds all schedules by name, so that the Scheduler emulator can list them. */
  readonly schedules: Map<string, Schedule>;
  readonly onError: (message: string) => void;
  /** Called before the pollers and schedules start. */
  readonly beforePolling?: ((work: ManualWork) => Promise<void>) | undefined;
}

/** Runs the handlers when the caller asks for it. */
export interface ManualWork {
  /** Runs the function with all messages of its queue that are visible now. */
  readonly process: (key: 'ingest' | 'apply') => Promise<void>;
  readonly publish: (lines: readonly EventLine[]) => Promise<unknown>;
  readonly reconcile: (event: object) => Promise<void>;
}

/**
 * Runs the handlers as the deployed event sources and schedules do. It first reads the people, because otherwise every
 * member would be unknown. Then it enqueues the groups that an earlier run left dirty, because the queues of that run
 * are lost.
 */
export async function startWork(options: WorkOptions): Promise<{ stop: () => Promise<void> }> {
  await run(options, 'people', {});
  await run(options, 'reconcile', { task: 'pump', all: true });
  await options.beforePolling?.({
    process: (key) =>
      processVisible(sourceOf(key, queueName(options.prefix, EVENT_SOURCES[key].queue), options)),
    publish: (lines) => publish(options.client, options.queueUrls.events, lines),
    reconcile: (event) => run(options, 'reconcile', event),
  });
  // The events of the example company are a day old, and so are the first runs.
  for (const key of ['people', 'sweep'] as const) await run(options, TASKS[key].fn, TASKS[key].event);
  for (const key of SCHEDULE_KEYS) {
    const { fn, event } = TASKS[key];
    const schedule = startSchedule({
      name: scheduleName(options.prefix, key),
      everySeconds: options.everySeconds[key],
      task: () => run(options, fn, { ...event, everyMinutes: options.everySeconds[key] / 60 }),
      onError: (name, error) => options.onError(`${name}: ${String(error)}`),
    });
    options.schedules.set(schedule.name, schedule);
  }
  const pollers = [
    startPoller(sourceOf('ingest', queueName(options.prefix, 'events'), options)),
    startPoller(sourceOf('apply', queueName(options.prefix, 'apply'), options)),
    ...(options.isDirectoryRead
      ? [startPoller(sourceOf('ingest', readerQueueName(options.prefix), options))]
      : []),
  ];
  const directory = options.isDirectoryRead ? await startDirectory(options) : [];
  return {
    async stop() {
      const parts = [...pollers, ...options.schedules.values(), ...directory];
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}

function sourceOf(key: 'ingest' | 'apply', queue: string, options: WorkOptions): PollerOptions {
  const source = EVENT_SOURCES[key];
  const maximumBatchingWindowSeconds = options.batchingWindowSeconds ?? source.maximumBatchingWindowSeconds;
  return {
    client: options.client,
    source: { ...source, maximumBatchingWindowSeconds, maximumConcurrency: RUNS_AT_ONCE[key] },
    queueUrl: urlOfQueue(options.queueUrls.events, queue),
    queueArn: queueArn(queue),
    fn: functionOf(options, key),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    onError: options.onError,
  };
}

async function startDirectory(options: WorkOptions): Promise<readonly Schedule[]> {
  await run(options, 'directory', {});
  const schedule = startSchedule({
    name: scheduleName(options.prefix, 'directory'),
    everySeconds: DIRECTORY_EVERY_SECONDS,
    task: () => run(options, 'directory', {}),
    onError: (name, error) => options.onError(`${name}: ${String(error)}`),
  });
  return [schedule];
}

/** Runs a task and reports a failure. The schedule starts the next run. */
async function run(
  options: WorkOptions,
  key: 'people' | 'reconcile' | 'directory',
  event: object,
): Promise<void> {
  const fn = functionOf(options, key);
  const result = await invoke(fn, event);
  if (!result.ok) options.onError(`${fn.name} has failed: ${result.errorMessage}`);
}

type CalledFunction = 'ingest' | 'apply' | 'people' | 'reconcile' | 'directory';

function functionOf({ prefix, functions }: WorkOptions, key: CalledFunction) {
  const fn = functions.get(functionName(prefix, key));
  if (fn === undefined) throw new Error(`no function ${functionName(prefix, key)}`);
  return fn;
}
