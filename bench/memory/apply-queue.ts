import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createQueues, type Queue } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import type { Tally } from './tally.ts';

/** Begins the id in the answer for a message that was not kept. */
const KNOWN = 'known-';

/** The apply queue, whose requests are counted, and messages kept and dropped. */
export function createCountedQueue(options: {
  readonly tally: Tally;
  readonly clock: () => number;
  readonly applyDelaySeconds: number;
}): { readonly sqs: SQSClient; readonly queue: Queue } {
  const { tally, clock, applyDelaySeconds } = options;
  const queues = createQueues({ nowMs: clock, random: seededRandom(1), applyDelaySeconds });
  const client = queues.client(async (operation) => tally.add(`sqs ${operation}`));
  const send = async (command: SendMessageBatchCommand) => {
    const answer = await client.send(command);
    for (const { MessageId = '' } of answer.Successful ?? [])
      tally.add(MessageId.startsWith(KNOWN) ? 'sqs messages coalesced' : 'sqs messages');
    return answer;
  };
  // The connector only sends.
  return { sqs: { send } as unknown as SQSClient, queue: queues.of.apply };
}
