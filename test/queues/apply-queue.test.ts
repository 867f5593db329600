import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { createApplyQueue } from '../../shared/queues/apply-queue.ts';
import { fakeSqs } from './fake-sqs.ts';

const ref = (group: string, connection = 'default') => ({
  connection: connectionName(connection),
  group: groupId(group),
});

it.each([
  [undefined, 0],
  [0, 0],
  [1, 1],
  [1_000, 1],
  [4_001, 5],
  [900_000, 900],
  [3_600_000, 900],
])('the delay of a wake-up is in whole seconds, at most 900: %s ms', async (afterMs, DelaySeconds) => {
  const { client, sent } = fakeSqs();
  // SQS refuses the character U+FFFF.
  const group = ref('Vertrieb – Süd #1 🚀\uffff', 'acme');
  const wake = { ...group, ...(afterMs === undefined ? {} : { afterMs }) };
  expect(await createApplyQueue(client, async () => 'url').wake([wake])).toEqual([]);
  expect(sent()).toMatchObject([{ DelaySeconds, MessageGroupId: 'acme' }]);
  expect(sent()[0]).not.toHaveProperty('MessageDeduplicationId');
  expect(JSON.parse(sent()[0]?.MessageBody ?? '')).toEqual(group);
});

it('the queue returns the wake-ups that SQS refused', async () => {
  const { client } = fakeSqs(({ MessageBody = '' }) => MessageBody.includes('"bad"'));
  const queue = createApplyQueue(client, async () => 'url');
  expect(await queue.wake([ref('good'), { ...ref('bad'), afterMs: 1 }])).toMatchObject([ref('bad')]);
});

it.each([
  { DelaySeconds: 901 },
  { DelaySeconds: -1 },
  { DelaySeconds: 0.5 },
  { MessageDeduplicationId: 'd' },
  { MessageGroupId: 'with a space' },
])('the simulated queue refuses an entry that SQS refuses for a standard queue: %j', async (wrong) => {
  const { client } = fakeSqs();
  const Entries = [{ Id: '0', MessageBody: 'a', MessageGroupId: 'default', ...wrong }];
  const answer = client.send(new SendMessageBatchCommand({ QueueUrl: 'url', Entries }));
  const refused = { Successful: [], Failed: [{ Code: 'InvalidParameterValue' }] };
  await expect(answer).resolves.toMatchObject(refused);
});
