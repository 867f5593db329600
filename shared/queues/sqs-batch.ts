import type { MessageAttributeValue, SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { MESSAGE_ATTRIBUTES } from '../contract/names.ts';
import type { EventSender, OutgoingEvent, SendOutcome } from '../sync/ports/queues.ts';

export const createEventSender = (
  client: SQSClient,
  queueUrl: () => Promise<string>,
  /** Returns the operator who sends the messages by hand. The message attribute `sentBy` contains the operator's id. */
  caller?: () => Promise<{ readonly id: string }>,
): EventSender => ({
  async send(messages) {
    const common = await queueUrl();
    const sentBy = (await caller?.())?.id;
    // In one account and region, queue URLs differ only in their last part.
    const urls = messages.map(({ queue }) =>
      queue === undefined ? common : common.replace(/[^/]*$/, queue),
    );
    const outcomes: SendOutcome[] = [];
    for (const url of new Set(urls)) {
      const positions = [...urls.keys()].filter((position) => urls[position] === url);
      const outgoing = positions.map((position) => outgoingOf(messages[position] as OutgoingEvent, sentBy));
      const sent = await sendEach(client, url, outgoing);
      for (const [index, position] of positions.entries()) outcomes[position] = sent[index] as SendOutcome;
    }
    return outcomes;
  },
});

/**
 * SQS delivers the messages of each message group in turn (fair queues), so an import of one connection does not delay
 * the others. A replayed message may name a connection that SQS refuses as a group.
 */
const CONNECTION = /^[a-z0-9-]{1,32}$/;

function outgoingOf({ body, connection, stamp, failedBefore, sentBy }: OutgoingEvent, caller?: string) {
  const texts = {
    [MESSAGE_ATTRIBUTES.connection]: connection,
    [MESSAGE_ATTRIBUTES.stamp]: stamp,
    [MESSAGE_ATTRIBUTES.sentBy]: sentBy ?? caller,
    [MESSAGE_ATTRIBUTES.failedBefore]: failedBefore,
  };
  const [group] = CONNECTION.exec(connection ?? '') ?? [];
  return {
    MessageBody: sendable(body),
    MessageAttributes: textAttributes(texts),
    ...(group !== undefined && { MessageGroupId: group }),
  };
}

/** SendMessageBatch takes at most 10 messages (Amazon SQS quotas). */
const BATCH_SIZE = 10;
const BATCHES_IN_FLIGHT = 8;

/** The maximum size of a message, and also of a batch, including bodies and attributes (Amazon SQS quotas: 1 MiB). */
export const MAX_BYTES = 1_048_576;

export type Outgoing = Omit<SendMessageBatchRequestEntry, 'Id'>;

/** Sends messages in as few requests as possible. Returns their outcomes in the same order. Never throws. */
async function sendEach(client: SQSClient, QueueUrl: string, messages: readonly Outgoing[]) {
  const outcomes: SendOutcome[] = messages.map(() => ({ refused: 'not sent' }));
  const sendPositions = async (positions: readonly number[]) => {
    const entries = positions.map((position) => ({ ...messages[position], Id: String(position) }));
    const batch = await sendBatch(client, QueueUrl, entries as SendMessageBatchRequestEntry[]);
    for (const [id, outcome] of batch) outcomes[Number(id)] = outcome;
  };
  await pMap(batchesOf(messages), sendPositions, { concurrency: BATCHES_IN_FLIGHT });
  return outcomes;
}

type BatchOutcomes = Map<string | undefined, SendOutcome>;

/** Sends one request. Never throws. @returns the outcome of each message by its id in the request */
async function sendBatch(client: SQSClient, QueueUrl: string, Entries: SendMessageBatchRequestEntry[]) {
  try {
    const request = new SendMessageBatchCommand({ QueueUrl, Entries });
    const { Successful = [], Failed = [] } = await client.send(request);
    const outcomes: BatchOutcomes = new Map();
    for (const { Id, MessageId = '' } of Successful) outcomes.set(Id, { messageId: MessageId });
    for (const { Id, Code, Message } of Failed) outcomes.set(Id, { refused: Message ?? Code ?? 'refused' });
    return outcomes;
  } catch (error) {
    const refused = error instanceof Error ? error.message : String(error);
    return new Map(Entries.map(({ Id }) => [Id, { refused }])) satisfies BatchOutcomes;
  }
}

/** Sends messages. Never throws. @returns the positions of the messages that were not sent, for any reason */
export async function sendAll(...sending: Parameters<typeof sendEach>): Promise<ReadonlySet<number>> {
  const outcomes = await sendEach(...sending);
  return new Set([...outcomes.keys()].filter((position) => outcomes[position]?.messageId === undefined));
}

function batchesOf(messages: readonly Outgoing[]): readonly number[][] {
  const batches: number[][] = [];
  let current: number[] = [];
  let bytes = 0;
  for (const [position, message] of messages.entries()) {
    const size = sizeOf(message);
    if (current.length === BATCH_SIZE || (current.length > 0 && bytes + size > MAX_BYTES)) {
      batches.push(current);
      current = [];
      bytes = 0;
    }
    current.push(position);
    bytes += size;
  }
  if (current.length > 0) batches.push(current);
  return batches;
}

/**
 * SQS refuses empty bodies and the code points U+FFFE and U+FFFF. An empty body becomes a space, and each of these code
 * points becomes its JSON escape.
 */
export const sendable = (body: string): string =>
  body === '' ? ' ' : body.replace(/[\ufffe\uffff]/g, (point) => `\\u${point.charCodeAt(0).toString(16)}`);

/** Returns the texts as message attributes. Empty texts are dropped, because SQS refuses empty attributes. */
export function textAttributes(texts: Readonly<Record<string, string | undefined>>) {
  const attributes: Record<string, MessageAttributeValue> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined && text !== '') attributes[name] = { DataType: 'String', StringValue: text };
  }
  return attributes;
}

/** Returns the size in bytes, as SQS counts it: the body, and the name, type and value of each attribute. */
export function sizeOf({ MessageBody = '', MessageAttributes = {} }: Outgoing): number {
  let bytes = Buffer.byteLength(MessageBody);
  for (const [name, { DataType = '', StringValue = '' }] of Object.entries(MessageAttributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType) + Buffer.byteLength(StringValue);
  }
  return bytes;
}
