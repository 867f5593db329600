import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Key, Value } from '../../shared/store/table.ts';
import type { MemoryTable } from '../../simulate/table.ts';
import { plain, plainItem, type Wire, type WireItem, wireItem } from './attribute-values.ts';
import { type Placeholders, parseChange, parseCondition } from './expressions.ts';
import { CREDENTIALS, inProcess, REGION, type WireAnswer } from './sdk-wire.ts';
import type { Totals } from './totals.ts';

interface Expressions {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: WireItem;
}

interface QueryInput extends Expressions {
  readonly IndexName?: string;
  readonly KeyConditionExpression: string;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: WireItem;
}

type Operation = (input: never, table: MemoryTable) => WireAnswer;

const ok = (body: unknown): WireAnswer => ({ status: 200, body });
const REFUSED: WireAnswer = {
  status: 400,
  body: {
    __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
    message: 'The conditional request failed',
  },
};

/** The attribute of the key that marks the end of a page. Only this simulated table reads the attribute. */
const CURSOR = 'pk';

const OPERATIONS: Readonly<Record<string, Operation>> = {
  BatchGetItem(input: { RequestItems: Record<string, { Keys: readonly WireItem[] }> }, table) {
    const [[name, { Keys }] = ['', { Keys: [] }]] = Object.entries(input.RequestItems);
    const found = Keys.flatMap((key) => table.look(plainItem(key) as Key) ?? []);
    return ok({ Responses: { [name]: found.map(wireItem) }, UnprocessedKeys: {} });
  },
  BatchWriteItem(
    input: { RequestItems: Record<string, readonly { PutRequest?: { Item: WireItem } }[]> },
    table,
  ) {
    for (const { PutRequest } of Object.values(input.RequestItems).flat()) {
      if (PutRequest === undefined) throw new Error('the simulated table supports no batched delete');
      table.store(plainItem(PutRequest.Item));
    }
    return ok({ UnprocessedItems: {} });
  },
  DescribeTable: () => ok({ Table: { TableId: 'simulated', CreationDateTime: 0 } }),
  GetItem(input: { Key: WireItem }, table) {
    const item = table.look(plainItem(input.Key));
    return ok(item === undefined ? {} : { Item: wireItem(item) });
  },
  PutItem(input: Expressions & { Item: WireItem }, table) {
    return table.store(plainItem(input.Item), conditionOf(input)) ? ok({}) : REFUSED;
  },
  UpdateItem(input: Expressions & { Key: WireItem; UpdateExpression: string; ReturnValues: string }, table) {
    const change = parseChange(input.UpdateExpression, placeholdersOf(input));
    const shown = input.ReturnValues === 'ALL_OLD' ? 'before' : 'after';
    const item = table.change(plainItem(input.Key) as Key, change, conditionOf(input), shown);
    return item === undefined ? REFUSED : ok({ Attributes: wireItem(item) });
  },
  DeleteItem(input: Expressions & { Key: WireItem }, table) {
    return table.remove(plainItem(input.Key), conditionOf(input)) ? ok({}) : REFUSED;
  },
  Query(input: QueryInput, table) {
    const { items, last } = table.page(pageRequestOf(input));
    return ok({
      Items: items.map(wireItem),
      Count: items.length,
      ...(last === undefined ? {} : { LastEvaluatedKey: wireItem({ [CURSOR]: last, sk: '-' }) }),
    });
  },
};

export function createDynamoDbClient(table: MemoryTable, totals: Totals): DynamoDBClient {
  const handler = inProcess((name, input) => {
    const operation = OPERATIONS[name];
    if (operation === undefined) throw new Error(`the simulated table does not support ${name}`);
    totals.add(`dynamodb ${name}`);
    return operation(input as never, table);
  });
  return new DynamoDBClient({ region: REGION, credentials: CREDENTIALS, requestHandler: handler as never });
}

const placeholdersOf = (input: Expressions): Placeholders => ({
  names: input.ExpressionAttributeNames ?? {},
  values: input.ExpressionAttributeValues === undefined ? {} : plainItem(input.ExpressionAttributeValues),
});

const conditionOf = (input: Expressions) =>
  input.ConditionExpression === undefined
    ? undefined
    : parseCondition(input.ConditionExpression, placeholdersOf(input));

/** Parses the key conditions that dynamo-table.ts writes: the partition, and a prefix or a range of the sort key. */
function pageRequestOf(input: QueryInput): Parameters<MemoryTable['page']>[0] {
  const values = input.ExpressionAttributeValues ?? {};
  const text = (name: string) => String(plain(values[name] as Wire) as Value);
  const expression = input.KeyConditionExpression;
  const cursor = input.ExclusiveStartKey?.[CURSOR];
  return {
    partition: text(':pk'),
    index: input.IndexName !== undefined,
    newestFirst: input.ScanIndexForward === false,
    ...(input.Limit === undefined ? {} : { pageSize: input.Limit }),
    after: cursor === undefined ? undefined : String(plain(cursor)),
    ...(expression.includes('begins_with') ? { prefix: text(':from') } : {}),
    ...(expression.includes('BETWEEN') ? { between: [text(':from'), text(':to')] as const } : {}),
  };
}
