import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { outgoing } from '../../shared/operate/dead-letters/replay.ts';
import { createDeadLetterQueue } from '../../shared/queues/dead-letter-queue.ts';
import { createMailbox } from '../../shared/queues/mailbox.ts';
import { createEventSender } from '../../shared/queues/sqs-batch.ts';
import { acceptEvents, Failures } from '../../shared/sync/ingest/accept.ts';
import { createQueues, queueUrl } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import { bindingOf, OF_ACME } from '../support/operate/world.ts';

const text = (StringValue: string) => ({ StringValue, DataType: 'String' });
interface Entry {
  readonly Id: string;
  readonly MessageAttributes: Readonly<Record<string, { readonly StringValue: string }>>;
}

const [COMMON, OWN] = ['groupsync-events', OF_ACME.queue];
const wrote = (name: string, value: string) => ({ MessageAttributes: { [name]: text(value) } });
const movedFrom = (queue: string) => ({
  Attributes: { DeadLetterQueueSourceArn: `arn:aws:sqs:eu-west-1:111122223333:${queue}` },
});

it('a mailbox retries messages that SQS failed to delete, and throws after the last attempt', async () => {
  const { of, client } = createQueues({ nowMs: () => 0, random: seededRandom(1) });
  const take = async (failures: number) => {
    for (let left = 8; left > 0; left -= 1) of.eventsDlq.send({ body: '{}' });
    const sqs = client(async (operation) =>
      operation.startsWith('Delete') && failures-- > 0 ? 'partly' : undefined,
    );
    const mailbox = createMailbox(sqs, { name: 'events', queueUrl: async () => queueUrl('eventsDlq') });
    await mailbox.remove(await mailbox.take(10, 30));
  };
  await take(2);
  expect(of.eventsDlq.messages).toEqual([]);
  await expect(take(9)).rejects.toThrow('1 messages could not be deleted: InternalError');
});

it.each<[string, object, string, string?]>([
  ['refused by ingest, from a queue of its own', wrote('queue', OWN), OWN],
  [
    'moved by SQS from a queue of its own, with wrong attributes of the producer',
    { ...movedFrom(OWN), ...wrote('queue', 'groupsync-events-entra') },
    OWN,
  ],
  ['moved by SQS from the common queue', movedFrom(COMMON), COMMON],
  ['without a source queue', {}, COMMON],
  [
    'failed three times, with the time of the first failure',
    {
      Attributes: { SentTimestamp: String(Date.parse('2026-11-20')) },
      ...wrote('failedBefore', '2 2026-11-01T00:00:00.000Z'),
    },
    COMMON,
    '3 2026-11-01T00:00:00.000Z',
  ],
  ['with an impossible failure time', wrote('failedBefore', '-1 2999-01-01'), COMMON],
])(
  'a dead-lettered message is replayed to the queue that it came from: %s',
  async (_, over, queue, past = '1 1970-01-01T00:00:00.000Z') => {
    const urls: string[] = [];
    const said: unknown[] = [];
    const client = {
      send: async ({ input }: { input: { QueueUrl: string; Entries?: readonly Entry[] } }) => {
        if (input.Entries === undefined) return { Messages: [{ MessageId: 'm', Body: '{}', ...over }] };
        urls.push(input.QueueUrl);
        said.push(input.Entries.at(-1)?.MessageAttributes);
        return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: `sent ${Id}` })) };
      },
    } as unknown as SQSClient;
    const url = (name: string) => async () => `https://sqs.test/111122223333/${name}`;
    const mailbox = createMailbox(client, {
      name: 'events',
      queueUrl: url('groupsync-events-dlq'),
      bindingOf,
    });
    const deadLetters = await mailbox.take(1, 30);
    expect(deadLetters[0]?.bound).toBe(await bindingOf(queue));
    const sender = createEventSender(client, url(COMMON), async () => ({ id: 'ann' }));
    const outcomes = await sender.send([{ body: 'common' }, ...deadLetters.map(outgoing)]);
    expect(outcomes.every(({ messageId }) => messageId?.startsWith('sent'))).toBe(true);
    expect(outcomes).toHaveLength(2);
    expect(said.at(-1)).toMatchObject({ failedBefore: text(past), sentBy: text('ann') });
    expect(urls.at(-1)).toBe(`https://sqs.test/111122223333/${queue}`);
  },
);

it('a replay by another operator keeps the operator who sent the refused message by hand', async () => {
  const clock = () => Date.UTC(2026, 10, 20);
  const { of, client } = createQueues({ nowMs: clock, random: seededRandom(1) });
  const sqs = client();
  const dlq = queueUrl('eventsDlq');
  const deadLetters = createDeadLetterQueue(sqs, { queueUrl: dlq, source: 'ingest', clock });
  const connections = { find: async () => undefined, list: async () => [] };
  const message = { messageId: 'm', body: '{', sentAtMs: clock(), sentBy: 'ann' };
  await acceptEvents([message], { deadLetters, connections, clock }, new Failures());
  const taken = await createMailbox(sqs, { name: 'events', queueUrl: async () => dlq }).take(1, 30);
  const sender = createEventSender(
    sqs,
    async () => queueUrl('events'),
    async () => ({ id: 'bob' }),
  );
  await sender.send([...taken.map(outgoing), { body: 'by hand' }]);
  expect(of.events.messages.map(({ attributes }) => attributes['sentBy'])).toEqual(['ann', 'bob']);
});
