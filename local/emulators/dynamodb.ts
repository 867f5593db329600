import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../shared/contract/topology.ts';

/** Creates the table and its index as the stack deploys them, unless it is there, and waits until it can be used. */
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
  await client.send(create).catch((error: unknown) => {
    if (!(error instanceof ResourceInUseException)) throw error;
  });
  await untilActive(client, name);
}

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
