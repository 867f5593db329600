import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import pMap from 'p-map';
import { TABLE } from '../contract/topology.ts';
import { Expression } from './dynamo-expression.ts';
import { StoreError } from './errors.ts';
import type { Item, Key, QueryRequest, Table, WriteOutcome } from './table.ts';

/** BatchGetItem takes at most 100 keys and answers at most 16 MB (Amazon DynamoDB API reference). */
const KEYS_PER_BATCH = 100;
const BATCHES_IN_FLIGHT = 8;
const MAX_BATCH_ROUNDS = 12;

export interface DynamoTableOptions {
  readonly tableName: string;
  /** Waits between the rounds of a batch that DynamoDB answered only in part. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** The table on DynamoDB, with the few operations that groupsync needs; no transactions, no scans. */
export function createDynamoTable(client: DynamoDBClient, options: DynamoTableOptions): Table {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const TableName = options.tableName;

  return {
    get: (Key) =>
      reporting('read', async () => {
        const { Item } = await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
        return Item as Item | undefined;
      }),

    getMany: (keys) =>
      reporting('read', async () => {
        const distinct = [...new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key])).values()];
        const batches: Key[][] = [];
        for (let i = 0; i < distinct.length; i += KEYS_PER_BATCH)
          batches.push(distinct.slice(i, i + KEYS_PER_BATCH));
        const read = await pMap(batches, (batch) => getBatch(documents, batch, options), {
          concurrency: BATCHES_IN_FLIGHT,
        });
        return read.flat();
      }),

    query: (request) => queryPages(documents, TableName, request),

    put: (Item, when) =>
      conditionally<boolean>(async () => {
        const expression = new Expression();
        const ConditionExpression = when && expression.condition(when);
        await documents.send(new PutCommand({ TableName, Item, ConditionExpression, ...expression.names() }));
        return true;
      }, false),

    update: (Key, change, when) =>
      conditionally<WriteOutcome>(
        async () => {
          const expression = new Expression();
          const UpdateExpression = expression.change(change);
          const ConditionExpression = when && expression.condition(when);
          const { Attributes } = await documents.send(
            new UpdateCommand({
              TableName,
              Key,
              UpdateExpression,
              ConditionExpression,
              ReturnValues: 'ALL_NEW',
              ...expression.names(),
            }),
          );
          return { written: true, item: Attributes as Item };
        },
        { written: false },
      ),

    delete: (Key, when) =>
      conditionally<boolean>(async () => {
        const expression = new Expression();
        const ConditionExpression = when && expression.condition(when);
        await documents.send(
          new DeleteCommand({ TableName, Key, ConditionExpression, ...expression.names() }),
        );
        return true;
      }, false),
  };
}

async function* queryPages(documents: DynamoDBDocumentClient, TableName: string, request: QueryRequest) {
  const { index = false, partition, prefix, between, newestFirst = false, pageSize } = request;
  const [pk, sk] = index
    ? [TABLE.index.partitionKey, TABLE.index.sortKey]
    : [TABLE.partitionKey, TABLE.sortKey];
  const range =
    prefix !== undefined
      ? ' AND begins_with(#sk, :from)'
      : between !== undefined
        ? ' AND #sk BETWEEN :from AND :to'
        : '';
  const from = prefix ?? between?.[0];
  const pages = paginateQuery(
    { client: documents },
    {
      TableName,
      KeyConditionExpression: `#pk = :pk${range}`,
      ExpressionAttributeNames: { '#pk': pk, ...(range === '' ? {} : { '#sk': sk }) },
      ExpressionAttributeValues: {
        ':pk': partition,
        ...(from === undefined ? {} : { ':from': from }),
        ...(between === undefined ? {} : { ':to': between[1] }),
      },
      ConsistentRead: !index,
      ScanIndexForward: !newestFirst,
      ...(index ? { IndexName: TABLE.index.name } : {}),
      ...(pageSize === undefined ? {} : { Limit: pageSize }),
    },
  );
  try {
    for await (const { Items = [] } of pages) yield Items as Item[];
  } catch (cause) {
    throw new StoreError('the table did not answer a query', { cause });
  }
}

/** What DynamoDB leaves unprocessed (throttled, or past 16 MB) is asked for again, less often each time. */
async function getBatch(
  documents: DynamoDBDocumentClient,
  keys: readonly Key[],
  { tableName, sleep }: DynamoTableOptions,
): Promise<Item[]> {
  const items: Item[] = [];
  let left: Record<string, unknown>[] = keys.map(({ pk, sk }) => ({ pk, sk }));
  for (let round = 0; left.length > 0; round += 1) {
    if (round === MAX_BATCH_ROUNDS) throw new Error(`${left.length} keys stayed unprocessed`);
    if (round > 0) await sleep(Math.min(2_000, 25 * 2 ** round));
    const { Responses, UnprocessedKeys } = await documents.send(
      new BatchGetCommand({ RequestItems: { [tableName]: { Keys: left, ConsistentRead: true } } }),
    );
    items.push(...((Responses?.[tableName] ?? []) as Item[]));
    left = UnprocessedKeys?.[tableName]?.Keys ?? [];
  }
  return items;
}

async function reporting<Result>(verb: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    throw new StoreError(`the table could not be ${verb}`, { cause });
  }
}

async function conditionally<Result>(run: () => Promise<Result>, refused: Result): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof ConditionalCheckFailedException) return refused;
    throw new StoreError('the table could not be written', { cause });
  }
}
