import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';

type Entry = NonNullable<SendMessageBatchCommand['input']['Entries']>[number];

/** What a request may carry, and what no text may hold (Amazon SQS, SendMessageBatch). */
const MAX_BYTES = 1_048_576;
const INVALID = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const textsOf = ({ MessageBody = '', MessageAttributes = {} }: Entry): readonly string[] => [
  MessageBody,
  ...Object.entries(MessageAttributes).flatMap(([name, { DataType = '', StringValue = '' }]) => [
    name,
    DataType,
    StringValue,
  ]),
];

/** A client that remembers its requests; `refuses` says which messages SQS turns down beside those that it must. */
export function fakeSqs(alsoRefuses: (entry: Entry) => boolean = () => false) {
  const requests: Entry[][] = [];
  const refuses = (entry: Entry) => alsoRefuses(entry) || textsOf(entry).some((text) => INVALID.test(text));
  const send = async ({ input }: SendMessageBatchCommand) => {
    const entries = input.Entries ?? [];
    const bytes = entries.flatMap(textsOf).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > MAX_BYTES) throw new Error('BatchRequestTooLong');
    requests.push(entries);
    return {
      Successful: entries.filter((entry) => !refuses(entry)).map(({ Id }) => ({ Id })),
      Failed: entries.filter(refuses).map(({ Id }) => ({ Id, SenderFault: true, Code: 'Refused' })),
    };
  };
  return { client: { send } as unknown as SQSClient, requests, sent: () => requests.flat() };
}
