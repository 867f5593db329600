import {
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { EventSender, OutgoingEvent, SendOutcome } from '../sync/ports/queues.ts';
import { batchesOf, type Outgoing, sendable, textAttributes } from './sqs-batch.ts';

const BATCHES_IN_FLIGHT = 4;

/** The events queue, for what is sent on purpose: each message's fate is told. */
export function createEventSender(client: SQSClient, queueUrl: () => Promise<string>): EventSender {
  return {
    async send(messages) {
      const outgoing = messages.map(outgoingOf);
      const outcomes: SendOutcome[] = messages.map(() => ({ refused: 'not sent' }));
      const QueueUrl = await queueUrl();
      await pMap(
        batchesOf(outgoing),
        async (positions) => {
          const Entries = positions.map((position) => ({ ...outgoing[position], Id: String(position) }));
          try {
            const answer = await client.send(
              new SendMessageBatchCommand({ QueueUrl, Entries: Entries as SendMessageBatchRequestEntry[] }),
            );
            for (const { Id, MessageId = '' } of answer.Successful ?? []) {
              outcomes[Number(Id)] = { messageId: MessageId };
            }
            for (const { Id, Code, Message } of answer.Failed ?? []) {
              outcomes[Number(Id)] = { refused: Message ?? Code ?? 'refused' };
            }
          } catch (error) {
            const refused = error instanceof Error ? error.message : String(error);
            for (const position of positions) outcomes[position] = { refused };
          }
        },
        { concurrency: BATCHES_IN_FLIGHT },
      );
      return outcomes;
    },
  };
}

function outgoingOf({ body, connection, stamp }: OutgoingEvent): Outgoing {
  const texts = { [MESSAGE_ATTRIBUTES.connection]: connection, [MESSAGE_ATTRIBUTES.stamp]: stamp };
  return { MessageBody: sendable(body), MessageAttributes: textAttributes(texts) };
}
