import { TABLE } from '../shared/contract/topology.ts';
import type {
  Condition,
  Item,
  Key,
  QueryRequest,
  Table,
  TableIdentity,
  TablePart,
  WriteOutcome,
} from '../shared/store/table.ts';
import { UnstorableError } from '../shared/sync/ports/store-errors.ts';
import {
  type IndexEntry,
  indexEntry,
  type Page,
  type PageRequest,
  type Partition,
  place,
  readPage,
  type Stored,
} from './table/partition.ts';
import { changed, holds, isSame, itemBytes, kept } from './table/values.ts';

/**
 * The table in memory for tests, simulation and benchmarks. It follows the rules of DynamoDB: sizes, empty keys, pages
 * of 1 MB, and an index that may be late. All readers share the stored items. The items are frozen, so an attempt to
 * change an item throws an error.
 */

interface MemoryTableOptions {
  /** The table calls this function before each operation. */
  readonly before?: (operation: string, key: string) => Promise<void>;
  /** The clock, and the delay of the index in milliseconds, which some changes double and some take a tenth of. */
  readonly indexLag?: { readonly ms: number; readonly nowMs: () => number };
  /** Size of a page in bytes (default: 1 MB). */
  readonly pageBytes?: number;
  /** The maximum number of keys per BatchGetItem (default: 100). */
  readonly keysAtOnce?: number;
  /** Returns whether the next page is empty although more pages follow. DynamoDB permits such pages. */
  readonly isEmptyPage?: () => boolean;
  /** The table calls this function for each read and write with the billed bytes. */
  readonly meter?: Meter;
}

export interface Meter {
  read(bytes: number, isIndex: boolean, partition: string): void;
  /**
   * `bytes` is the size of the larger version of the item, before or after the write. For a write to the index, it is
   * the size of the entry.
   */
  write(bytes: number, isIndex: boolean, partition: string): void;
  refused(bytes: number, partition: string): void;
}

/** Amazon DynamoDB quotas for the sizes of keys. An item has at most 400 KB, and a page has at most 1 MB. */
const MAX_PK_BYTES = 2_048;
const MAX_SK_BYTES = 1_024;
const MAX_ITEM_BYTES = 400 * 1_024;
const NO_LAG = { ms: 0, nowMs: () => 0 };

export class MemoryTable implements Table {
  /** Items by key. The key is `pk` and `sk`, separated by a space. */
  readonly items = new Map<string, Item>();
  /** The size in bytes and the key of the largest item that was ever stored. */
  largest = { bytes: 0, key: '' };
  /** For each kind of sort key, the largest number of items that one query has read. */
  readonly widest = new Map<string, number>();
  readonly #table = new Map<string, Partition>();
  /** Copies of the index. Each read uses another copy. So a read may lack a change that an earlier read showed. */
  readonly #replicas: readonly Map<string, Partition>[];
  #indexReads = 0;
  #indexed = 0;
  readonly #late: { readonly dueMs: number; readonly run: () => void }[] = [];
  readonly #options: MemoryTableOptions;
  readonly keysAtOnce: number;
  /** A restore of the table sets another identity. */
  restored: TableIdentity = { id: 'first', createdAtMs: 0 };

