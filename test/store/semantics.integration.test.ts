import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../local/emulators/dynamodb.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import type { Hold, HoldDecision } from '../../shared/domain/hold.ts';
import { connectionName, groupId, memberId, platformUserId } from '../../shared/domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../../shared/domain/stamp.ts';
import { createDesiredStore } from '../../shared/store/desired-store.ts';
import { fromWire, toWire } from '../../shared/store/dynamo-batches.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import type { Change, Condition, Item, Key, QueryRequest, Table, Value } from '../../shared/store/table.ts';
import { all, any, equal, exists, greater, less, missing } from '../../shared/store/table.ts';
import { createUserStore } from '../../shared/store/user-store.ts';
import { StoreError, UnstorableError } from '../../shared/sync/ports/store-errors.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { startFront } from '../local/support/front.ts';
import { CREDENTIALS } from '../local/support/queue.ts';
import { runs } from '../support/engine/runs.ts';

/* Sends the same operations to the table in memory and to the DynamoDB emulator. The results must be equal. */

const NAMES = ['name', 'hold', 'rev', 'stamp'] as const;
const text = fc.constantFrom('', 'a', 'b', 'ab', '\u{ff5e}', '\u{1f600}');
const number = fc.integer({ min: -2, max: 2 });
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const value: fc.Arbitrary<Value> = fc.oneof(
  scalar,
  fc.record({ digest: text, of: fc.array(number, { maxLength: 2 }) }),
);
const name = fc.constantFrom(...NAMES);
const path = fc.oneof(name, fc.constant('hold.digest'));
const comparison: fc.Arbitrary<Condition> = fc.oneof(
  path.map(exists),
  path.map(missing),
  fc.tuple(path, scalar).map(([of, to]) => equal(of, to)),
  fc.tuple(name, fc.oneof(text, number)).map(([of, to]) => less(of, to)),
  fc.tuple(name, fc.oneof(text, number)).map(([of, to]) => greater(of, to)),
);
const condition: fc.Arbitrary<Condition> = fc.oneof(
  comparison,
  fc.tuple(comparison, comparison).map((of) => all(...of)),
  fc.tuple(comparison, comparison).map((of) => any(...of)),
  fc.tuple(comparison, comparison, comparison).map(([a, b, c]) => all(a, any(b, c))),
);
const key: fc.Arbitrary<Key> = fc.record({
  pk: fc.constantFrom('p', 'q'),
  sk: fc.constantFrom('a', 'a#1', 'a#2', 'b', '\u{ff5e}', '\u{1f600}'),
});
const indexKeys = fc.record({ gpk: fc.constant('groups'), gsk: fc.constantFrom('1', '2', '~') });
const attributes = fc.dictionary(name, value, { maxKeys: 3 });

const change: fc.Arbitrary<Change> = fc
  .record({
    set: attributes,
    index: fc.option(indexKeys, { nil: undefined }),
    setIfMissing: fc.dictionary(fc.constant('dirtySince'), number),
    add: fc.dictionary(fc.constant('writes'), number),
    remove: fc.uniqueArray(name, { maxLength: 2 }),
  })
  .map(({ set, index = {}, setIfMissing, add, remove }) => ({
    set: { ...set, ...index },
    setIfMissing,
    add,
    // DynamoDB refuses an update that both sets and removes an attribute. No caller sends such an update.
    remove: remove.filter((each) => !(each in set)),
  }))
  .filter(
    ({ set, setIfMissing, add, remove }) =>
      [set, setIfMissing, add].some((part) => Object.keys(part).length > 0) || remove.length > 0,
  );

const query: fc.Arbitrary<QueryRequest> = fc
  .record({
    index: fc.boolean(),
    prefix: fc.constantFrom('a', 'a#', 'z'),
    between: fc.constantFrom<readonly [string, string]>(['a', 'a#1'], ['a#2', '\u{1f600}'], ['0', '1']),
    range: fc.constantFrom('none', 'prefix', 'between'),
    newestFirst: fc.boolean(),
  })
  .map(({ index, prefix, between, range, newestFirst }) => ({
    partition: index ? 'groups' : 'p',
    index,
    newestFirst,
    ...(range === 'prefix' ? { prefix } : {}),
    ...(range === 'between' ? { between } : {}),
  }));

type Operation = (table: Table) => Promise<unknown>;
const sorted = (items: readonly Item[]) =>
  [...items].sort((a, b) => (`${a.pk}\n${a.sk}` < `${b.pk}\n${b.sk}` ? -1 : 1));

