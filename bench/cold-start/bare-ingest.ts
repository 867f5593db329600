import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import pMap from 'p-map';
import * as z from 'zod';
import type { BareCalls } from './bare-calls.ts';

/** The packages that ingest must use, and as many calls as its first event makes, one after the other. */
export async function handler({ table, applyQueueUrl, dynamodb, sqs }: BareCalls): Promise<void> {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const queue = new SQSClient({});
  z.object({ table: z.string() }).parse({ table });
  const count = (sk: number) =>
    documents.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk: 'bare', sk: String(sk) },
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': 1 },
      }),
    );
  await pMap(
    Array.from({ length: dynamodb }, (_, n) => n),
    count,
    { concurrency: 1 },
  );
  for (let n = 0; n < sqs; n += 1) {
    const id = `${Date.now()}-${n}`;
    const entry = { Id: '0', MessageBody: '{}', MessageGroupId: 'bare', MessageDeduplicationId: id };
    await queue.send(new SendMessageBatchCommand({ QueueUrl: applyQueueUrl, Entries: [entry] }));
  }
}
