import {
  type AttributeValue,
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../shared/contract/topology.ts';

/**
 * Creates the table and its index as deployed. If the table exists, repairs its index. Returns when the table is
 * active.
 */
export async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  const { partitionKey, sortKey, index } = TABLE;
  const keys = [partitionKey, sortKey, index.partitionKey, index.sortKey];
  const create = new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
    KeySchema: keySchema(partitionKey, sortKey),
    GlobalSecondaryIndexes: [
      {
        IndexName: index.name,
        KeySchema: keySchema(index.partitionKey, index.sortKey),
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...TABLE.index.projected] },
      },
    ],
  });
  const wasThere = await client.send(create).then(
    () => false,
    (error: unknown) => {
      if (error instanceof ResourceInUseException) return true;
      throw error;
    },
  );
  await untilActive(client, name);
  if (wasThere) await repairIndex(client, name);
}

type Item = Record<string, AttributeValue>;
const NONE = { NULL: true } as const;

const { partitionKey: PK, sortKey: SK, index: INDEX } = TABLE;
const { partitionKey: GPK, sortKey: GSK } = INDEX;

/**
 * Repairs the index after a kill. The emulator writes the index entry before the item. A kill between these writes can
 * leave an entry without an item, or an item without an entry. The repair writes the item again, which also corrects
 * the index entry.
 */
async function repairIndex(client: DynamoDBClient, TableName: string): Promise<void> {
  const put = (item: Item) => client.send(new PutItemCommand({ TableName, Item: item }));
  const without = new Map((await scan(client, { TableName })).map((item) => [textOf(item, [PK, SK]), item]));
  for (const entry of await scan(client, { TableName, IndexName: INDEX.name })) {
    const { [PK]: pk = NONE, [SK]: sk = NONE, [GPK]: gpk = NONE, [GSK]: gsk = NONE } = entry;
    const key = textOf(entry, [PK, SK]);
    const item = without.get(key);
    const shown = [GPK, GSK, ...INDEX.projected];
    if (item !== undefined && textOf(item, shown) === textOf(entry, shown)) {
      without.delete(key);
      continue;
    }
    await put({ ...entry, ...item, [GPK]: gpk, [GSK]: gsk });
    if (item !== undefined) await put(item);
    else await client.send(new DeleteItemCommand({ TableName, Key: { [PK]: pk, [SK]: sk } }));
  }
  for (const item of without.values()) if (GPK in item) await put(item);
}

async function scan(client: DynamoDBClient, of: { readonly TableName: string; readonly IndexName?: string }) {
  const found: Item[] = [];
  for await (const { Items = [] } of paginateScan({ client }, of)) found.push(...Items);
  return found;
}

const textOf = (item: Item, names: readonly string[]): string =>
  JSON.stringify(names.map((name) => item[name] ?? null));

const keySchema = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' as const },
  { AttributeName: sort, KeyType: 'RANGE' as const },
];

const POLL_MS = 5;

async function untilActive(client: DynamoDBClient, name: string): Promise<void> {
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (Table?.TableStatus === 'ACTIVE') return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
