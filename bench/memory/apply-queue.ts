import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createQueues, type Queue } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import type { Totals } from './totals.ts';

export function createCountedQueue(options: { readonly totals: Totals; readonly clock: () => number }): {
  readonly sqs: SQSClient;
  readonly queue: Queue;
  /** The events queue, to which the reader of a directory sends its events. */
  readonly events: Queue;
} {
  const { totals, clock } = options;
  const queues = createQueues({ nowMs: clock, random: seededRandom(1) });
  const client = queues.client(async (operation) => totals.add(`sqs ${operation}`));
  const send = async (command: SendMessageBatchCommand) => {
    const answer = await client.send(command);
    for (const _ of answer.Successful ?? []) totals.add('sqs messages');
    return answer;
  };
  // The use cases call only `send`.
  return { sqs: { send } as unknown as SQSClient, queue: queues.of.apply, events: queues.of.events };
}
