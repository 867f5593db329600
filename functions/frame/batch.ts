import type { SQSBatchResponse } from 'aws-lambda';

/** Tells Lambda which messages of the batch to give back to the queue; all others are deleted. */
export const retry = (messageIds: Iterable<string>): SQSBatchResponse => ({
  batchItemFailures: [...messageIds].map((itemIdentifier) => ({ itemIdentifier })),
});
