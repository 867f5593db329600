import type { SQSClient } from '@aws-sdk/client-sqs';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { EventSender, OutgoingEvent, SendOutcome } from '../sync/ports/queues.ts';
import { type Outgoing, sendable, sendEach, textAttributes } from './sqs-batch.ts';

/** The events queues, for what is sent on purpose: each message's fate is told. */
export const createEventSender = (client: SQSClient, queueUrl: () => Promise<string>): EventSender => ({
  async send(messages) {
    const common = await queueUrl();
    // Queues of one account and region differ in the last part of their addresses.
    const urls = messages.map(({ queue }) =>
      queue === undefined ? common : common.replace(/[^/]*$/, queue),
    );
    const outcomes: SendOutcome[] = [];
    for (const url of new Set(urls)) {
      const positions = [...urls.keys()].filter((position) => urls[position] === url);
      const sent = await sendEach(
        client,
        url,
        positions.map((position) => outgoingOf(messages[position] as OutgoingEvent)),
      );
      for (const [index, position] of positions.entries()) outcomes[position] = sent[index] as SendOutcome;
    }
    return outcomes;
  },
});

function outgoingOf({ body, connection, stamp }: OutgoingEvent): Outgoing {
  const texts = { [MESSAGE_ATTRIBUTES.connection]: connection, [MESSAGE_ATTRIBUTES.stamp]: stamp };
  return { MessageBody: sendable(body), MessageAttributes: textAttributes(texts) };
}
