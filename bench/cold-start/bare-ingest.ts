import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import * as z from 'zod';
import { type BareCalls, type Maker, makeInOrder } from './bare-calls.ts';

const COMMANDS: Readonly<Record<string, new (input: never) => UpdateItemCommand>> = {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} as never;

/** Returns a function that makes calls to the table and the queue. This module contains all imports for these calls. */
export function createMaker({ applyQueueUrl }: BareCalls): Maker {
  const table = new DynamoDBClient({ cacheMiddleware: true });
  const queue = new SQSClient({});
  z.object({ url: z.string() }).parse({ url: applyQueueUrl });
  return async (call) => {
    if (call.to === 'table') {
      const Command = COMMANDS[call.command];
      if (Command === undefined) throw new Error(`the bare bundle does not support ${call.command}`);
      return pMap([call.input], (input) => table.send(new Command(input as never)), { concurrency: 1 });
    }
    if (call.to !== 'queue') throw new Error(`the bare bundle does not support calls to the ${call.to}`);
    const entry = { Id: '0', MessageBody: '{}', MessageGroupId: 'bare', DelaySeconds: 0 };
    return queue.send(new SendMessageBatchCommand({ QueueUrl: applyQueueUrl, Entries: [entry] }));
  };
}

/** Imports the packages that ingest needs, and repeats the calls that ingest made for its first event. */
export const handler = (calls: BareCalls): Promise<void> => makeInOrder(calls.calls, createMaker(calls));
