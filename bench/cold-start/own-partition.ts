import { BatchWriteItemCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { AwsCall } from '../emulated/recorder.ts';
import type { BareCall } from './bare-calls.ts';

const COPY_PREFIX = 'bare ';
const WRITES_IN_BATCH = 25;

/** Copies every item to a second partition. Repeated calls then read as much data there as the original calls. */
export async function copyToOwnPartition(client: DynamoDBClient, table: string): Promise<void> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
  const copies = Items.filter(({ pk }) => !pk?.S?.startsWith(COPY_PREFIX)).map((item) => ({
    PutRequest: { Item: { ...item, pk: { S: `${COPY_PREFIX}${item['pk']?.S}` } } },
  }));
  for (let at = 0; at < copies.length; at += WRITES_IN_BATCH) {
    const batch = copies.slice(at, at + WRITES_IN_BATCH);
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: batch } }));
  }
}

/**
 * Returns the same request for the copied items. The condition of the request is extended, so that it is always true.
 */
export function inOwnPartition({ make, input }: AwsCall): BareCall {
  const text = JSON.stringify(input)
    .replaceAll(/"(:?pk)":\{"S":"/g, `"$1":{"S":"${COPY_PREFIX}`)
    .replaceAll(
      '"ConditionExpression":"',
      '"ConditionExpression":"attribute_exists(#n0) OR NOT attribute_exists(#n0) OR ',
    );
  return { to: 'table', command: make.name, input: JSON.parse(text) as unknown };
}
