import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished } from 'vitest';
import { createQueues, startSqs } from '../../../local/emulators/sqs.ts';
import { CREDENTIALS } from '../support/queue.ts';

async function start() {
  const sqs = await startSqs(0);
  onTestFinished(() => sqs.close());
  const client = new SQSClient({ ...CREDENTIALS, endpoint: sqs.url });
  return { sqs, client, urls: await createQueues(client, { prefix: 'groupsync' }) };
}

const receive = async (client: SQSClient, url: string) =>
  (await client.send(new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 1 }))).Messages?.[0]?.Body;

it('the SQS emulator creates the four queues as deployed, with URLs that a client can use without settings', async () => {
  const { sqs, client, urls } = await start();
  expect(urls.events).toBe(`${sqs.url}/000000000000/groupsync-events`);
  expect((await fetch(new URL('/health', urls.events))).status).toBe(200);
  const attributes = async (url: string) => {
    const all = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] });
    return (await client.send(all)).Attributes;
  };
  expect(await attributes(urls.events)).toMatchObject({
    VisibilityTimeout: '360',
    DelaySeconds: '0',
    RedrivePolicy:
      '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:groupsync-events-dlq","maxReceiveCount":10}',
  });
  expect(await attributes(urls.apply)).toMatchObject({
    VisibilityTimeout: '720',
    DelaySeconds: '0',
    RedrivePolicy:
      '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:groupsync-apply-dlq","maxReceiveCount":5}',
  });
  expect(await attributes(urls.eventsDlq)).not.toHaveProperty('RedrivePolicy');
});

it.each([
  ['a delay above the maximum of SQS', { DelaySeconds: 901 }],
  ['a deduplication id', { MessageDeduplicationId: 'd' }],
])('the SQS emulator refuses %s, as SQS does for a standard queue', async (_, wrong) => {
  const { client, urls } = await start();
  const one = { MessageBody: 'a', MessageGroupId: 'default' };
  const send = new SendMessageCommand({ QueueUrl: urls.apply, ...one, ...wrong });
  await expect(client.send(send)).rejects.toThrow('expected a delay of at most 900 s');
  const Entries = [{ Id: '0', ...one, ...wrong }];
  const batch = new SendMessageBatchCommand({ QueueUrl: urls.apply, Entries });
  await expect(client.send(batch)).rejects.toThrow('expected a delay of at most 900 s');
  await client.send(new SendMessageCommand({ QueueUrl: urls.apply, ...one, DelaySeconds: 0 }));
  expect(await receive(client, urls.apply)).toBe('a');
});
