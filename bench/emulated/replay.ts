import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import type { RecordedCall } from './recorder.ts';
import type { Services } from './services.ts';

/** The number of calls in flight, which is enough to keep the processor busy. */
const IN_FLIGHT = 32;

/** Repeats the recorded calls in the same order without groupsync's code, to measure the minimum time. */
export async function replay(calls: readonly RecordedCall[], services: Services): Promise<void> {
  const received: Message[] = [];
  await pMap(
    calls,
    async (call) => {
      if (call.to === 'platform') {
        const origin = services.platform;
        const answer = await services.dispatcher.request({ ...call.request, origin, signal: null });
        await answer.body.text();
      } else if (call.to === 'sqs') {
        await replaySqs(call, services, received);
      } else {
        const command = new call.make(call.input as never);
        await services.dynamodb.send(command as never).catch((error: unknown) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
      }
    },
    { concurrency: IN_FLIGHT },
  );
}

/** Sends an SQS call with the queue URLs and receipt handles of this run. */
async function replaySqs(
  { make, input }: Extract<RecordedCall, { to: 'dynamodb' | 'sqs' }>,
  { sqs, queueUrls }: Services,
  received: Message[],
): Promise<void> {
  const { QueueUrl: recorded = '', ...rest } = input as {
    readonly QueueUrl?: string;
    readonly Entries?: object[];
  };
  const QueueUrl = recorded.endsWith('-apply') ? queueUrls.apply : queueUrls.events;
  if (make === (DeleteMessageBatchCommand as unknown)) {
    const Entries = received
      .splice(0, rest.Entries?.length ?? 0)
      .map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }));
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    return;
  }
  const answer = await sqs.send(new make({ QueueUrl, ...rest } as never) as never);
  if (make === (ReceiveMessageCommand as unknown)) {
    received.push(...((answer as { readonly Messages?: Message[] }).Messages ?? []));
  }
}
