import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { expect, it, vi } from 'vitest';
import type { EventLine } from '../../local/event-files.ts';
import { publish } from '../../local/publish.ts';
import { startQueue } from './support/queue.ts';

const lines = (...texts: string[]): EventLine[] =>
  texts.map((text, index) => ({ file: 'events.jsonl', line: index + 1, text }));

const batchSizes = (client: SQSClient) =>
  vi
    .mocked(client.send)
    .mock.calls.map(([command]) => command as unknown)
    .filter((command) => command instanceof SendMessageBatchCommand)
    .map((command) => command.input.Entries?.length);

it('each line is sent unchanged as one message, and each request has at most ten messages', async () => {
  const { client, queueUrl, count } = await startQueue();
  vi.spyOn(client, 'send');
  const texts = Array.from({ length: 23 }, (_, n) => `not json ${n} "🚀`);
  expect(await publish(client, queueUrl, lines(...texts))).toEqual({ sent: 23, refused: [] });
  expect(batchSizes(client)).toEqual([10, 10, 3]);
  expect(await count(queueUrl)).toBe(23);
});

it('lines that SQS refuses are reported, and the other lines are sent', async () => {
  const { client, queueUrl, count } = await startQueue();
  const all = lines('good', 'x'.repeat(1_048_577), 'control \u0001', 'fine');
  const { sent, refused } = await publish(client, queueUrl, all);
  expect(sent).toBe(2);
  expect(refused.map(({ line }) => line.line)).toEqual([2, 3]);
  expect(refused[0]?.reason).toContain('1048576');
  expect(refused[1]?.reason).toContain('Invalid characters');
  expect(await count(queueUrl)).toBe(2);
});

it('a message is sent again if SQS reports a failure that the sender did not cause', async () => {
  const { client, queueUrl, count } = await startQueue();
  const send = client.send.bind(client);
  let failures = 2;
  vi.spyOn(client, 'send').mockImplementation(((command: SendMessageBatchCommand) => {
    if (failures-- <= 0) return send(command);
    const Failed = command.input.Entries?.map(({ Id }) => ({ Id, SenderFault: false, Code: 'Throttled' }));
    return Promise.resolve({ Failed });
  }) as never);
  expect(await publish(client, queueUrl, lines('a', 'b'))).toEqual({ sent: 2, refused: [] });
  vi.restoreAllMocks();
  expect(await count(queueUrl)).toBe(2);
});
