import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import pMap from 'p-map';
import { StoreError, ThrottledError, UnstorableError } from '../sync/ports/store-errors.ts';
import type { Item, Key } from './table.ts';

/** BatchGetItem takes at most 100 keys and returns at most 16 MB (Amazon DynamoDB API reference). */
const KEYS_PER_REQUEST = 100;
/**
 * BatchWriteItem takes at most 25 items and 16 MB (Amazon DynamoDB API reference). An item of groupsync has less than
 * 400 KB.
 */
const ITEMS_PER_REQUEST = 25;
const REQUESTS_IN_FLIGHT = 8;
const MAX_ROUNDS = 12;

export interface DynamoTableOptions {
  readonly tableName: string;
  /** Waits before the unprocessed entries of a batch are sent again. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Converts an item like the SDK's document client. That client cannot be used here, because it refuses a DynamoDBClient
 * that keeps its middleware between requests.
 * @throws UnstorableError for a value that DynamoDB cannot represent
 */
export function toWire(item: object) {
  try {
    return marshall(item, { removeUndefinedValues: true });
  } catch (cause) {
    throw new UnstorableError('expected values that DynamoDB can represent', { cause });
  }
}
/** Avoids the slow `marshall`: keys are always strings, and a large request has tens of thousands of keys. */
export const wireKey = ({ pk, sk }: Key) => ({ pk: { S: pk }, sk: { S: sk } });
export const fromWire = (item: Parameters<typeof unmarshall>[0]) => unmarshall(item) as Item;

/** Combines simultaneous reads into few requests. Does the same with simultaneous writes without a condition. */
export function createDynamoBatches(client: DynamoDBClient, { tableName, sleep }: DynamoTableOptions) {
  sendOnce(client);
  return {
    /** Reads are strongly consistent. */
    read: gathering<Key, Item | undefined>(KEYS_PER_REQUEST, async (keys) => {
      const found = new Map<string, Item>();
      const first: ReturnType<typeof toWire>[] = byKey(keys).map(wireKey);
      await inRounds(first, sleep, async (Keys) => {
        const RequestItems = { [tableName]: { Keys, ConsistentRead: true } };
        const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems }));
        for (const item of Responses?.[tableName]?.map(fromWire) ?? []) found.set(nameOf(item), item);
        return UnprocessedKeys?.[tableName]?.Keys;
      });
      return keys.map((key) => found.get(nameOf(key)));
    }),
    write: sending(
      gathering<Outgoing, undefined>(ITEMS_PER_REQUEST, async (items) => {
        const first = byKey(items).map(({ wire }): WriteRequest => ({ PutRequest: { Item: wire } }));
        await inRounds(first, sleep, async (writes) => {
          const command = new BatchWriteItemCommand({ RequestItems: { [tableName]: writes } });
          if (items.some(({ isOnce }) => isOnce)) unanswered.set(command.input, false);
          return (await client.send(command)).UnprocessedItems?.[tableName];
        });
        return [];
      }),
    ),
  };
}

type Outgoing = Key & { readonly wire: ReturnType<typeof toWire>; readonly isOnce: boolean };

/** For each input of a write that must not be sent twice: whether an attempt has got no answer. */
const unanswered = new WeakMap<object, boolean>();

/**
 * Prevents the SDK from sending a write of `unanswered` again after a lost answer or a fault of the server (5xx),
 * because the request may still take effect. After a refusal by DynamoDB (4xx), the SDK may send the write again. The
 * middleware belongs to the client, because a client that keeps its middleware ignores the middleware of commands.
 */
function sendOnce({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => (args) => {
      const isUnanswered = unanswered.get(args.input);
      if (isUnanswered === undefined) return next(args);
      if (isUnanswered) throw new Error('expected an answer to a write that must not be sent twice');
      return next(args).catch((error: unknown) => {
        unanswered.set(args.input, !isAnswered(error));
        throw error;
      });
    },
    // The SDK's retry loop is at the beginning of the step `finalize`. So a middleware with low priority runs in each
    // attempt.
    { name: 'sendOnce', step: 'finalizeRequest', priority: 'low', override: true },
  );
}

/** Whether DynamoDB refused the request, for example because of throttling. */
const isAnswered = (error: unknown): boolean =>
  error instanceof DynamoDBServiceException && error.$fault === 'client';

