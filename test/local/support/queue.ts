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

/** An SQS emulator of its own for one test, with a queue and its dead-letter queue. */
export async function startQueue(options: { fifo?: boolean; maxReceiveCount?: number } = {}) {
  const sqs = await startSqs(0);
  onTestFinished(() => sqs.close());
  const client = new SQSClient({ ...CREDENTIALS, endpoint: sqs.url });
  const suffix = options.fifo === true ? '.fifo' : '';
  const create = async (name: string, attributes: Record<string, string> = {}) => {
    const Attributes = { ...attributes, ...(suffix === '' ? {} : { FifoQueue: 'true' }) };
    const created = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    return created.QueueUrl ?? '';
  };
  const deadUrl = await create(`dead${suffix}`);
  const queueUrl = await create(`work${suffix}`, {
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: queueArn(`dead${suffix}`),
      maxReceiveCount: options.maxReceiveCount ?? 5,
    }),
  });
  let sent = 0;
  return {
    client,
    queueUrl,
    deadUrl,
    queueArn: queueArn(`work${suffix}`),
    url: sqs.url,
    async send(body: string, lane?: string, attributes: Record<string, MessageAttributeValue> = {}) {
      sent += 1;
      const fifo = lane === undefined ? {} : { MessageGroupId: lane, MessageDeduplicationId: `d${sent}` };
      const message = { QueueUrl: queueUrl, MessageBody: body, MessageAttributes: attributes, ...fifo };
      return (await client.send(new SendMessageCommand(message))).MessageId;
    },
    /** Messages of a queue in any state. */
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
