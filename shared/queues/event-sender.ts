import type { SQSClient } from '@aws-sdk/client-sqs';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { EventSender, OutgoingEvent } from '../sync/ports/queues.ts';
import { type Outgoing, sendable, sendEach, textAttributes } from './sqs-batch.ts';

/** The events queue, for what is sent on purpose: each message's fate is told. */
export const createEventSender = (client: SQSClient, queueUrl: () => Promise<string>): EventSender => ({
  send: async (messages) => sendEach(client, await queueUrl(), messages.map(outgoingOf)),
});

function outgoingOf({ body, connection, stamp }: OutgoingEvent): Outgoing {
  const texts = { [MESSAGE_ATTRIBUTES.connection]: connection, [MESSAGE_ATTRIBUTES.stamp]: stamp };
  return { MessageBody: sendable(body), MessageAttributes: textAttributes(texts) };
}