/**
 * Returns a function that writes one item without a condition (BatchWriteItem has no conditions). An item that cannot
 * be encoded fails before it joins a batch, so it does not affect other items.
 */
const sending = (send: (item: Outgoing) => Promise<undefined>) => async (item: Item, isOnce: boolean) =>
  send({ pk: item.pk, sk: item.sk, wire: toWire(item), isOnce });

/** Whether DynamoDB refused a whole request. One key that is too long, or one item that is too large, is enough. */
const isRefusal = (cause: unknown): boolean =>
  cause instanceof Error && /^(?:Validation|Serialization)Exception$/.test(cause.name);

/**
 * DynamoDB's errors for an item that it can never store (developer guide, "Constraints"): sizes of items, keys and
 * numbers, nesting, empty keys. All other ValidationExceptions are faults of the request, such as an expression that
 * "has exceeded the maximum" size. A new release may fix such a fault.
 */
const OF_THE_ITEM =
  /(?<!expression size has )exceeded (?:the|supported)|empty string|overflow|underflow|significant digits/i;

/** @returns the error if the table can never store the data; undefined for any other failure */
export function unstorable(cause: unknown): UnstorableError | undefined {
  if (cause instanceof UnstorableError) return cause;
  if (!isRefusal(cause)) return undefined;
  const { name, message } = cause as Error;
  if (name === 'SerializationException') return new UnstorableError('expected valid Unicode', { cause });
  return OF_THE_ITEM.test(message) ? new UnstorableError(message, { cause }) : undefined;
}

const THROTTLED = /^(?:ProvisionedThroughputExceeded|Throttling|RequestLimitExceeded)/;

export const isThrottled = (cause: unknown): boolean =>
  cause instanceof DynamoDBServiceException && THROTTLED.test(cause.name);

/** @returns the error for a failed request, which a retry may repair */
export function storeErrorOf(message: string, cause: unknown): StoreError {
  if (cause instanceof ThrottledError) return cause;
  return new (isThrottled(cause) ? ThrottledError : StoreError)(message, { cause });
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/**
 * Keeps only the last entry of each key, because a request must not contain a key twice. A later write would replace
 * the earlier write in any case.
 */
const byKey = <Entry extends Key>(entries: readonly Entry[]): readonly Entry[] => [
  ...new Map(entries.map((entry) => [nameOf(entry), entry])).values(),
];

/**
 * Repeats the entries that DynamoDB leaves unprocessed (throttled, or beyond 16 MB). The first wait is 50 ms, and each
 * further wait is twice as long, up to 2 s.
 */
async function inRounds<Entry>(
  first: Entry[],
  sleep: (ms: number) => Promise<void>,
  ask: (entries: Entry[]) => Promise<Entry[] | undefined>,
): Promise<void> {
  let left = first;
  for (let round = 0; left.length > 0; round += 1) {
    if (round === MAX_ROUNDS) throw new ThrottledError(`${left.length} items stayed unprocessed`);
    if (round > 0) await sleep(Math.min(2_000, 25 * 2 ** round));
    left = (await ask(left)) ?? [];
  }
}

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Combines the questions that callers ask within one iteration of the event loop into requests of at most `most`
 * questions. Each caller gets the same result as with a request of its own. There is no cache between iterations, so an
 * answer is never older than its question. If DynamoDB refuses a request, each of its questions is sent alone.
 * @param ask returns one answer for each question, in their order
 */
export function gathering<Question, Answer>(
  most: number,
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = [];

  const answer = async (batch: readonly Waiting<Question, Answer>[]): Promise<void> => {
    try {
      const answers = await ask(batch.map(({ question }) => question));
      for (const [position, { resolve }] of batch.entries()) resolve(answers[position] as Answer);
    } catch (cause) {
      if (batch.length === 1 || !isRefusal(cause)) {
        for (const { reject } of batch) reject(cause);
        return;
      }
      await pMap(batch, (one) => answer([one]), { concurrency: REQUESTS_IN_FLIGHT });
    }
  };
  const sendAll = async (): Promise<void> => {
    const all = waiting;
    waiting = [];
    const batches = Array.from({ length: Math.ceil(all.length / most) }, (_, index) =>
      all.slice(index * most, (index + 1) * most),
    );
    await pMap(batches, answer, { concurrency: REQUESTS_IN_FLIGHT });
  };

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void sendAll());
      waiting.push({ question, resolve, reject });
    });
}
