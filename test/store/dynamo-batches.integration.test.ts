import { DynamoDBClient, ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../local/emulators/dynamodb.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import { UnstorableError } from '../../shared/sync/ports/store-errors.ts';
import { startFront } from '../local/support/front.ts';

async function startTable() {
  const client = new DynamoDBClient({ ...(await startFront()), cacheMiddleware: true });
  onTestFinished(() => client.destroy());
  await createTable(client, 'state');
  const operations: string[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      operations.push(context['commandName'] as string);
      return next(args);
    },
    { step: 'initialize' },
  );
  return {
    table: createDynamoTable(client, { tableName: 'state', sleep: async () => {} }),
    operations,
    client,
  };
}

const lost = (): Error => Object.assign(new Error('connection reset'), { name: 'TimeoutError' });
const throttled = () =>
  new ProvisionedThroughputExceededException({ message: 'too much', $metadata: { httpStatusCode: 400 } });

const item = (sk: string, value = 0) => ({ pk: 'p', sk, value });
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

it('the table writes and reads any number of items in few requests', async () => {
  const { table, operations } = await startTable();
  await Promise.all(names(60).map((name, index) => table.put(item(name, index))));
  const keys = [...names(120), 's1'].map((sk) => ({ pk: 'p', sk }));
  const [many, one, none] = await Promise.all([
    table.getMany(keys),
    table.get(item('s7')),
    table.get(item('x')),
  ]);
  expect(many.map(({ value }) => value)).toEqual(Array.from({ length: 60 }, (_, index) => index));
  expect(one).toEqual(item('s7', 7));
  expect(none).toBeUndefined();
  expect(operations).toEqual([
    ...Array(3).fill('BatchWriteItemCommand'),
    ...Array(2).fill('BatchGetItemCommand'),
  ]);
});

it('the table sends a write again after an error, but not a write that must be sent only once', async () => {
  const { table, client } = await startTable();
  let attempts = 0;
  let failures = 1;
  let refusal = lost();
  client.middlewareStack.add(
    (next) => (args) => {
      attempts += 1;
      failures -= 1;
      if (failures >= 0) throw refusal;
      return next(args);
    },
    { step: 'deserialize', name: 'failing' },
  );
  await table.put(item('a', 1));
  expect(attempts).toBe(2);
  failures = 1;
  const outcomes = await Promise.allSettled([
    table.put(item('b', 1), undefined, 'once'),
    table.put(item('c', 1)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(attempts).toBe(3);
  failures = 1;
  refusal = throttled();
  await table.put(item('b', 2), undefined, 'once');
  expect(attempts).toBe(5);
  failures = 1;
  refusal = lost();
  await table.put(item('b', 3));
  expect(attempts).toBe(7);
  expect(await table.get(item('b'))).toEqual(item('b', 3));
});

it('the table keeps the later of two simultaneous writes of one item', async () => {
  const { table } = await startTable();
  await Promise.all([table.put(item('a', 1)), table.put(item('a', 2))]);
  expect(await table.get(item('a'))).toEqual(item('a', 2));
});

it('a key that DynamoDB refuses does not affect other keys of the request', async () => {
  const { table } = await startTable();
  const tooLong = 'x'.repeat(1_025);
  const writes = [table.put(item('a', 1)), table.put(item(tooLong)), table.put(item('b', 2))];
  const outcomes = await Promise.allSettled(writes);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const reads = await Promise.allSettled([table.get(item('a')), table.get(item(tooLong))]);
  expect(reads[0]).toEqual({ status: 'fulfilled', value: item('a', 1) });
  expect(reads[1]).toMatchObject({ status: 'rejected', reason: expect.any(UnstorableError) });
});
