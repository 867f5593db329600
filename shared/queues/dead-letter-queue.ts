import type { SQSClient } from '@aws-sdk/client-sqs';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { DeadLetterQueue, RejectedMessage } from '../sync/ports/queues.ts';
import { MAX_BYTES, type Outgoing, sendAll, sendable, sizeOf, textAttributes } from './sqs-batch.ts';

export interface DeadLetterQueueOptions {
  readonly queueUrl: string;
  /** Which function sends to the dead-letter queue. */
  readonly source: 'ingest' | 'apply';
  readonly clock: () => number;
}

/** Characters of a text attribute: of the reason as many as leave the body whole. */
const MAX_TEXT = 500;
const MAX_PAST = 40;
const REASON_LENGTHS = [MAX_TEXT, 60];

export function createDeadLetterQueue(client: SQSClient, options: DeadLetterQueueOptions): DeadLetterQueue {
  return {
    async send(deadLetters) {
      const messages = new Map(deadLetters.map((deadLetter) => [deadLetter, messageOf(deadLetter, options)]));
      // SQS moves the whole message in the end: sending to the dead-letter queue other parts of it until then would repeat them.
      const left = new Set(deadLetters.filter((one) => !messages.get(one)).map(({ messageId }) => messageId));
      const sent = deadLetters.filter(({ messageId }) => !left.has(messageId));
      const outgoing = sent.flatMap((deadLetter) => messages.get(deadLetter) ?? []);
      const refused = await sendAll(client, options.queueUrl, outgoing);
      const unaccepted = sent.filter((_, position) => refused.has(position));
      return [...left, ...unaccepted.map(({ messageId }) => messageId)];
    },
  };
}

/** undefined: it does not fit into one message with the little that must be said of it. */
function messageOf(deadLetter: RejectedMessage, options: DeadLetterQueueOptions): Outgoing | undefined {
  return REASON_LENGTHS.map((length) => ({
    MessageBody: sendable(deadLetter.body),
    MessageAttributes: attributesOf(
      { ...deadLetter, message: start(printable(deadLetter.message), length) },
      options,
    ),
  })).find((whole) => sizeOf(whole) <= MAX_BYTES);
}

function attributesOf(deadLetter: RejectedMessage, { source, clock }: DeadLetterQueueOptions) {
  return textAttributes({
    [MESSAGE_ATTRIBUTES.errorCode]: deadLetter.code,
    [MESSAGE_ATTRIBUTES.errorMessage]: deadLetter.message,
    [MESSAGE_ATTRIBUTES.failedAt]: new Date(clock()).toISOString(),
    [MESSAGE_ATTRIBUTES.originalMessageId]: printable(deadLetter.messageId),
    [MESSAGE_ATTRIBUTES.source]: source,
    [MESSAGE_ATTRIBUTES.queue]: deadLetter.queue,
    [MESSAGE_ATTRIBUTES.connection]:
      deadLetter.connection && start(printable(deadLetter.connection), MAX_TEXT),
    [MESSAGE_ATTRIBUTES.stamp]: deadLetter.stamp,
    [MESSAGE_ATTRIBUTES.failedBefore]:
      deadLetter.failedBefore && start(printable(deadLetter.failedBefore), MAX_PAST),
  });
}

/** SQS refuses control characters in attributes, and half characters anywhere. */
const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  text.replace(/[\u0000-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/gu, ' ');

/** The beginning of a text, never ending in half of a character, which SQS refuses. */
const start = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
