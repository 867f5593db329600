import { createHash } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { CREDENTIALS, inProcess, REGION } from './sdk-wire.ts';
import type { Tally } from './tally.ts';

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
}

export interface QueuedMessage {
  readonly body: string;
  readonly lane: string;
  readonly dueMs: number;
}

export interface MemoryQueue {
  readonly client: SQSClient;
  /** Messages whose delay is over, oldest first, of each lane one at most. */
  receive(most: number): readonly QueuedMessage[];
  /** When the next message is due; undefined where the queue is empty. */
  nextDueMs(): number | undefined;
}

/** Where nothing listens: requests are answered before they leave the process. */
const QUEUES_URL = 'http://127.0.0.1';
export const APPLY_QUEUE_URL = `${QUEUES_URL}/000000000000/bench-apply.fifo`;

/** SQS FIFO remembers a deduplication id for five minutes (Amazon SQS developer guide). */
const REMEMBERED_MS = 5 * 60_000;

/** A FIFO queue with delay and deduplication by the clock given; counts requests, and messages kept and dropped. */
export function createMemoryQueue(options: {
  readonly tally: Tally;
  readonly clock: () => number;
  readonly delayMs: number;
}): MemoryQueue {
  const { tally, clock, delayMs } = options;
  const sentAt = new Map<string, number>();
  let messages: QueuedMessage[] = [];

  const accept = ({ Id, MessageBody, MessageGroupId = '', MessageDeduplicationId = Id }: Entry) => {
    const nowMs = clock();
    const isKnown = nowMs - (sentAt.get(MessageDeduplicationId) ?? Number.NEGATIVE_INFINITY) < REMEMBERED_MS;
    tally.add(isKnown ? 'sqs messages coalesced' : 'sqs messages');
    if (!isKnown) {
      sentAt.set(MessageDeduplicationId, nowMs);
      messages.push({ body: MessageBody, lane: MessageGroupId, dueMs: nowMs + delayMs });
    }
    return {
      Id,
      MessageId: MessageDeduplicationId,
      MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
    };
  };
  const handler = inProcess((operation, input) => {
    tally.add(`sqs ${operation}`);
    const { Entries } = input as { readonly Entries: readonly Entry[] };
    return { status: 200, body: { Successful: Entries.map(accept), Failed: [] } };
  });
  return {
    client: new SQSClient({
      region: REGION,
      credentials: CREDENTIALS,
      endpoint: QUEUES_URL,
      requestHandler: handler as never,
    }),
    receive(most) {
      const lanes = new Set<string>();
      const taken = messages.filter(({ lane, dueMs }) => {
        if (lanes.size >= most || lanes.has(lane) || dueMs > clock()) return false;
        lanes.add(lane);
        return true;
      });
      const isTaken = new Set(taken);
      if (taken.length > 0) messages = messages.filter((message) => !isTaken.has(message));
      return taken;
    },
    nextDueMs: () => (messages.length === 0 ? undefined : Math.min(...messages.map(({ dueMs }) => dueMs))),
  };
}
