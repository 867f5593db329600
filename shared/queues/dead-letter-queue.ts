import type { SQSClient } from '@aws-sdk/client-sqs';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { DeadLetterQueue, RejectedMessage } from '../sync/ports/queues.ts';
import { MAX_BYTES, type Outgoing, sendAll, sendable, sizeOf, textAttributes } from './sqs-batch.ts';

interface DeadLetterQueueOptions {
  readonly queueUrl: string;
  readonly source: 'ingest' | 'apply';
  readonly clock: () => number;
}

/**
 * Maximum lengths of the text attributes, in characters. `messageOf` takes the first of `REASON_LENGTHS` with which the
 * whole body fits into the message.
 */
const MAX_TEXT = 500;
const MAX_PAST = 40;
const REASON_LENGTHS = [MAX_TEXT, 60];

export function createDeadLetterQueue(client: SQSClient, options: DeadLetterQueueOptions): DeadLetterQueue {
  return {
    async send(deadLetters) {
      const messages = new Map(deadLetters.map((deadLetter) => [deadLetter, messageOf(deadLetter, options)]));
      // One received message can have several parts. If one part does not fit, no part of the message is sent: SQS
      // later moves the whole message to the dead-letter queue, and would duplicate each part that was sent.
      const left = new Set(deadLetters.filter((one) => !messages.get(one)).map(({ messageId }) => messageId));
      const sent = deadLetters.filter(({ messageId }) => !left.has(messageId));
      const outgoing = sent.flatMap((deadLetter) => messages.get(deadLetter) ?? []);
      const refused = await sendAll(client, options.queueUrl, outgoing);
      const unaccepted = sent.filter((_, position) => refused.has(position));
      return [...left, ...unaccepted.map(({ messageId }) => messageId)];
    },
  };
}

/** Returns undefined if the message does not fit into one SQS message, even with a short reason. */
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
    [MESSAGE_ATTRIBUTES.sentBy]: deadLetter.sentBy,
    [MESSAGE_ATTRIBUTES.failedBefore]:
      deadLetter.failedBefore && start(printable(deadLetter.failedBefore), MAX_PAST),
  });
}

/** Replaces the characters that SQS refuses in attributes: control characters and lone surrogates. */
const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  text.replace(/[\u0000-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/gu, ' ');

/** Returns the first characters of a text, without half of a surrogate pair at the end. SQS refuses such a half. */
const start = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
