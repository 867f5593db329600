import { expect, it } from 'vitest';
import { createDeadLetterQueue } from '../../shared/queues/dead-letter-queue.ts';
import type { RejectedMessage } from '../../shared/sync/ports/queues.ts';
import { fakeSqs } from './fake-sqs.ts';

const deadLetter = (over: Partial<RejectedMessage> = {}): RejectedMessage => ({
  messageId: 'm1',
  body: '{"a":1}',
  code: 'invalid_event',
  message: 'expected an event',
  ...over,
});

async function send(...deadLetters: RejectedMessage[]) {
  const sqs = fakeSqs(({ MessageBody }) => MessageBody === 'refused');
  const clock = () => Date.UTC(2026, 10, 20, 10);
  const queue = createDeadLetterQueue(sqs.client, { queueUrl: 'url', source: 'ingest', clock });
  const refused = await queue.send(deadLetters);
  const [first] = sqs.sent();
  const attributes = Object.fromEntries(
    Object.entries(first?.MessageAttributes ?? {}).map(([name, { StringValue }]) => [name, StringValue]),
  );
  return { refused, first, attributes, requests: sqs.requests };
}

it('a dead-lettered message contains the original body, and the reason as message attributes', async () => {
  const { first, attributes } = await send(deadLetter());
  expect(first?.MessageBody).toBe('{"a":1}');
  expect(attributes).toEqual({
    errorCode: 'invalid_event',
    errorMessage: 'expected an event',
    failedAt: '2026-11-20T10:00:00.000Z',
    originalMessageId: 'm1',
    source: 'ingest',
  });
});

it('a dead-lettered message keeps the connection and stamp of the original message', async () => {
  const stamp = 'a stamp' as NonNullable<RejectedMessage['stamp']>;
  const { attributes } = await send(deadLetter({ connection: 'acme', stamp }));
  expect(attributes).toMatchObject({ connection: 'acme', stamp: 'a stamp' });
});

it('a dead-letter reason has at most 500 characters, no control character and no half of a surrogate pair', async () => {
  const { attributes } = await send(
    deadLetter({ message: `a\u0000\u001b[31m\n\u0085\ufffeb${'x'.repeat(491)}🚀` }),
  );
  const message = String(attributes['errorMessage']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone
  expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/);
  expect(message.length).toBeLessThanOrEqual(500);
  expect(Buffer.from(message, 'utf8').toString('utf8')).toBe(message);
});

it('a dead-lettered body contains only characters that SQS accepts, and has the same content as JSON', async () => {
  const { first } = await send(deadLetter({ body: '{"a":"\ufffe"}' }));
  expect(first?.MessageBody).toBe('{"a":"\\ufffe"}');
  expect((await send(deadLetter({ body: '' }))).first?.MessageBody).toBe(' ');
});

const MIB = 1_048_576;
const ofSize = (length: number, over: Partial<RejectedMessage> = {}) =>
  deadLetter({ body: 'x'.repeat(length), ...over });

it('a dead-lettered message of the maximum size is sent whole, alone in its request', async () => {
  const { refused, requests } = await send(ofSize(MIB - 250), deadLetter({ messageId: 'm2' }));
  expect(refused).toEqual([]);
  expect(requests.map((entries) => entries.map(({ MessageBody = '' }) => MessageBody.length))).toEqual(
    expect.arrayContaining([[MIB - 250], [7]]),
  );
  expect(
    requests.flat().map(({ MessageAttributes }) => MessageAttributes?.['errorCode']?.StringValue),
  ).toEqual(['invalid_event', 'invalid_event']);
});

it('a dead-lettered message of the maximum size has a shorter reason, but the whole body', async () => {
  const { refused, attributes } = await send(ofSize(MIB - 400, { message: 'é'.repeat(500) }));
  expect(refused).toEqual([]);
  expect(attributes['errorMessage']).toMatch(/^é{10,100}$/);
});

it('a message that is too large even with the shortest reason is left in its queue', async () => {
  const { refused, requests } = await send(
    deadLetter({ messageId: 'm1' }),
    ofSize(MIB - 100, { messageId: 'm1' }),
    deadLetter({ messageId: 'm2' }),
  );
  expect(refused).toEqual(['m1']);
  expect(requests.flat()).toHaveLength(1);
});

it('connection and message id are shortened in a dead-lettered message if SQS would refuse them', async () => {
  const { refused, attributes } = await send(
    ofSize(MIB - 2_000, { connection: `a\u0000\ud800${'b'.repeat(600_000)}`, messageId: 'm\u0001' }),
  );
  expect(refused).toEqual([]);
  expect(attributes['connection']).toMatch(/^a {2}b{100,}$/);
  expect(attributes['originalMessageId']).toBe('m ');
});

it('send returns the id of a message that the dead-letter queue refused', async () => {
  const { refused } = await send(deadLetter(), deadLetter({ messageId: 'm2', body: 'refused' }));
  expect(refused).toEqual(['m2']);
});