  constructor(options: MemoryTableOptions | MemoryTableOptions['before'] = {}) {
    this.#options = typeof options === 'function' ? { before: options } : options;
    this.keysAtOnce = this.#options.keysAtOnce ?? 100;
    const isLate = (this.#options.indexLag ?? NO_LAG).ms > 0;
    this.#replicas = Array.from({ length: isLate ? 2 : 1 }, () => new Map<string, Partition>());
  }

  async identity(): Promise<TableIdentity> {
    return this.restored;
  }

  async get(key: Key): Promise<Item | undefined> {
    await this.#options.before?.('get', nameOf(key));
    return this.look(key);
  }

  async getMany(keys: readonly Key[]): Promise<readonly Item[]> {
    await this.#options.before?.('getMany', `${keys.length}`);
    const distinct = new Map(keys.map((key) => [nameOf(key), key]));
    return [...distinct.values()].flatMap((key) => this.look(key) ?? []);
  }

  /** @param ask is called before each page, which is a separate request */
  async *query(
    request: QueryRequest,
    ask = async () => this.#options.before?.('query', request.partition),
  ): AsyncGenerator<readonly Item[]> {
    let after: string | undefined;
    do {
      await ask();
      const { items, last } = this.page({ ...request, after });
      yield items;
      after = last;
    } while (after !== undefined);
  }

  /** @param ask is called before each page, which is a separate request */
  async *scan(
    { index, of }: TablePart = { index: 0, of: 1 },
    ask = async () => this.#options.before?.('scan', `${index}/${of}`),
  ): AsyncGenerator<readonly Item[]> {
    for (const [, { entries }] of [...this.#table].filter(([pk]) => pk.length % of === index)) {
      await ask();
      yield [...entries.values()].map(({ item }) => item);
    }
  }

  async put(item: Item, when?: Condition): Promise<boolean> {
    await this.#options.before?.('put', nameOf(item));
    return this.store(item, when);
  }

  async update(...[key, ...how]: Parameters<Table['update']>): Promise<WriteOutcome> {
    await this.#options.before?.('update', nameOf(key));
    const item = this.change(key, ...how);
    return item === undefined ? { written: false } : { written: true, item };
  }

  async delete(key: Key, when?: Condition): Promise<boolean> {
    await this.#options.before?.('delete', nameOf(key));
    return this.remove(key, when);
  }

  // Each of the following methods is one atomic request.
  look(key: Key): Item | undefined {
    const stored = this.#stored(key);
    this.#options.meter?.read(stored?.bytes ?? 0, false, key.pk);
    return stored?.item;
  }

  store(item: Item, when?: Condition): boolean {
    const before = this.#stored(item);
    if (!holds(before?.item, when)) return this.#refuse(item, before);
    this.#replace(item, before, kept(item) as Item);
    return true;
  }

  change(...[key, change, when, shown]: Parameters<Table['update']>): Item | undefined {
    const before = this.#stored(key);
    if (!holds(before?.item, when)) {
      this.#refuse(key, before);
      return undefined;
    }
    const next = changed(before?.item ?? { pk: key.pk, sk: key.sk }, change);
    this.#replace(key, before, next);
    return shown === 'before' ? (before?.item ?? { pk: key.pk, sk: key.sk }) : next;
  }

  remove(key: Key, when?: Condition): boolean {
    const before = this.#stored(key);
    if (!holds(before?.item, when)) return this.#refuse(key, before);
    this.#replace(key, before, undefined);
    return true;
  }

  /** Returns the items of one partition whose sort key has this prefix. Only checks use this method. */
  under(partition: string, prefix: string): readonly Item[] {
    const all = this.#table.get(partition)?.entries ?? [];
    return [...all].flatMap(([sort, { item }]) => (sort.startsWith(prefix) ? [item] : []));
  }

  /** Returns how often the index has changed. */
  get indexed(): number {
    this.#catchUp();
    return this.#indexed;
  }

  page(request: PageRequest): Page {
    this.#catchUp();
    const { pageBytes = 1_048_576, isEmptyPage } = this.#options;
    if (request.after !== undefined && isEmptyPage?.()) return { items: [], bytes: 0, last: request.after };
    if (request.index) this.#indexReads += 1;
    const index = this.#replicas[this.#indexReads % this.#replicas.length];
    const partition = (request.index ? index : this.#table)?.get(request.partition);
    const page = readPage(partition, request, pageBytes);
    this.#options.meter?.read(page.bytes, request.index === true, request.partition);
    const kind = request.index
      ? 'index'
      : (/^[A-Z]+#?/.exec(request.prefix ?? request.between?.[0] ?? '')?.[0] ?? '');
    if (page.items.length > (this.widest.get(kind) ?? 0)) this.widest.set(kind, page.items.length);
    return page;
  }

  /** Deletes expired items. DynamoDB does the same within days. */
  expire(nowMs: number): void {
    for (const item of this.items.values()) {
      const { [TABLE.timeToLive]: until } = item;
      if (typeof until === 'number' && until * 1_000 < nowMs) this.remove(item);
    }
  }

  #stored(key: Key): Stored | undefined {
    nameOf(key);
    return this.#table.get(key.pk)?.entries.get(key.sk);
  }

  #refuse({ pk }: Key, before: Stored | undefined): false {
    this.#options.meter?.refused(before?.bytes ?? 0, pk);
    return false;
  }

  #replace(key: Key, before: Stored | undefined, next: Item | undefined): void {
    const bytes = next === undefined ? 0 : itemBytes(next);
    if (next !== undefined && isTooLong(key))
      throw new UnstorableError(
        'expected a partition key of at most 2,048 bytes and a sort key of at most 1,024 bytes',
      );
    if (bytes > MAX_ITEM_BYTES)
      throw new UnstorableError(`expected an item of at most 400 KB, got ${bytes} bytes`);
    if (bytes > this.largest.bytes) this.largest = { bytes, key: nameOf(key) };
    this.#options.meter?.write(Math.max(bytes, before?.bytes ?? 0), false, key.pk);
    const from = before?.entry;
    const to = next && indexEntry(next);
    place(this.#table, [key.pk, key.sk], next && { item: next, bytes, entry: to });
    if (next === undefined) this.items.delete(nameOf(key));
    else this.items.set(nameOf(key), next);
    if (from === undefined && to === undefined) return;
    const { nowMs, ms } = this.#options.indexLag ?? NO_LAG;
    this.#replicas.forEach((index, which) => {
      // The index applies several changes of one item in their order. Changes of different items may be applied in any
      // order.
      const dueMs = nowMs() + (ms * (1 + (key.sk.length % 2))) / (1 + 9 * which);
      const last = this.#late.findLastIndex((one) => one.dueMs <= dueMs);
      this.#late.splice(last + 1, 0, { dueMs, run: () => this.#reindex(index, from, to) });
    });
    this.#catchUp();
  }

  #catchUp(): void {
    const nowMs = (this.#options.indexLag ?? NO_LAG).nowMs();
    while (this.#late[0] !== undefined && this.#late[0].dueMs <= nowMs) this.#late.shift()?.run();
  }

  #reindex(index: Map<string, Partition>, from: IndexEntry | undefined, to: IndexEntry | undefined): void {
    const isSamePlace = from !== undefined && to !== undefined && from.pk === to.pk && from.sk === to.sk;
    if (isSamePlace && isSame(from.shown, to.shown)) return;
    this.#indexed += 1;
    const meter = index === this.#replicas[0] ? this.#options.meter : undefined;
    if (from !== undefined && !isSamePlace) {
      meter?.write(itemBytes(from.shown), true, from.pk);
      place(index, [from.pk, from.sk], undefined);
    }
    if (to === undefined) return;
    const bytes = itemBytes(to.shown);
    meter?.write(bytes, true, to.pk);
    place(index, [to.pk, to.sk], { item: to.shown, bytes });
  }
}

const nameOf = ({ pk, sk }: Key): string => {
  if (pk === '' || sk === '') throw new UnstorableError('expected a key that is not empty');
  return `${pk} ${sk}`;
};

const isTooLong = ({ pk, sk }: Key): boolean =>
  Buffer.byteLength(pk) > MAX_PK_BYTES || Buffer.byteLength(sk) > MAX_SK_BYTES;
