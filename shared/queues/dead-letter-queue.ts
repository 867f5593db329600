import type { MessageAttributeValue, SQSClient } from '@aws-sdk/client-sqs';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { DeadLetter, DeadLetterQueue } from '../sync/ports/queue.ts';
import { laneOf, tupleHash } from './lane.ts';
import { type Outgoing, sendAll, sizeOf } from './sqs-batch.ts';

export interface DeadLetterQueueOptions {
  readonly queueUrl: string;
  /** Which function buries. */
  readonly source: 'ingest' | 'apply';
  readonly clock: () => number;
}

const MAX_TEXT = 500;
/** A message has at most 1 MiB, and emulators refuse a little less; an excerpt is for people, not for replay. */
const MAX_MESSAGE_BYTES = 1_000_000;
const EXCERPT_CHARACTERS = 10_000;

export function createDeadLetterQueue(client: SQSClient, options: DeadLetterQueueOptions): DeadLetterQueue {
  return {
    async bury(letters) {
      const messages = letters.map((letter) => messageOf(letter, options));
      const refused = await sendAll(client, options.queueUrl, messages);
      return letters.filter((_, position) => refused.has(position)).map(({ messageId }) => messageId);
    },
  };
}

function messageOf(letter: DeadLetter, options: DeadLetterQueueOptions): Outgoing {
  const message = {
    MessageBody: sendable(letter.body),
    MessageAttributes: attributesOf(letter, options),
    ...(letter.group === undefined
      ? {}
      : {
          MessageGroupId: laneOf(letter.group),
          MessageDeduplicationId: tupleHash(letter.messageId, letter.code),
        }),
  };
  if (sizeOf(message) <= MAX_MESSAGE_BYTES) return message;
  return {
    ...message,
    MessageBody: sendable(start(letter.body, EXCERPT_CHARACTERS)),
    MessageAttributes: attributesOf({ ...letter, code: 'too_large' }, options),
  };
}

function attributesOf(letter: DeadLetter, { source, clock }: DeadLetterQueueOptions) {
  const texts = {
    [MESSAGE_ATTRIBUTES.errorCode]: letter.code,
    [MESSAGE_ATTRIBUTES.errorMessage]: printable(letter.message),
    [MESSAGE_ATTRIBUTES.failedAt]: new Date(clock()).toISOString(),
    [MESSAGE_ATTRIBUTES.originalMessageId]: letter.messageId,
    [MESSAGE_ATTRIBUTES.source]: source,
    [MESSAGE_ATTRIBUTES.connection]: letter.connection,
    [MESSAGE_ATTRIBUTES.stamp]: letter.stamp,
  };
  const attributes: Record<string, MessageAttributeValue> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined && text !== '') attributes[name] = { DataType: 'String', StringValue: text };
  }
  return attributes;
}

/** SQS refuses these two code points raw, and an empty body; in JSON an escape says the same. */
const sendable = (body: string): string =>
  body === '' ? ' ' : body.replace(/[\ufffe\uffff]/g, (point) => `\\u${point.charCodeAt(0).toString(16)}`);

/** SQS refuses control characters in attributes. */
const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  start(text.replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/g, ' '), MAX_TEXT);

/** The beginning of a text, never ending in half of a character, which SQS refuses. */
const start = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
