import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import { untilConverged } from '../../local/convergence.ts';
import { loadParts } from '../../local/load-parts.ts';
import { openPlatform } from '../../local/open-platform.ts';
import type { WorldInput } from '../../local/platform/state/world.ts';
import { type StackOptions, startStack } from '../../local/stack.ts';
import { SqsQueue } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';

/**
 * The interval in seconds of a schedule that no test waits for. A test invokes the function of such a schedule itself.
 */
const NEVER = 80_000;
/** The seconds of one poll of a dead-letter queue. A short poll of the emulator finds all messages. */
const LOOK_SECONDS = 0.1;

const isDeadLetters = ({ name }: SqsQueue) => name.endsWith('-dlq');

/** Returns a function whose callers share calls. Each caller gets the result of a call that starts after its request. */
function sharedCall<T>(call: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    if (next !== undefined) return next;
    next = last.then(() => {
      next = undefined;
      return call();
    });
    last = next.catch(() => undefined);
    return next;
  };
}

export interface LocalStackOptions {
  readonly world: WorldInput;
  readonly pumpSeconds: number;
  readonly coalesceSeconds?: number;
  /** The batching window in seconds. Use 0 if a test sends few events and waits for each event. */
  readonly batchingWindowSeconds?: number;
  readonly settings?: StackOptions['settings'];
}

/** Starts the local stack without demo data, once per test file, because its handlers keep their clients. */
export async function startLocalStack(options: LocalStackOptions) {
  const {
    world,
    pumpSeconds,
    batchingWindowSeconds,
    coalesceSeconds = 0,
    settings = [['guard', null]],
  } = options;
  const logs: string[] = [];
  const written = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((chunk) => logs.push(String(chunk)) > 0);
  const { waitForMessages } = SqsQueue.prototype;
  const polled = vi.spyOn(SqsQueue.prototype, 'waitForMessages').mockImplementation(function (
    this: SqsQueue,
    seconds,
  ) {
    return waitForMessages.call(this, isDeadLetters(this) ? LOOK_SECONDS : seconds);
  });
  /** The errors of failed batches and of unreadable queues. */
  const errors: string[] = [];
  const platform = await openPlatform({ world, dataFile: undefined, port: 0 });
  const stack = await startStack({
    prefix: 'groupsync',
    coalesceSeconds,
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform,
    settings,
    batchingWindowSeconds,
    everySeconds: { pump: pumpSeconds, feed: NEVER, sweep: NEVER, people: NEVER, health: NEVER },
    loadParts,
    onError: (message) => errors.push(message),
  });
  const { eventsQueueUrl, applyQueueUrl } = stack.address;
  const readGroups = () => stack.parts.readGroups(DEFAULT_CONNECTION);
  const countGroups = sharedCall(() => stack.parts.countGroups(DEFAULT_CONNECTION));
  return {
    stack,
    platform,
    logs,
    errors,
    /** Calls a test control of the simulator. */
    async control(path: string, init?: RequestInit): Promise<unknown> {
      const answer = await fetch(`${platform.url}/_simulator/${path}`, init);
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    },
    /** Sends message bodies in batches of ten, as any client of SQS does. @returns their message ids */
    async send(bodies: readonly string[]): Promise<readonly string[]> {
      const ids: string[] = [];
      for (let at = 0; at < bodies.length; at += 10) {
        const some = bodies.slice(at, at + 10);
        const Entries = some.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
        const { Successful = [], Failed = [] } = await stack.sqs.send(
          new SendMessageBatchCommand({ QueueUrl: eventsQueueUrl, Entries }),
        );
        if (Failed.length > 0) throw new Error(JSON.stringify(Failed));
        const sent = new Map(Successful.map(({ Id, MessageId = '' }) => [Id, MessageId]));
        ids.push(...Entries.map(({ Id }) => sent.get(Id) ?? ''));
      }
      return ids;
    },
    readGroups,
    /** Waits until no call is in flight and no group is dirty. */
    async converge(timeoutMs = 150_000): Promise<void> {
      const { converged } = await untilConverged({
        countMessages: stack.countMessages,
        eventsQueueUrl,
        applyQueueUrl,
        countGroups,
        // The read of every member is slow, and few tests need it.
        readGroups: async () => [],
        onBacklog: () => undefined,
        signal: AbortSignal.timeout(timeoutMs),
        pollMs: 50,
      });
      if (converged) return;
      const left = (await readGroups()).filter(({ state }) => state === 'dirty').map(({ id }) => id);
      throw new Error(`not converged after ${timeoutMs} ms, dirty ${left.join(', ')}: ${errors.join('; ')}`);
    },
    /** Ends the visibility timeouts of dead-lettered messages that a killed process received. */
    endHolds() {
      for (const queue of (polled.mock.contexts as SqsQueue[]).filter(isDeadLetters))
        for (const held of queue.inflightMessages.values()) held.visibilityDeadline = 0;
    },
    async stop() {
      await stack.stop();
      await platform.close();
      written.mockRestore();
      polled.mockRestore();
    },
  };
}