async function ask(table: Table, request: QueryRequest): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of table.query(request)) found.push(...page);
  // The index returns items with equal sort keys in any order.
  return request.index ? sorted(found) : found;
}

const when = fc.option(condition, { nil: undefined });
const operation = fc.oneof<fc.Arbitrary<Operation>[]>(
  fc.tuple(key, attributes, fc.option(indexKeys, { nil: undefined }), when).map(
    ([at, set, index = {}, on]) =>
      (table) =>
        table.put({ ...set, ...index, ...at }, on),
  ),
  fc.tuple(key, change, when).map((of) => (table) => table.update(...of)),
  fc.tuple(key, when).map((of) => (table) => table.delete(...of)),
  key.map((at) => (table) => table.get(at)),
  fc.array(key, { maxLength: 4 }).map((keys) => async (table) => sorted(await table.getMany(keys))),
  query.map((request) => (table) => ask(table, request)),
);

async function startDynamo(): Promise<Table> {
  const client = new DynamoDBClient(await startFront());
  onTestFinished(() => client.destroy());
  await createTable(client, 'state');
  return createDynamoTable(client, { tableName: 'state', sleep: async () => {} });
}

async function clear(table: Table): Promise<void> {
  for (const partition of ['p', 'q']) {
    for (const { pk, sk } of await ask(table, { partition })) await table.delete({ pk, sk });
  }
}

/** AND binds tighter than OR, so this condition is false only with parentheses. */
const EITHER_WITHIN_BOTH: Operation = (table) =>
  table.put({ pk: 'p', sk: 'a' }, all(exists('n'), any(missing('n'), missing('s'))));

it('the table in memory answers every operation like the DynamoDB emulator', async () => {
  const dynamo = await startDynamo();
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 12 }), async (operations) => {
      await clear(dynamo);
      const memory = new MemoryTable();
      for (const run of operations) expect(await run(memory)).toEqual(await run(dynamo));
      for (const partition of ['p', 'q']) {
        expect(await ask(memory, { partition })).toEqual(await ask(dynamo, { partition }));
      }
    }),
    { ...runs(80), examples: [[[EITHER_WITHIN_BOTH]]] },
  );
});

it('with the DynamoDB emulator, a hold can be decided only once, with the digest that was read', async () => {
  const table = await startDynamo();
  const groups = createGroupStore(table);
  const ref = { connection: connectionName('default'), group: groupId('g') };
  const at = { nowMs: 1, wakeAtMs: 2, isAtOnce: true, expiresAtMs: 9 };
  const read = async () => (await groups.read(ref)) as GroupState;
  const counts = {
    removes: 1,
    keeps: 0,
    share: 1,
    createdAtMs: 0,
    dirtySinceMs: 0,
    expiresAtMs: 9,
    chunks: 0,
    hash: '',
  };
  const waiting = { kind: 'waiting' } as const;
  const hold: Hold = { ...counts, digest: 'd', asOf: STAMP_ZERO, rule: 'count', decision: waiting };
  await createDesiredStore(table).markDirty(ref, at);
  const users = new Set([platformUserId('u')]);
  const before = await read();
  for (const _ of ['first try', 'repeated'])
    expect(await groups.storeRemovals(before, [{ hold, users }], '5#h')).toHaveLength(1);
  const other = [{ hold: { ...hold, digest: 'other' }, users }];
  expect(await groups.storeRemovals(before, other, '6#h')).toBeUndefined();
  const seen = await read();
  const word = { kind: 'approved', by: 'Ann', reason: 'so', atMs: 5 } as const;
  const decided = (decision: HoldDecision) => [{ hold: { ...hold, decision }, users }];
  expect(await groups.decideRemovals(seen, decided(word), at)).toBe(true);
  expect(await groups.decideRemovals(seen, decided({ ...word, kind: 'rejected', atMs: 6 }), at)).toBe(false);
  expect((await read()).removals?.sets.map(({ decision }) => decision)).toEqual([word]);
});

it('a user keeps attributes with names such as constructor, and all other writes of the batch succeed', async () => {
  const table = await startDynamo();
  const users = createUserStore(table);
  const connection = connectionName('default');
  const stamp = 'stamp' as Stamp;
  const names = ['constructor', '__proto__', 'toString', '%constructor', '%', 'email'];
  const attributes = new Map(names.map((name) => [name, { value: `of ${name}`, stamp }]));
  const changes = ['ann', 'bob'].map((id) => ({ user: memberId(id), attributes, deleted: STAMP_ZERO }));
  const joined = await users.join(connection, changes);
  expect(joined.map((one) => 'state' in one)).toEqual([true, true]);
  const again = await users.join(connection, changes);
  expect(again).toEqual(joined);
  for (const user of (await users.read(connection, [memberId('ann'), memberId('bob')])).values())
    expect(user.attributes).toEqual(attributes);
});

