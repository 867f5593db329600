import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';

type Entry = NonNullable<SendMessageBatchCommand['input']['Entries']>[number];

/** A client that remembers its requests; `refuses` says which messages SQS turns down. */
export function fakeSqs(refuses: (entry: Entry) => boolean = () => false) {
  const requests: Entry[][] = [];
  const send = async ({ input }: SendMessageBatchCommand) => {
    const entries = input.Entries ?? [];
    requests.push(entries);
    return {
      Successful: entries.filter((entry) => !refuses(entry)).map(({ Id }) => ({ Id })),
      Failed: entries.filter(refuses).map(({ Id }) => ({ Id, SenderFault: true, Code: 'Refused' })),
    };
  };
  return { client: { send } as unknown as SQSClient, requests, sent: () => requests.flat() };
}
