import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { gathering } from './gathering.ts';
import type { Item, Key } from './table.ts';

/** BatchGetItem takes at most 100 keys and answers at most 16 MB (Amazon DynamoDB API reference). */
const KEYS_PER_REQUEST = 100;
/** BatchWriteItem takes at most 25 items and 16 MB; ours stay below 400 KB each (the same). */
const ITEMS_PER_REQUEST = 25;
const REQUESTS_IN_FLIGHT = 8;
const MAX_ROUNDS = 12;

export interface DynamoTableOptions {
  readonly tableName: string;
  /** Waits between the rounds of a batch that DynamoDB answered only in part. */
  readonly sleep: (ms: number) => Promise<void>;
}

export interface DynamoBatches {
  /** Strongly consistent. */
  readonly read: (key: Key) => Promise<Item | undefined>;
  /** Without a condition: BatchWriteItem knows none. */
  readonly write: (item: Item) => Promise<void>;
}

/** Reads, and writes without a condition, of callers that ask at the same time travel together. */
export function createDynamoBatches(
  documents: DynamoDBDocumentClient,
  options: DynamoTableOptions,
): DynamoBatches {
  const shared = { requestsInFlight: REQUESTS_IN_FLIGHT, mayBeOnesFault: isRefusal };
  return {
    read: gathering<Key, Item | undefined>({
      ...shared,
      most: KEYS_PER_REQUEST,
      ask: async (keys) => {
        const found = await readBatch(documents, byKey(keys), options);
        return keys.map((key) => found.get(nameOf(key)));
      },
    }),
    write: gathering<Item, undefined>({
      ...shared,
      most: ITEMS_PER_REQUEST,
      ask: async (items) => {
        await writeBatch(documents, byKey(items), options);
        return [];
      },
    }),
  };
}

/** DynamoDB refuses a request whole for one key that is too long, or one item that is too large. */
const isRefusal = (cause: unknown): boolean => cause instanceof Error && cause.name === 'ValidationException';

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** Neither request may name a key twice; of two writes of one item the later one stays, as if they had followed. */
const byKey = <Entry extends Key>(entries: readonly Entry[]): readonly Entry[] => [
  ...new Map(entries.map((entry) => [nameOf(entry), entry])).values(),
];

async function readBatch(
  documents: DynamoDBDocumentClient,
  keys: readonly Key[],
  { tableName, sleep }: DynamoTableOptions,
): Promise<ReadonlyMap<string, Item>> {
  const found = new Map<string, Item>();
  const first: Record<string, unknown>[] = keys.map(({ pk, sk }) => ({ pk, sk }));
  await inRounds(first, sleep, async (Keys) => {
    const { Responses, UnprocessedKeys } = await documents.send(
      new BatchGetCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: true } } }),
    );
    for (const item of (Responses?.[tableName] ?? []) as Item[]) found.set(nameOf(item), item);
    return UnprocessedKeys?.[tableName]?.Keys;
  });
  return found;
}

async function writeBatch(
  documents: DynamoDBDocumentClient,
  items: readonly Item[],
  { tableName, sleep }: DynamoTableOptions,
): Promise<void> {
  type Writes = NonNullable<ConstructorParameters<typeof BatchWriteCommand>[0]['RequestItems']>[string];
  const first: Writes = items.map((Item) => ({ PutRequest: { Item } }));
  await inRounds(first, sleep, async (writes) => {
    const RequestItems = { [tableName]: writes };
    const { UnprocessedItems } = await documents.send(new BatchWriteCommand({ RequestItems }));
    return UnprocessedItems?.[tableName];
  });
}

/** What DynamoDB leaves unprocessed (throttled, or past 16 MB) is asked for again, less often each time. */
async function inRounds<Entry>(
  first: Entry[],
  sleep: (ms: number) => Promise<void>,
  ask: (entries: Entry[]) => Promise<Entry[] | undefined>,
): Promise<void> {
  let left = first;
  for (let round = 0; left.length > 0; round += 1) {
    if (round === MAX_ROUNDS) throw new Error(`${left.length} items stayed unprocessed`);
    if (round > 0) await sleep(Math.min(2_000, 25 * 2 ** round));
    left = (await ask(left)) ?? [];
  }
}
