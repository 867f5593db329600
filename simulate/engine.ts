import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Dispatcher } from 'undici';
import type { QueueKey } from '../shared/contract/names.ts';
import type { Directories } from '../shared/directory/ports.ts';
import { createReaderStore } from '../shared/directory/store/reader-store.ts';
import { createOAuthServer } from '../shared/oauth/oauth-server.ts';
import { createPlatforms } from '../shared/platform/platforms.ts';
import { createApplyQueue } from '../shared/queues/apply-queue.ts';
import { createDeadLetterQueue } from '../shared/queues/dead-letter-queue.ts';
import { createEventSender } from '../shared/queues/sqs-batch.ts';
import { createRateLimiter } from '../shared/scim/server/limiter.ts';
import { createScimStore } from '../shared/scim/store/scim-store.ts';
import { createScimTokenStore } from '../shared/scim/store/scim-token-store.ts';
import { createConnectionStore } from '../shared/store/connection-store.ts';
import { createEraser } from '../shared/store/eraser.ts';
import { storesOver } from '../shared/store/stores.ts';
import type { Key, Table } from '../shared/store/table.ts';
import type { Ports } from '../shared/sync/ports/bundles.ts';
import type { Secrets } from '../shared/sync/ports/secrets.ts';
import { StoreError } from '../shared/sync/ports/store-errors.ts';
import type { MemoryTable } from './table.ts';
import type { Worker } from './worker.ts';

/** `unheard`: the request takes effect, but its caller gets no answer. `echo`: the client then repeats it. */
export type AwsFault = 'none' | 'throttled' | 'unheard' | 'echo';

/** Returns functions that send the requests of one worker to one service. */
export function requestsOf(worker: Worker, faultOf: (isRead: boolean) => AwsFault, failure: () => Error) {
  const ask = async (kind: string): Promise<void> => {
    await worker.effect(kind);
    if (faultOf(true) === 'throttled') throw failure();
  };
  const write = async <Result>(kind: string, run: () => Result): Promise<Result> => {
    await worker.effect(kind);
    const fault = faultOf(false);
    if (fault === 'throttled') throw failure();
    const result = run();
    if (fault === 'unheard') throw failure();
    return fault === 'echo' ? run() : result;
  };
  return { ask, write };
}

export function tableOf(table: MemoryTable, worker: Worker, faultOf: (isRead: boolean) => AwsFault): Table {
  const { ask, write } = requestsOf(worker, faultOf, () => new StoreError('the table did not answer'));
  return {
    identity: () => table.identity(),
    async get(key) {
      await ask(`get ${kindOf(key)}`);
      return table.look(key);
    },
    async getMany(keys) {
      const names = new Set<string>();
      const distinct = keys.filter(({ pk, sk }) => names.size < names.add(`${pk} ${sk}`).size);
      const found = [];
      // Like BatchGetItem, the table may return only some of the items. Further requests read the missing items.
      for (let at = 0; at < distinct.length; at += table.keysAtOnce) {
        const some = distinct.slice(at, at + table.keysAtOnce);
        await ask(`getMany ${kindOf(some[0] as Key)}`);
        found.push(...some.flatMap((key) => table.look(key) ?? []));
      }
      return found;
    },
    query(request) {
      const range = request.prefix ?? request.between?.[0] ?? '';
      const kind = `query ${request.index ? 'index' : kindOf({ pk: request.partition, sk: range })}`;
      return table.query(request, () => ask(kind));
    },
    scan: (part) => table.scan(part, () => ask('scan')),
    put: (item, when) => write(`put ${kindOf(item)}`, () => table.store(item, when)),
    update: (key, ...how) =>
      write(`update ${kindOf(key)}`, () => {
        const item = table.change(key, ...how);
        return item === undefined ? { written: false } : { written: true, item };
      }),
    delete: (key, when) => write(`delete ${kindOf(key)}`, () => table.remove(key, when)),
  };
}

/** Returns the kind of an item. The sort key of a claim or a pointer is an id, so the partition key gives the kind. */
function kindOf({ pk, sk }: Key): string {
  const partition = /^(?:L|P|PU)#/.exec(pk)?.[0];
  if (partition !== undefined) return partition;
  return /^[A-Z]+#?/.exec(sk)?.[0] ?? 'other';
}

type OfTheWorld = Pick<Ports, 'clock' | 'random' | 'newId' | 'sleep' | 'coalesceMs' | 'createSettleMs'>;

export interface PortsOptions extends OfTheWorld {
  readonly table: Table;
  readonly sqs: SQSClient;
  readonly queueUrl: (key: QueueKey) => string;
  readonly dispatcher: Dispatcher;
  readonly secrets: Secrets;
  /**
   * A view up to this size is stored on the item of its group. Runs use a small value, so that even the view of a small
   * group needs separate items.
   */
  readonly inlineViewBytes?: number;
  /** The directories that the reader reads; undefined without a reader. */
  readonly directories?: Directories;
  /** The function that uses the ports. Its name is an attribute of each message that it dead-letters. */
  readonly source: 'ingest' | 'apply';
}

const NONE: Directories = {
  open: async ({ name }) => {
    throw new TypeError(`the connection ${name} reads no directory`);
  },
  examine: async () => [],
};

/** The time for which a worker caches a connection. shared/runtime/wire.ts uses the same value. */
const CONNECTIONS_REMEMBERED_MS = 30_000;

/** Returns the same ports as shared/runtime/wire*.ts. They use the given table, queues, platforms, clock and ids. */
export function portsOver(options: PortsOptions) {
  const {
    sqs,
    queueUrl,
    source,
    secrets,
    dispatcher,
    inlineViewBytes,
    directories = NONE,
    ...given
  } = options;
  const { table, clock, random, sleep } = given;
  const stores = allStoresOver(table, inlineViewBytes);
  return {
    ...given,
    ...stores,
    caller: async () => ({ kind: 'operator' as const, id: 'operator' }),
    connections: createConnectionStore(table, { clock, rememberMs: CONNECTIONS_REMEMBERED_MS }),
    notifier: { prefix: 'groupsync', targets: [], send: async () => new Map() },
    deadLetterCount: async () => 0,
    limiter: createRateLimiter(clock),
    oauth: createOAuthServer(),
    randomHex: (bytes: number) =>
      Array.from({ length: bytes * 2 }, () => Math.floor(random() * 16).toString(16)).join(''),
    directories,
    events: createEventSender(sqs, async () => queueUrl('events')),
    applyQueue: createApplyQueue(sqs, async () => queueUrl('apply')),
    deadLetters: createDeadLetterQueue(sqs, {
      queueUrl: queueUrl(source === 'ingest' ? 'eventsDlq' : 'applyDlq'),
      source,
      clock,
    }),
    platforms: createPlatforms({ secrets, leases: stores.leases, dispatcher, clock, random, sleep }),
  };
}

/** Returns all stores of the table except the connection store, which needs a clock. */
export const allStoresOver = (table: Table, inlineViewBytes?: number) => ({
  ...storesOver(table, inlineViewBytes),
  scim: createScimStore(table),
  eraser: createEraser(table),
  reader: createReaderStore(table),
  tokens: createScimTokenStore(table),
});

export type EnginePorts = ReturnType<typeof portsOver>;
