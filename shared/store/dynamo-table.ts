import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
  paginateScan,
  type QueryCommandOutput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../contract/topology.ts';
import {
  createDynamoBatches,
  type DynamoTableOptions,
  fromWire,
  isThrottled,
  storeErrorOf,
  toWire,
  unstorable,
  wireKey,
} from './dynamo-batches.ts';
import type {
  Change,
  Condition,
  Item,
  QueryRequest,
  Table,
  TableIdentity,
  Value,
  WriteOutcome,
} from './table.ts';

export function createDynamoTable(client: DynamoDBClient, options: DynamoTableOptions): Table {
  const TableName = options.tableName;
  const batches = createDynamoBatches(client, options);

  return {
    identity: () => readIdentity(client, TableName),

    get: (key) => batches.read(key).catch(failed('read')),

    getMany: (keys) =>
      reporting('read', async () => {
        const distinct = new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key]));
        const items = await Promise.all([...distinct.values()].map(batches.read));
        return items.filter((item) => item !== undefined);
      }),

    query: (request) => queryPages(client, TableName, request),

    scan(part) {
      const segment = part && { Segment: part.index, TotalSegments: part.of };
      return itemsOf('scan', paginateScan({ client }, { TableName, ConsistentRead: true, ...segment }));
    },

    put: (item, when, sent) =>
      when === undefined
        ? batches.write(item, sent === 'once').then(() => true, failed('written'))
        : conditionally<boolean>(options, false, async () => {
            await client.send(new PutItemCommand({ TableName, Item: toWire(item), ...expressions(when) }));
            return true;
          }),

    update: (key, change, when, shown) =>
      conditionally<WriteOutcome>(options, { written: false }, async () => {
        const [Key, ReturnValues] = [wireKey(key), shown === 'before' ? 'ALL_OLD' : 'ALL_NEW'] as const;
        const asked = { TableName, Key, ReturnValues, ...expressions(when, change) };
        const { Attributes = {} } = await client.send(new UpdateItemCommand(asked));
        return { written: true, item: { ...key, ...fromWire(Attributes) } as Item };
      }),

    delete: (key, when) =>
      conditionally<boolean>(options, false, async () => {
        await client.send(new DeleteItemCommand({ TableName, Key: wireKey(key), ...expressions(when) }));
        return true;
      }),
  };
}

function expressions(when: Condition | undefined, change?: Change) {
  const expression = new Expression();
  const UpdateExpression = change && expression.change(change);
  const ConditionExpression = when && expression.condition(when);
  return { ...(change && { UpdateExpression }), ConditionExpression, ...expression.names() };
}

function queryPages(client: DynamoDBClient, TableName: string, request: QueryRequest) {
  const { index = false, partition, prefix, between, newestFirst = false, pageSize, only } = request;
  const [pk, sk] = index
    ? [TABLE.index.partitionKey, TABLE.index.sortKey]
    : [TABLE.partitionKey, TABLE.sortKey];
  const [from = prefix, to] = between ?? [];
  const range = to === undefined ? ' AND begins_with(#sk, :from)' : ' AND #sk BETWEEN :from AND :to';
  const shown = ['pk', 'sk', ...(only ?? [])].map((name, n) => [`#a${n}`, name] as const);
  const projection = only && { ProjectionExpression: shown.map(([place]) => place).join(', ') };
  const pages = paginateQuery(
    { client },
    {
      TableName,
      KeyConditionExpression: `#pk = :pk${from === undefined ? '' : range}`,
      ExpressionAttributeNames: {
        '#pk': pk,
        ...(from === undefined ? {} : { '#sk': sk }),
        ...(only && Object.fromEntries(shown)),
      },
      ...projection,
      // `toWire` leaves out undefined values.
      ExpressionAttributeValues: toWire({ ':pk': partition, ':from': from, ':to': to }),
      ConsistentRead: !index,
      ScanIndexForward: !newestFirst,
      ...(index ? { IndexName: TABLE.index.name } : {}),
      ...(pageSize === undefined ? {} : { Limit: pageSize }),
    },
  );
  return itemsOf('query', pages);
}

async function* itemsOf(verb: string, pages: AsyncIterable<Pick<QueryCommandOutput, 'Items'>>) {
  try {
    for await (const { Items = [] } of pages) yield Items.map(fromWire);
  } catch (cause) {
    throw storeErrorOf(`the table did not answer a ${verb}`, cause);
  }
}

