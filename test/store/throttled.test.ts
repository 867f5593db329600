import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import { itemsOf, missing } from '../../shared/store/table.ts';
import { ThrottledError } from '../../shared/sync/ports/store-errors.ts';

it.each([
  ['ProvisionedThroughputExceededException', true],
  ['InternalServerError', false],
])('a request that DynamoDB refuses with %s was throttled: %s', async (name, isThrottled) => {
  const refusal = new DynamoDBServiceException({ name, $fault: 'client', $metadata: {} });
  const client = new DynamoDBClient({ region: 'eu-west-1' });
  Object.assign(client, { send: () => Promise.reject(refusal) });
  const table = createDynamoTable(client, { tableName: 't', sleep: async () => {} });
  const key = { pk: 'p', sk: 's' };
  for (const run of [
    () => table.get(key),
    () => table.put(key),
    () => table.update(key, { set: { a: 1 } }),
    () => itemsOf(table, { partition: 'p' }),
  ]) {
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'StoreError' });
    expect(error instanceof ThrottledError).toBe(isThrottled);
  }
});

it.each([
  [2, [100, 200], true],
  [9, [100, 200, 400, 800], false],
])('a conditional write that DynamoDB throttles %i times waits %j ms', async (times, waits, isWritten) => {
  const name = 'ThrottlingException';
  const refusal = new DynamoDBServiceException({ name, $fault: 'client', $metadata: {} });
  const client = new DynamoDBClient({ region: 'eu-west-1' });
  let left = times;
  const send = async () => {
    left -= 1;
    if (left >= 0) throw refusal;
    return {};
  };
  Object.assign(client, { send });
  const slept: number[] = [];
  const table = createDynamoTable(client, { tableName: 't', sleep: async (ms) => void slept.push(ms) });
  const written = await table.put({ pk: 'p', sk: 's' }, missing('pk')).catch(() => false);
  expect([written, slept]).toEqual([isWritten, waits]);
});

it('each of two tables of one client reads consistently, except from the index', async () => {
  const client = new DynamoDBClient({ region: 'eu-west-1' });
  const asked: string[] = [];
  const send = async ({ input }: { readonly input: object }) => {
    asked.push(JSON.stringify(input));
    return {};
  };
  Object.assign(client, { send });
  for (const tableName of ['t', 'u']) {
    const table = createDynamoTable(client, { tableName, sleep: async () => {} });
    await table.get({ pk: 'p', sk: 's' });
    const ofIndex = table.query({ partition: 'p', index: true });
    for (const pages of [table.scan(), table.query({ partition: 'p' }), ofIndex])
      for await (const _ of pages);
  }
  const consistent = asked.map((input) => input.includes('"ConsistentRead":true'));
  expect(consistent).toEqual([true, true, true, false, true, true, true, false]);
});
