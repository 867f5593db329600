import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import type { Item, Key, QueryRequest, Table } from '../../shared/store/table.ts';
import { ThrottledError } from '../../shared/sync/ports/store-errors.ts';
import type { MemoryTable } from '../../simulate/table.ts';

/** Units per second. */
export interface Units {
  readonly read: number;
  readonly write: number;
}

/** The limits of one partition key, for the table and its index separately (developer guide, "Partitions"). */
const OF_A_KEY: Units = { read: 3_000, write: 1_000 };
/** A new on-demand table. DynamoDB raises the limit only slowly, so the model never raises it. */
export const NEW_TABLE: Units = { read: 12_000, write: 4_000 };

export type Throughput = ReturnType<typeof createThroughput>;

/** Counts the used units of each second. A request is throttled if the units of its second are already used. */
export function createThroughput(clock: () => number, ofTable: Units = NEW_TABLE) {
  let second = 0;
  let used = new Map<string, number>();
  const usedOf = (name: string): number => {
    const now = Math.floor(clock() / 1_000);
    if (now !== second) used = new Map();
    second = now;
    return used.get(name) ?? 0;
  };
  const nameOf = (kind: keyof Units, isIndex: boolean, key = '') => `${kind} ${isIndex} ${key}`;
  return {
    /** Returns whether DynamoDB accepts a request for these partition keys now. */
    admits: (kind: keyof Units, isIndex: boolean, keys: readonly string[]): boolean =>
      usedOf(nameOf(kind, isIndex)) < ofTable[kind] &&
      keys.every((key) => usedOf(nameOf(kind, isIndex, key)) < OF_A_KEY[kind]),
    use(kind: keyof Units, isIndex: boolean, key: string, units: number): void {
      for (const name of [nameOf(kind, isIndex), nameOf(kind, isIndex, key)])
        used.set(name, usedOf(name) + units);
    },
  };
}

interface Client {
  /** Waits for the simulated time of one request. `entries` is the number of its entries in batches. */
  readonly effect: (kind: string, entries: number) => Promise<void>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly onThrottled: () => void;
  /** Returns the limits; undefined: DynamoDB throttles no request. */
  readonly throughput: () => Throughput | undefined;
}

/** BatchGetItem takes 100 keys. shared/store/dynamo-batches.ts has eight such requests in flight. */
const [KEYS_AT_ONCE, REQUESTS_IN_FLIGHT] = [100, 8];
/** The SDK's attempts, and its longest delays after a throttled attempt. Each delay is random below this value. */
const [ATTEMPTS, FIRST_DELAY_MS] = [3, 500];
/** The tries of shared/store/dynamo-table.ts, each with the SDK's attempts. */
const TRIES = 5;
const delayOf = (attempt: number, random: number): number => {
  const [tries, own] = [Math.floor((attempt + 1) / ATTEMPTS), attempt % ATTEMPTS];
  return own === ATTEMPTS - 1 ? FIRST_ROUND_MS * 2 ** tries : random * FIRST_DELAY_MS * 2 ** own;
};
/** The rounds in which shared/store/dynamo-batches.ts repeats the unprocessed entries of a batch. */
const [ROUNDS, FIRST_ROUND_MS, LONGEST_ROUND_MS] = [12, 50, 2_000];

/**
 * Returns the table as one worker sees it through the SDK. Each request takes simulated time. DynamoDB throttles requests
 * above the limits. Entries of a batch are then unprocessed, and other requests fail after the SDK's attempts.
 */
export function tableWithin(table: MemoryTable, client: Client): Table {
  const { effect, sleep, random, onThrottled, throughput } = client;
  const request = async <Result>(
    kind: string,
    entries: number,
    isAdmitted: (limits: Throughput) => boolean,
    run: () => Result,
  ): Promise<Result> => {
    const isBatch = entries > 0;
    const attempts = isBatch ? ROUNDS : ATTEMPTS * TRIES;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      await effect(kind, entries);
      const limits = throughput();
      if (limits === undefined || isAdmitted(limits)) return run();
      onThrottled();
      if (isBatch) await sleep(Math.min(LONGEST_ROUND_MS, FIRST_ROUND_MS * 2 ** attempt));
      else if (attempt < attempts - 1) await sleep(delayOf(attempt, random()));
    }
    const message = 'The level of configured provisioned throughput for the table was exceeded';
    const cause = new ProvisionedThroughputExceededException({ message, $metadata: {} });
    throw new ThrottledError('the table was throttled', { cause });
  };
  /** A write to the index uses the partitions of the old and of the new entry. */
  const mayWrite =
    ({ pk, sk }: Key, next: Partial<Item> = {}) =>
    (limits: Throughput) => {
      const places = [table.items.get(`${pk} ${sk}`)?.['gpk'], next['gpk']];
      const keys = places.flatMap((place) => (typeof place === 'string' ? [place] : []));
      return limits.admits('write', false, [pk]) && (keys.length === 0 || limits.admits('write', true, keys));
    };
  const mayRead = (isIndex: boolean, keys: readonly string[]) => (limits: Throughput) =>
    limits.admits('read', isIndex, keys);

  const getMany = async (keys: readonly Key[]) => {
    const distinct = [...new Map(keys.map((key) => [`${key.pk} ${key.sk}`, key])).values()];
    const found: Item[][] = [];
    const read = async (first: number) => {
      for (let at = first; at * KEYS_AT_ONCE < distinct.length; at += REQUESTS_IN_FLIGHT) {
        const some = distinct.slice(at * KEYS_AT_ONCE, (at + 1) * KEYS_AT_ONCE);
        const look = () => some.flatMap((key) => table.look(key) ?? []);
        const partitions = some.map(({ pk }) => pk);
        found[at] = await request('dynamodb BatchGetItem', some.length, mayRead(false, partitions), look);
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, (_, first) => read(first)));
    return found.flat();
  };
  return {
    identity: () => table.identity(),
    get: async (key) => (await getMany([key]))[0],
    getMany,
    async *query(wanted: QueryRequest) {
      const { index = false, partition } = wanted;
      let after: string | undefined;
      do {
        const read = () => table.page({ ...wanted, after });
        const page = await request('dynamodb Query', 0, mayRead(index, [partition]), read);
        yield page.items;
        after = page.last;
      } while (after !== undefined);
    },
    scan() {
      throw new Error('no function scans');
    },
    put: (item, when) =>
      request(
        when === undefined ? 'dynamodb BatchWriteItem' : 'dynamodb PutItem',
        when === undefined ? 1 : 0,
        mayWrite(item, item),
        () => table.store(item, when),
      ),
    update: (key, change, ...how) =>
      request('dynamodb UpdateItem', 0, mayWrite(key, change.set as Partial<Item>), () => {
        const item = table.change(key, change, ...how);
        return item === undefined ? { written: false } : { written: true, item };
      }),
    delete: (key, when) => request('dynamodb DeleteItem', 0, mayWrite(key), () => table.remove(key, when)),
  };
}