async function readIdentity(client: DynamoDBClient, TableName: string): Promise<TableIdentity> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName })).catch(failed('described'));
  return { id: Table?.TableId ?? TableName, createdAtMs: Table?.CreationDateTime?.getTime() ?? 0 };
}

const failed =
  (verb: string) =>
  (cause: unknown): never => {
    throw unstorable(cause) ?? storeErrorOf(`the table could not be ${verb}`, cause);
  };

const reporting = <Result>(verb: string, run: () => Promise<Result>): Promise<Result> =>
  run().catch(failed(verb));

/** The tries of a write that DynamoDB throttles, each with the SDK's attempts. So a burst waits instead of failing. */
const TRIES = 5;

const conditionally = <Result>(
  { sleep }: DynamoTableOptions,
  refused: Result,
  run: () => Promise<Result>,
): Promise<Result> =>
  reporting('written', () =>
    untilAdmitted(run, sleep).catch((cause: unknown) => {
      if (cause instanceof ConditionalCheckFailedException) return refused;
      throw cause;
    }),
  );

async function untilAdmitted<Result>(
  run: () => Promise<Result>,
  sleep: DynamoTableOptions['sleep'],
  tries = 1,
): Promise<Result> {
  try {
    return await run();
  } catch (cause) {
    if (!isThrottled(cause) || tries === TRIES) throw cause;
    await sleep(50 * 2 ** tries);
    return untilAdmitted(run, sleep, tries + 1);
  }
}

const COMPARISON = { equal: '=', less: '<', greater: '>' } as const;

/** Builds DynamoDB expressions. Each name and value has a placeholder, so no text needs quotes. */
class Expression {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, Value>();

  /**
   * Returns the request fields ExpressionAttributeNames and ExpressionAttributeValues. An empty map is left out,
   * because DynamoDB refuses an empty map.
   */
  names() {
    return {
      ...(this.#names.size === 0 ? {} : { ExpressionAttributeNames: swapped(this.#names) }),
      ...(this.#values.size === 0
        ? {}
        : { ExpressionAttributeValues: toWire(Object.fromEntries(this.#values)) }),
    };
  }

  condition(condition: Condition): string {
    switch (condition.kind) {
      case 'exists':
        return `attribute_exists(${this.#name(condition.name)})`;
      case 'missing':
        return `attribute_not_exists(${this.#name(condition.name)})`;
      case 'all':
        return condition.of.map((part) => this.#conjunct(part)).join(' AND ');
      case 'any':
        return condition.of.map((part) => this.condition(part)).join(' OR ');
      default:
        return `${this.#name(condition.name)} ${COMPARISON[condition.kind]} ${this.#value(condition.value)}`;
    }
  }

  /**
   * AND binds tighter than OR, so only an `any` inside an `all` needs parentheses. All other parentheses are left out,
   * because some emulators parse nested parentheses in exponential time.
   */
  #conjunct(part: Condition): string {
    const text = this.condition(part);
    return part.kind === 'any' && part.of.length > 1 ? `(${text})` : text;
  }

  change({ set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): string {
    const assignments = [
      ...Object.entries(set).map(([name, value]) => `${this.#name(name)} = ${this.#value(value)}`),
      ...Object.entries(setIfMissing).map(([name, value]) => {
        const placeholder = this.#name(name);
        return `${placeholder} = if_not_exists(${placeholder}, ${this.#value(value)})`;
      }),
    ];
    const sums = Object.entries(add).map(([name, value]) => `${this.#name(name)} ${this.#value(value)}`);
    const removals = remove.map((name) => this.#name(name));
    return [section('SET', assignments), section('ADD', sums), section('REMOVE', removals)].join(' ').trim();
  }

  #name(path: string): string {
    return path
      .split('.')
      .map((part) => this.#part(part))
      .join('.');
  }

  #part(name: string): string {
    const placeholder = this.#names.get(name) ?? `#n${this.#names.size}`;
    this.#names.set(name, placeholder);
    return placeholder;
  }

  #value(value: Value): string {
    const placeholder = `:v${this.#values.size}`;
    this.#values.set(placeholder, value);
    return placeholder;
  }
}

const section = (verb: string, parts: readonly string[]) =>
  parts.length === 0 ? '' : `${verb} ${parts.join(', ')}`;

const swapped = (names: ReadonlyMap<string, string>) =>
  Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name]));
