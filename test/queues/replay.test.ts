import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { outgoing } from '../../shared/operate/dead-letters/replay.ts';
import { createMailbox } from '../../shared/queues/mailbox.ts';
import { createEventSender } from '../../shared/queues/sqs-batch.ts';

const text = (StringValue: string) => ({ StringValue, DataType: 'String' });
interface Entry {
  readonly Id: string;
  readonly MessageAttributes: Readonly<Record<string, { readonly StringValue: string }>>;
}

const ARN = 'arn:aws:sqs:eu-west-1:111122223333:';
const OWN = text('groupsync-events-okta');

describe('a dead letter that is sent again', () => {
  it.each<[string, object, string, string?]>([
    [
      'refused, of a source with a queue of its own',
      { MessageAttributes: { queue: OWN } },
      'groupsync-events-okta',
    ],
    [
      'moved by SQS from there, whatever the producer wrote beside it',
      {
        Attributes: { DeadLetterQueueSourceArn: `${ARN}groupsync-events-okta` },
        MessageAttributes: { queue: text('groupsync-events-entra') },
      },
      'groupsync-events-okta',
    ],
    [
      'moved by SQS from the common queue',
      { Attributes: { DeadLetterQueueSourceArn: `${ARN}groupsync-events` } },
      'groupsync-events',
    ],
    ['of which nothing is known', {}, 'groupsync-events'],
    [
      'that failed before, with how often and when first',
      {
        Attributes: { SentTimestamp: String(Date.parse('2026-11-20')) },
        MessageAttributes: { failedBefore: text('2 2026-11-01T00:00:00.000Z') },
      },
      'groupsync-events',
      '3 2026-11-01T00:00:00.000Z',
    ],
    [
      'whose past nobody can have written',
      { MessageAttributes: { failedBefore: text('-1 2999-01-01') } },
      'groupsync-events',
    ],
  ])(
    'goes back to the queue that it came from: %s',
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
      const mailbox = createMailbox(client, { name: 'events', queueUrl: url('groupsync-events-dlq') });
      const letters = await mailbox.take(1, 30);
      const sender = createEventSender(client, url('groupsync-events'), async () => ({ id: 'ann' }));
      const outcomes = await sender.send([{ body: 'common' }, ...letters.map(outgoing)]);
      expect(outcomes.every(({ messageId }) => messageId?.startsWith('sent'))).toBe(true);
      expect(outcomes).toHaveLength(2);
      expect(said.at(-1)).toMatchObject({ failedBefore: text(past), sentBy: text('ann') });
      expect(urls.at(-1)).toBe(`https://sqs.test/111122223333/${queue}`);
    },
  );
});
