import { describe, expect, it } from 'vitest';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { createDeadLetterQueue } from '../../shared/queues/dead-letter-queue.ts';
import type { DeadLetter } from '../../shared/sync/ports/queue.ts';
import { fakeSqs } from './fake-sqs.ts';

const letter = (over: Partial<DeadLetter> = {}): DeadLetter => ({
  messageId: 'm1',
  body: '{"a":1}',
  code: 'invalid_event',
  message: 'expected an event',
  ...over,
});

async function bury(...letters: DeadLetter[]) {
  const sqs = fakeSqs(({ MessageBody }) => MessageBody === 'refused');
  const clock = () => Date.UTC(2026, 10, 20, 10);
  const queue = createDeadLetterQueue(sqs.client, { queueUrl: 'url', source: 'ingest', clock });
  const refused = await queue.bury(letters);
  const [first] = sqs.sent();
  const attributes = Object.fromEntries(
    Object.entries(first?.MessageAttributes ?? {}).map(([name, { StringValue }]) => [name, StringValue]),
  );
  return { refused, first, attributes };
}

describe('a dead letter', () => {
  it('is the original body with the reason as attributes', async () => {
    const { first, attributes } = await bury(letter());
    expect(first?.MessageBody).toBe('{"a":1}');
    expect(attributes).toEqual({
      errorCode: 'invalid_event',
      errorMessage: 'expected an event',
      failedAt: '2026-11-20T10:00:00.000Z',
      originalMessageId: 'm1',
      source: 'ingest',
    });
  });

  it('keeps connection and stamp of the original, so that a replay means the same', async () => {
    const stamp = 'a stamp' as NonNullable<DeadLetter['stamp']>;
    const { attributes } = await bury(letter({ connection: 'acme', stamp }));
    expect(attributes).toMatchObject({ connection: 'acme', stamp: 'a stamp' });
  });

  it('has a reason that SQS takes: no control characters, at most 500, no half of a character', async () => {
    const { attributes } = await bury(
      letter({ message: `a\u0000\u001b[31m\n\u0085\ufffeb${'x'.repeat(491)}🚀` }),
    );
    const message = String(attributes['errorMessage']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone
    expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/);
    expect(message.length).toBeLessThanOrEqual(500);
    expect(Buffer.from(message, 'utf8').toString('utf8')).toBe(message);
  });

  it('has a body that SQS takes, and one that reads the same as JSON', async () => {
    const { first } = await bury(letter({ body: '{"a":"\ufffe"}' }));
    expect(first?.MessageBody).toBe('{"a":"\\ufffe"}');
    expect((await bury(letter({ body: '' }))).first?.MessageBody).toBe(' ');
  });

  it('that does not fit is an excerpt with the code too_large', async () => {
    const { first, attributes } = await bury(
      letter({ body: `${'x'.repeat(9_999)}🚀${'y'.repeat(1_000_000)}` }),
    );
    expect(attributes['errorCode']).toBe('too_large');
    const body = first?.MessageBody ?? '';
    expect(body.length).toBeLessThanOrEqual(10_000);
    expect(Buffer.from(body, 'utf8').toString('utf8')).toBe(body);
  });

  it('of the apply queue stays in its lane, and a repetition is dropped', async () => {
    const group = { connection: connectionName('default'), group: groupId('g 1') };
    const [one, again] = [await bury(letter({ group })), await bury(letter({ group }))];
    expect(one.first?.MessageGroupId).toMatch(/^[0-9a-f]{64}$/);
    expect(again.first?.MessageDeduplicationId).toBe(one.first?.MessageDeduplicationId);
    const other = await bury(letter({ group, messageId: 'm2' }));
    expect(other.first?.MessageDeduplicationId).not.toBe(one.first?.MessageDeduplicationId);
  });

  it('that the queue does not take is named', async () => {
    const { refused } = await bury(letter(), letter({ messageId: 'm2', body: 'refused' }));
    expect(refused).toEqual(['m2']);
  });
});