it.each<[string, Item]>([
  ['an item of more than 400 KB', { pk: 'p', sk: 'large', text: 'x'.repeat(410_000) }],
  ['a partition key of more than 2,048 bytes', { pk: 'x'.repeat(2_049), sk: 'a' }],
  ['a sort key of more than 1,024 bytes', { pk: 'p', sk: 'x'.repeat(1_025) }],
  ['an empty key', { pk: 'p', sk: '' }],
  ['a number that JavaScript cannot represent', { pk: 'p', sk: 'number', of: 2 ** 60 }],
  ['a value that is not data', { pk: 'p', sk: 'odd', of: { constructor: 'c' } }],
])('%s cannot be stored, and the error is not the error of an unavailable table', async (_, item) => {
  const table = await startDynamo();
  const beside = { pk: 'p', sk: 'beside' };
  const [bad, good] = await Promise.allSettled([table.put(item), table.put(beside)]);
  expect(bad).toMatchObject({ status: 'rejected', reason: expect.any(UnstorableError) });
  expect(good).toMatchObject({ status: 'fulfilled' });
  await expect(table.put(item, missing('pk'))).rejects.toThrow(UnstorableError);
  const { pk, sk, ...set } = item;
  if (Object.keys(set).length > 0)
    await expect(table.update({ pk, sk }, { set })).rejects.toThrow(UnstorableError);
});

it.each([
  ['StoreError', 'Expression size has exceeded the maximum allowed size', StoreError],
  ['UnstorableError', 'Item size to update has exceeded the maximum allowed size', UnstorableError],
])('the table throws a %s if DynamoDB answers "%s"', async (_, message, expected) => {
  const refusal = Object.assign(new Error(message), { name: 'ValidationException' });
  const client = Object.assign(new DynamoDBClient(), { send: () => Promise.reject(refusal) });
  const table = createDynamoTable(client, { tableName: 'state', sleep: async () => {} });
  await expect(table.update({ pk: 'p', sk: 'a' }, { remove: ['name'] })).rejects.toThrow(expected);
});

it('a scan of the DynamoDB emulator returns every item once, in any number of segments', async () => {
  const real = await startDynamo();
  const keys = Array.from({ length: 20 }, (_, at) => ({ pk: `p${'x'.repeat(at)}`, sk: 'a' }));
  for (const key of keys) await real.put(key);
  for (const of of [1, 7, 30]) {
    const found: string[] = [];
    for (let index = 0; index < of; index += 1)
      for await (const page of real.scan({ index, of })) found.push(...page.map(({ pk }) => pk));
    expect(found.sort()).toEqual(keys.map(({ pk }) => pk));
  }
});

it('the table sends an item as the same bytes as the document client of the SDK', async () => {
  const puts: string[] = [];
  const handle = async ({ body, headers }: { body: Uint8Array; headers: Record<string, string> }) => {
    if (headers['x-amz-target']?.endsWith('PutItem')) puts.push(new TextDecoder().decode(body));
    return { response: { statusCode: 200, headers: {}, body: Buffer.from(puts[0] ?? '') } };
  };
  const client = new DynamoDBClient({ ...CREDENTIALS, requestHandler: { handle } as never });
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const some = { minLength: 1 };
  const list = fc.oneof(fc.uniqueArray(fc.string(), some), fc.uniqueArray(fc.bigInt(), some));
  const numbers = [fc.maxSafeInteger(), fc.bigInt(), fc.double({ min: -1e15, max: 1e15, noNaN: true })];
  const rest = [scalar, fc.string(), fc.constant(undefined), list.map((of) => new Set<unknown>(of))];
  const item = fc.object({ values: [...numbers, ...rest, fc.uint8Array(some)] });
  const travelsAlike = async (Item: Record<string, unknown>) => {
    const [TableName, Key] = ['state', { pk: 'p' }];
    puts.length = 0;
    await documents.send(new PutCommand({ TableName, Item }));
    await client.send(new PutItemCommand({ TableName, Item: toWire(Item) }));
    expect(puts[1]).toBe(puts[0]);
    const { Item: found = {} } = await client.send(new GetItemCommand({ TableName, Key: toWire(Key) }));
    expect(fromWire(found)).toEqual((await documents.send(new GetCommand({ TableName, Key }))).Item ?? {});
  };
  await fc.assert(fc.asyncProperty(item, travelsAlike), runs(80));
});
