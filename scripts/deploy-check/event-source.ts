import type { EventSourceMappingConfiguration } from '@aws-sdk/client-lambda';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import type { DeployedFunction } from './deployed-function.ts';

const BatchResponse = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

/** A poller that replaces Lambda's poller for one event source mapping. */
export interface EventSource {
  readonly received: () => number;
  stop(): Promise<void>;
}

/**
 * Starts to receive messages from the queue of the mapping and to call the function. Messages are deleted, except the
 * messages that the function reported as failed. A failed message is visible again immediately, so that the check does
 * not wait. Source: Lambda developer guide, "Reporting batch item failures".
 */
export async function startEventSource(
  sqs: SQSClient,
  mapping: EventSourceMappingConfiguration,
  target: DeployedFunction,
): Promise<EventSource> {
  const arn = mapping.EventSourceArn ?? '';
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: arn.split(':').at(-1) }));
  const MaxNumberOfMessages = Math.min(10, mapping.BatchSize ?? 10);
  let stopped = false;
  let received = 0;

  const pollOnce = async (): Promise<void> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages,
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return;
    received += Messages.length;
    const failed = failedOf(
      await target.invoke({ Records: Messages.map((one) => record(one, arn)) }),
      Messages,
    );
    for (const { MessageId = '', ReceiptHandle } of Messages) {
      const handled = { QueueUrl, ReceiptHandle };
      if (failed.has(MessageId)) {
        await sqs.send(new ChangeMessageVisibilityCommand({ ...handled, VisibilityTimeout: 0 }));
      } else await sqs.send(new DeleteMessageCommand(handled));
    }
  };
  const loop = (async () => {
    while (!stopped) await pollOnce();
  })();
  // `stop` reports an error of the loop. An unhandled rejection would end the process earlier.
  loop.catch(() => undefined);
  return {
    received: () => received,
    async stop() {
      stopped = true;
      await loop;
    },
  };
}

/** Returns the ids of the failed messages. If the response contains an unknown id, the whole batch has failed. */
function failedOf(response: unknown, messages: readonly Message[]): Set<string> {
  const ids = new Set(messages.map(({ MessageId = '' }) => MessageId));
  if (response === null) return new Set();
  const failed = BatchResponse.parse(response).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return failed.every((id) => ids.has(id)) ? new Set(failed) : ids;
}

const record = (message: Message, eventSourceARN: string) => ({
  messageId: message.MessageId,
  receiptHandle: message.ReceiptHandle,
  body: message.Body,
  attributes: message.Attributes,
  md5OfBody: message.MD5OfBody,
  eventSource: 'aws:sqs',
  eventSourceARN,
  awsRegion: eventSourceARN.split(':')[3],
  messageAttributes: Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
      name,
      {
        dataType: value.DataType,
        stringValue: value.StringValue,
        binaryValue: value.BinaryValue && Buffer.from(value.BinaryValue).toString('base64'),
      },
    ]),
  ),
});
