import type { SQSClient } from '@aws-sdk/client-sqs';
import {
  functionName,
  type QueueKey,
  queueName,
  SCHEDULE_KEYS,
  type ScheduleKey,
  scheduleName,
} from '../shared/contract/names.ts';
import { EVENT_SOURCES } from '../shared/contract/topology.ts';
import { queueArn } from './emulators/sqs.ts';
import { invoke, type LocalFunction } from './invocation.ts';
import { type Poller, startPoller } from './poller.ts';
import { type Schedule, startSchedule } from './schedules.ts';

/** The function that each schedule runs and the event that it sends. */
const TASKS = {
  pump: { fn: 'reconcile', event: { task: 'pump' } },
  feed: { fn: 'reconcile', event: { task: 'feed' } },
  sweep: { fn: 'reconcile', event: { task: 'sweep' } },
  health: { fn: 'reconcile', event: { task: 'health' } },
  people: { fn: 'people', event: {} },
} as const satisfies Readonly<Record<ScheduleKey, { fn: string; event: object }>>;
const RETRY_AFTER_SECONDS = 2;
/** As deployed, the directory is read every five minutes; a person who tries it would not wait for that. */
const DIRECTORY_EVERY_SECONDS = 15;
/**
 * Lambda gives each run of a function its own processor; here all share one. As many as deployed would each take so
 * long over a large import that none was done in time, and two would write the same users in turns, each again.
 */
const RUNS_AT_ONCE = { ingest: 1, apply: EVENT_SOURCES.apply.maximumConcurrency } as const;

export interface WorkOptions {
  readonly prefix: string;
  readonly client: SQSClient;
  readonly queueUrls: Readonly<Record<QueueKey, string>>;
  readonly functions: ReadonlyMap<string, LocalFunction>;
  readonly everySeconds: Readonly<Record<ScheduleKey, number>>;
  readonly gatherSeconds?: number | undefined;
  readonly isDirectoryRead: boolean;
  /** Filled with the schedules by name, so that the Scheduler adapter sees them. */
  readonly schedules: Map<string, Schedule>;
  readonly onError: (message: string) => void;
}

/**
 * Runs the handlers as the deployed event sources and schedules do. The people are read once before anything is
 * applied, else every member would be unknown at first; then what an earlier run left dirty is enqueued again,
 * because the queues did not outlive it.
 */
export async function startWork(options: WorkOptions): Promise<{ stop: () => Promise<void> }> {
  await run(options, 'people', {});
  await run(options, 'reconcile', { task: 'pump', all: true });
  for (const key of SCHEDULE_KEYS) {
    const { fn, event } = TASKS[key];
    const schedule = startSchedule({
      name: scheduleName(options.prefix, key),
      everySeconds: options.everySeconds[key],
      task: () => run(options, fn, event),
      onError: (name, error) => options.onError(`${name}: ${String(error)}`),
    });
    options.schedules.set(schedule.name, schedule);
  }
  const pollers: Poller[] = (['ingest', 'apply'] as const).map((key) => {
    const source = EVENT_SOURCES[key];
    const maximumBatchingWindowSeconds = options.gatherSeconds ?? source.maximumBatchingWindowSeconds;
    return startPoller({
      client: options.client,
      source: { ...source, maximumBatchingWindowSeconds, maximumConcurrency: RUNS_AT_ONCE[key] },
      queueUrl: options.queueUrls[source.queue],
      queueArn: queueArn(queueName(options.prefix, source.queue)),
      fn: functionOf(options, key),
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      onError: options.onError,
    });
  });
  const directory = options.isDirectoryRead ? await startDirectory(options) : [];
  return {
    async stop() {
      const parts = [...pollers, ...options.schedules.values(), ...directory];
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}

/** Reads the directory once before anything else is expected, and then again and again. */
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

/** A failed run is reported; the schedule brings the next one. */
async function run(
  options: WorkOptions,
  key: 'people' | 'reconcile' | 'directory',
  event: object,
): Promise<void> {
  const fn = functionOf(options, key);
  const result = await invoke(fn, event);
  if (!result.ok) options.onError(`${fn.name} has failed: ${result.errorMessage}`);
}

type Called = 'ingest' | 'apply' | 'people' | 'reconcile' | 'directory';

function functionOf({ prefix, functions }: WorkOptions, key: Called) {
  const fn = functions.get(functionName(prefix, key));
  if (fn === undefined) throw new Error(`no function ${functionName(prefix, key)}`);
  return fn;
}
