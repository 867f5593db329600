import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import { itemsOf, missing } from '../../shared/store/table.ts';
import { ThrottledError } from '../../shared/sync/ports/store-errors.ts';

/** Creates a table over a client that gives these answers. `slept` collects the waits of the table. */
function tableOver(send: (command: { readonly input: object }) => Promise<object>, slept: number[] = []) {
  const client = new DynamoDBClient({ region: 'eu-west-1' });
  Object.assign(client, { send });
  return createDynamoTable(client, { tableName: 't', sleep: async (ms) => void slept.push(ms) });
}

it.each([
  ['ProvisionedThroughputExceededException', true],
  ['InternalServerError', false],
])('a request that DynamoDB refuses with %s was throttled: %s', async (name, isThrottled) => {
  const refusal = new DynamoDBServiceException({ name, $fault: 'client', $metadata: {} });
  const table = tableOver(() => Promise.reject(refusal));
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
  let left = times;
  const send = async () => {
    left -= 1;
    if (left >= 0) throw refusal;
    return {};
  };
  const slept: number[] = [];
  const table = tableOver(send, slept);
  const written = await table.put({ pk: 'p', sk: 's' }, missing('pk')).catch(() => false);
  expect([written, slept]).toEqual([isWritten, waits]);
});

it('keys that DynamoDB leaves unprocessed are read again after 50 ms, and then after twice the time', async () => {
  const slept: number[] = [];
  const send = async ({ input }: { readonly input: { readonly RequestItems?: object } }) =>
    slept.length < 2 ? { UnprocessedKeys: input.RequestItems } : {};
  expect(await tableOver(send, slept).get({ pk: 'p', sk: 's' })).toBeUndefined();
  expect(slept).toEqual([50, 100]);
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
