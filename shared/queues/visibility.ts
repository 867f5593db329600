import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import pMap from 'p-map';

/** SQS accepts at most ten messages in one request, and returns at most ten (Amazon SQS quotas). */
export const BATCH = 10;
const REQUESTS_IN_FLIGHT = 8;

export type Receipts = readonly { readonly receipt: string }[];

/** Makes messages visible again after some seconds. Entries that SQS refuses, such as expired receipts, are ignored. */
export async function hide(
  client: SQSClient,
  QueueUrl: string,
  messages: Receipts,
  VisibilityTimeout: number,
): Promise<void> {
  await pMap(
    inTens(messages),
    (entries) => {
      const Entries = entries.map((entry) => ({ ...entry, VisibilityTimeout }));
      return client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
    },
    { concurrency: REQUESTS_IN_FLIGHT },
  );
}

export function* inTens(messages: Receipts) {
  for (let at = 0; at < messages.length; at += BATCH) {
    yield messages
      .slice(at, at + BATCH)
      .map(({ receipt }, index) => ({ Id: String(index), ReceiptHandle: receipt }));
  }
}
