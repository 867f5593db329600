import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createQueues, type Queue } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import type { Tally } from './tally.ts';

/** The apply queue, whose requests and messages are counted. */
export function createCountedQueue(options: { readonly tally: Tally; readonly clock: () => number }): {
  readonly sqs: SQSClient;
  readonly queue: Queue;
} {
  const { tally, clock } = options;
  const queues = createQueues({ nowMs: clock, random: seededRandom(1) });
  const client = queues.client(async (operation) => tally.add(`sqs ${operation}`));
  const send = async (command: SendMessageBatchCommand) => {
    const answer = await client.send(command);
    for (const _ of answer.Successful ?? []) tally.add('sqs messages');
    return answer;
  };
  // The connector only sends.
  return { sqs: { send } as unknown as SQSClient, queue: queues.of.apply };
}
