import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { BoundQueue } from '../contract/decode.ts';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { DeadMessage, Mailbox } from '../sync/ports/queues.ts';
import { BATCH, hide, inTens } from './visibility.ts';

interface MailboxOptions {
  readonly name: 'events' | 'apply';
  /** Called for each request. @throws Error if the queue does not exist */
  readonly queueUrl: () => Promise<string>;
  /**
   * Returns the connection to which all messages of a queue belong. In the queue of the directory reader, messages
   * belong to several connections, and the attribute `connection` of each message names one.
   */
  readonly bindingOf?: (
    queue: string | undefined,
    connection: string | undefined,
  ) => Promise<BoundQueue | undefined>;
}

/** With a long poll, SQS asks all its servers. A short poll asks only some servers, and could miss messages. */
const WAIT_SECONDS = 1;
/** The SDK repeats failed requests, but not the failed entries of a request. */
const TRIES = 3;

export function createMailbox(client: SQSClient, { name, queueUrl, bindingOf }: MailboxOptions): Mailbox {
  return {
    name,

    async take(most, holdSeconds) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: await queueUrl(),
          MaxNumberOfMessages: Math.min(BATCH, most),
          VisibilityTimeout: holdSeconds,
          WaitTimeSeconds: WAIT_SECONDS,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        }),
      );
      const deadLetters = Messages.map(messageOf);
      return Promise.all(
        deadLetters.map(async (one) => ({ ...one, bound: await bindingOf?.(one.queue, one.connection) })),
      );
    },

    hold: async (messages, holdSeconds) => hide(client, await queueUrl(), messages, holdSeconds),

    giveBack: async (messages) => hide(client, await queueUrl(), messages, 0),

    async remove(messages) {
      const QueueUrl = await queueUrl();
      for (const batch of inTens(messages)) {
        let Entries = batch;
        for (let triesLeft = TRIES; Entries.length > 0; triesLeft -= 1) {
          const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
          Entries = Entries.filter((entry) => Failed.some(({ Id }) => Id === entry.Id));
          if (Entries.length > 0 && triesLeft === 1)
            throw new Error(`${Entries.length} messages could not be deleted: ${Failed[0]?.Code}`);
        }
      }
    },

    async counts() {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({
          QueueUrl: await queueUrl(),
          AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      );
      return {
        visible: Number(Attributes['ApproximateNumberOfMessages'] ?? 0),
        inFlight: Number(Attributes['ApproximateNumberOfMessagesNotVisible'] ?? 0),
      };
    },
  };
}

function messageOf({
  MessageId = '',
  ReceiptHandle = '',
  Body = '',
  Attributes,
  MessageAttributes,
}: Message): DeadMessage {
  const text = (name: string) => MessageAttributes?.[name]?.StringValue;
  const sentAtMs = Number(Attributes?.SentTimestamp ?? 0);
  // A message that SQS itself moved has only the name of its source queue, and no reason.
  const movedFrom = Attributes?.DeadLetterQueueSourceArn?.split(':').at(-1);
  const failedAt = Date.parse(text(MESSAGE_ATTRIBUTES.failedAt) ?? '');
  const failedAtMs = Number.isNaN(failedAt) ? sentAtMs : failedAt;
  const [times = '', first = ''] = text(MESSAGE_ATTRIBUTES.failedBefore)?.split(' ') ?? [];
  const isAgain = /^[1-9]\d{0,8}$/.test(times) && Date.parse(first) <= failedAtMs;
  return {
    id: MessageId,
    receipt: ReceiptHandle,
    body: Body,
    sentAtMs,
    code: text(MESSAGE_ATTRIBUTES.errorCode) ?? 'retries_exhausted',
    message:
      text(MESSAGE_ATTRIBUTES.errorMessage) ??
      'the function failed on every attempt; its log shows the reason',
    failedAtMs,
    failures: isAgain ? Number(times) + 1 : 1,
    firstFailedAtMs: isAgain ? Date.parse(first) : failedAtMs,
    connection: text(MESSAGE_ATTRIBUTES.connection),
    stamp: text(MESSAGE_ATTRIBUTES.stamp),
    sentBy: text(MESSAGE_ATTRIBUTES.sentBy),
    originalMessageId: text(MESSAGE_ATTRIBUTES.originalMessageId),
    queue: movedFrom ?? text(MESSAGE_ATTRIBUTES.queue),
  };
}
