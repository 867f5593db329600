import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { createEventSender, sendAll, sizeOf } from '../../shared/queues/sqs-batch.ts';
import { fakeSqs } from './fake-sqs.ts';

const messages = (count: number, MessageBody = 'x') => Array.from({ length: count }, () => ({ MessageBody }));

it('a request contains at most ten messages and 1 MiB, counted in UTF-8 and with attributes', async () => {
  const { client, requests } = fakeSqs();
  expect(await sendAll(client, 'url', messages(23))).toEqual(new Set());
  expect(requests.splice(0).map((entries) => entries.length)).toEqual([10, 10, 3]);
  const half = 1_048_576 / 2;
  const exactly = { MessageBody: 'x'.repeat(half) };
  await sendAll(client, 'url', [exactly, exactly, { MessageBody: 'é' }]);
  expect(requests.map((entries) => entries.length).sort()).toEqual([1, 2]);
  const attribute = { a: { DataType: 'String', StringValue: 'ü' } };
  expect(sizeOf({ MessageBody: 'é', MessageAttributes: attribute })).toBe(2 + 1 + 6 + 2);
});

it('sendAll returns the position of the message that SQS refused', async () => {
  const { client } = fakeSqs(({ MessageBody }) => MessageBody === 'bad');
  const all = [...messages(11), { MessageBody: 'bad' }, ...messages(3)];
  expect(await sendAll(client, 'url', all)).toEqual(new Set([11]));
});

it('sendAll returns the positions of all messages if the request fails', async () => {
  const client = { send: () => Promise.reject(new Error('no network')) } as unknown as SQSClient;
  expect(await sendAll(client, 'url', messages(2))).toEqual(new Set([0, 1]));
});

it('sendAll sends no request for an empty list', async () => {
  const { client, requests } = fakeSqs();
  await sendAll(client, 'url', []);
  expect(requests).toEqual([]);
});

it.each([
  ['acme', 'acme'],
  ['no connection', undefined],
  ['', undefined],
  [undefined, undefined],
])('the message group of an event of the connection %j is %j', async (connection, group) => {
  const { client, sent } = fakeSqs();
  const outcomes = await createEventSender(client, async () => 'url').send([{ body: '{}', connection }]);
  expect(outcomes).toEqual([{ messageId: expect.any(String) }]);
  expect(sent().map(({ MessageGroupId }) => MessageGroupId)).toEqual([group]);
});
