import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { onTestFinished } from 'vitest';
import { queueArn, startSqs } from '../../../local/emulators/sqs.ts';

export const CREDENTIALS = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;

/** Starts an SQS emulator for one test, with a queue and its dead-letter queue. */
export async function startQueue(options: { maxReceiveCount?: number } = {}) {
  const sqs = await startSqs(0);
  onTestFinished(() => sqs.close());
  const client = new SQSClient({ ...CREDENTIALS, endpoint: sqs.url });
  const create = async (name: string, attributes: Record<string, string> = {}) => {
    const created = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    return created.QueueUrl ?? '';
  };
  const deadUrl = await create('dead');
  const queueUrl = await create('work', {
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: queueArn('dead'),
      maxReceiveCount: options.maxReceiveCount ?? 5,
    }),
  });
  return {
    client,
    queueUrl,
    deadUrl,
    queueArn: queueArn('work'),
    url: sqs.url,
    async send(body: string, attributes: Record<string, MessageAttributeValue> = {}) {
      const message = { QueueUrl: queueUrl, MessageBody: body, MessageAttributes: attributes };
      return (await client.send(new SendMessageCommand(message))).MessageId;
    },
    countMessages: sqs.countMessages,
    /** Counts the messages of a queue in any state. */
    async count(url: string): Promise<number> {
      const counts = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
      );
      const { Attributes: all = {} } = counts;
      return (
        Number(all['ApproximateNumberOfMessages']) +
        Number(all['ApproximateNumberOfMessagesNotVisible']) +
        Number(all['ApproximateNumberOfMessagesDelayed'])
      );
    },
    async take(url: string) {
      const request = { QueueUrl: url, WaitTimeSeconds: 5, MessageSystemAttributeNames: ['All' as const] };
      return (await client.send(new ReceiveMessageCommand(request))).Messages?.[0];
    },
  };
}
