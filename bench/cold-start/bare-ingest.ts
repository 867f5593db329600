import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import pMap from 'p-map';
import * as z from 'zod';
import type { BareCalls } from './bare-calls.ts';

const COMMANDS: Readonly<Record<string, new (input: never) => UpdateCommand>> = {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} as never;

/** The packages that ingest must use, and the calls of its first event, one after the other. */
export async function handler({ table, applyQueueUrl, sqs }: BareCalls): Promise<void> {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const queue = new SQSClient({});
  z.object({ url: z.string() }).parse({ url: applyQueueUrl });
  await pMap(
    table,
    ({ command, input }) => {
      const Command = COMMANDS[command];
      if (Command === undefined) throw new Error(`${command} is beyond the bare bundle`);
      return documents.send(new Command(input as never));
    },
    { concurrency: 1 },
  );
  for (let n = 0; n < sqs; n += 1) {
    const id = `${Date.now()}-${n}`;
    const entry = { Id: '0', MessageBody: '{}', MessageGroupId: 'bare', MessageDeduplicationId: id };
    await queue.send(new SendMessageBatchCommand({ QueueUrl: applyQueueUrl, Entries: [entry] }));
  }
}
