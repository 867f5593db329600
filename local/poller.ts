import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { EventSourceTopology } from '../shared/contract/topology.ts';
import { batchOutcome } from './batch-outcome.ts';
import { invoke, type LocalFunction } from './invocation.ts';
import { toRecord } from './record.ts';

export interface PollerOptions {
  readonly client: SQSClient;
  readonly source: Omit<EventSourceTopology, 'queue' | 'functionTimeoutSeconds'>;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly fn: LocalFunction;
  /**
   * Seconds until a failed message is received again. In AWS, this is the queue's visibility timeout: six times the
   * function's timeout, so that two runs of one message never overlap. The local poller knows when a run ends, so it
   * can use a shorter time. The queue has the deployed redrive policy.
   */
  readonly retryAfterSeconds: number;
  /** Called if a whole batch returns to the queue, or if the queue cannot be read. */
  readonly onError: (message: string) => void;
}

interface Poller {
  /** Ends the long poll at once. The promise resolves when the invocations in flight are done. */
  readonly stop: () => Promise<void>;
}

/** The limits of SQS for the duration of a long poll and for the messages of one receive. */
const LONG_POLL_SECONDS = 20;
const RECEIVE_MAX = 10;
const PAUSE_AFTER_ERROR_MS = 200;

/**
 * Emulates Lambda's event source mapping for one queue. At most `maximumConcurrency` invocations run at the same time.
 * The poller can also receive one further batch in advance. After a stop, this batch stays in the queue.
 */
export function startPoller(options: PollerOptions): Poller {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const batch = await collect(options, stopping.signal).catch((error: unknown) => pause(error));
      while (running.size >= options.source.maximumConcurrency) await Promise.race(running);
      if (batch.length === 0 || stopping.signal.aborted) continue;
      const run = handle(options, batch).catch((error: unknown) => options.onError(String(error)));
      running.add(run);
      void run.finally(() => running.delete(run));
    }
  };
  const pause = async (error: unknown): Promise<Message[]> => {
    if (stopping.signal.aborted) return [];
    options.onError(`${options.fn.name}: cannot receive: ${String(error)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_ERROR_MS));
    return [];
  };
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
      await Promise.all(running);
    },
  };
}

/** Processes all messages that are visible now, with as many invocations at the same time as the poller runs. */
export async function processVisible(options: PollerOptions): Promise<void> {
  const { client, source, queueUrl } = options;
  const lane = async () => {
    const batch: Message[] = [];
    do {
      batch.splice(0);
      for (let isEmpty = false; !isEmpty && batch.length < source.batchSize; ) {
        const max = source.batchSize - batch.length;
        const found = await receive(client, { queueUrl, max, waitSeconds: 0 });
        batch.push(...found);
        isEmpty = found.length === 0;
      }
      if (batch.length > 0) await handle(options, batch);
    } while (batch.length > 0);
  };
  await Promise.all(Array.from({ length: source.maximumConcurrency }, lane));
}

/**
 * Receives one batch. It waits for a first message, and then collects messages until the batching window ends. Without
 * a window, a batch is the result of one receive.
 */
async function collect({ client, source, queueUrl }: PollerOptions, signal: AbortSignal): Promise<Message[]> {
  const batch = await receive(
    client,
    { queueUrl, max: source.batchSize, waitSeconds: LONG_POLL_SECONDS },
    signal,
  );
  const endMs = Date.now() + source.maximumBatchingWindowSeconds * 1000;
  while (batch.length > 0 && batch.length < source.batchSize && !signal.aborted) {
    const leftMs = endMs - Date.now();
    if (leftMs <= 0) break;
    const more = { queueUrl, max: source.batchSize - batch.length, waitSeconds: Math.ceil(leftMs / 1000) };
    batch.push(...(await receive(client, more, signal).catch(() => [])));
  }
  return batch;
}

async function receive(
  client: SQSClient,
  want: { queueUrl: string; max: number; waitSeconds: number },
  signal?: AbortSignal,
): Promise<Message[]> {
  const { Messages } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: want.queueUrl,
      MaxNumberOfMessages: Math.min(want.max, RECEIVE_MAX),
      WaitTimeSeconds: want.waitSeconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
    signal === undefined ? {} : { abortSignal: signal },
  );
  return Messages ?? [];
}

/** Invokes the function with the batch, deletes the processed messages, and returns the others to the queue. */
async function handle(options: PollerOptions, batch: readonly Message[]): Promise<void> {
  const records = batch.map((message) => toRecord(message, options.queueArn));
  const result = await invoke(options.fn, { Records: records });
  const outcome = batchOutcome(
    records.map(({ messageId }) => messageId),
    result,
  );
  if (outcome.error !== undefined) {
    options.onError(`${options.fn.name}: ${records.length} messages return to the queue: ${outcome.error}`);
  }
  const handles = new Map(records.map(({ messageId, receiptHandle }) => [messageId, receiptHandle]));
  const entriesOf = (ids: readonly string[]) =>
    ids.map((id, index) => ({ Id: String(index), ReceiptHandle: handles.get(id) ?? '' }));
  const QueueUrl = options.queueUrl;
  for (const Entries of batchesOfTen(entriesOf(outcome.done))) {
    await options.client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  for (const entries of batchesOfTen(entriesOf(outcome.failed))) {
    const Entries = entries.map((entry) => ({ ...entry, VisibilityTimeout: options.retryAfterSeconds }));
    await options.client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
}

/** SQS accepts ten entries in one batch call. */
function* batchesOfTen<Entry>(entries: readonly Entry[]): Generator<Entry[]> {
  for (let at = 0; at < entries.length; at += RECEIVE_MAX) yield entries.slice(at, at + RECEIVE_MAX);
}
