import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { answerSqs, createQueues, queueUrl } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';

type Entry = NonNullable<SendMessageBatchCommand['input']['Entries']>[number];

/** Records the requests, and refuses each entry that SQS refuses or for which `refuses` returns true. */
export function fakeSqs(refuses: (entry: Entry) => boolean = () => false) {
  const requests: Entry[][] = [];
  const { of } = createQueues({ nowMs: () => 0, random: seededRandom(1) });
  const send = async ({ input }: SendMessageBatchCommand) => {
    const entries = input.Entries ?? [];
    // An entry with an empty body, because the queue refuses an empty body.
    const Entries = entries.map((entry) => (refuses(entry) ? { ...entry, MessageBody: '' } : entry));
    const answer = answerSqs(of, 'SendMessageBatch', { QueueUrl: queueUrl('apply'), Entries }, () => 0);
    requests.push(entries);
    return answer;
  };
  return { client: { send } as unknown as SQSClient, requests, sent: () => requests.flat() };
}
