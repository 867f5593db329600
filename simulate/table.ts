import { TABLE } from '../shared/contract/topology.ts';
import type {
  Attributes,
  Change,
  Condition,
  Item,
  Key,
  Part,
  QueryRequest,
  Table,
  Value,
  WriteOutcome,
} from '../shared/store/table.ts';
import { UnstorableError } from '../shared/sync/ports/store-errors.ts';

/**
 * The table in memory that tests, simulation and benchmarks use. It follows the rules of DynamoDB: sizes, empty keys,
 * pages of 1 MB, and an index that may be late. All readers share the stored items. The items are frozen, so an attempt
 * to change one throws an error.
 */

export interface MemoryTableOptions {
  /** Called before each operation. A test can stop the worker here, or let another worker run first. */
  readonly before?: (operation: string, key: string) => Promise<void>;
  /**
   * The delay of the index in milliseconds, and the clock. Some changes need twice the delay, and some a tenth of it.
   */
  readonly indexLag?: { readonly ms: number; readonly nowMs: () => number };
  /** Size of a page in bytes (default: 1 MB). */
  readonly pageBytes?: number;
  /** The maximum number of keys per BatchGetItem (default: 100). */
  readonly keysAtOnce?: number;
  /** Returns whether the next page is empty although more pages follow, which DynamoDB permits. */
  readonly isEmptyPage?: () => boolean;
  /** Called for each read and write with its billed bytes. */
  readonly meter?: Meter;
}

export interface Meter {
  read(bytes: number, isIndex: boolean): void;
  /**
   * `bytes` is the size of the item before or after the write, whichever is larger. For a write to the index, it is the
   * size of the entry.
   */
  write(bytes: number, isIndex: boolean): void;
  refused(bytes: number): void;
}

interface Stored {
  readonly item: Item;
  readonly bytes: number;
  /** The entry of the item in the index. */
  readonly entry?: IndexEntry | undefined;
}

interface Partition {
  readonly entries: Map<string, Stored>;
  /** All keys, sorted. */
  readonly sorted: string[];
  /**
   * Compares two keys. It compares UTF-16 code units, which is fast. For some characters, DynamoDB's order by bytes
   * differs. When the partition gets its first key with such a character, it changes to a comparison by bytes.
   */
  compare: (a: string, b: string) => number;
}

export interface Page {
  readonly items: readonly Item[];
  readonly bytes: number;
  /** The key at which the next page begins. */
  readonly last?: string;
}

export type PageRequest = QueryRequest & { readonly after?: string | undefined };

/** Amazon DynamoDB quotas for the sizes of keys. An item has at most 400 KB, and a page has at most 1 MB. */
const MAX_PK_BYTES = 2_048;
const MAX_SK_BYTES = 1_024;
const MAX_ITEM_BYTES = 400 * 1_024;
/**
 * The maximum number of attributes that one expression can remove, because an expression has at most 4 KB, with
 * placeholders like `#n123`.
 */
const MAX_NAMES = 600;
const { partitionKey: GPK, sortKey: GSK } = TABLE.index;
const SHOWN: ReadonlySet<string> = new Set(['pk', 'sk', GPK, GSK, ...TABLE.index.projected]);

const NO_LAG = { ms: 0, nowMs: () => 0 };

export class MemoryTable implements Table {
  /** Items by `pk` and `sk` with a space between them. */
  readonly items = new Map<string, Item>();
  /** The size in bytes of the largest item that was ever stored, and its key. */
  largest = { bytes: 0, key: '' };
  /** For each kind of sort key, the largest number of items that one query has read. */
  readonly widest = new Map<string, number>();
  readonly #table = new Map<string, Partition>();
  /** Copies of the index. Each read uses another copy, so a read may lack a change that an earlier read showed. */
  readonly #replicas: readonly Map<string, Partition>[];
  #indexReads = 0;
  #indexed = 0;
  readonly #late: { readonly dueMs: number; readonly run: () => void }[] = [];
  readonly #options: MemoryTableOptions;
  readonly keysAtOnce: number;

  constructor(options: MemoryTableOptions | MemoryTableOptions['before'] = {}) {
    this.#options = typeof options === 'function' ? { before: options } : options;
    this.keysAtOnce = this.#options.keysAtOnce ?? 100;
    const isLate = (this.#options.indexLag ?? NO_LAG).ms > 0;
    this.#replicas = Array.from({ length: isLate ? 2 : 1 }, () => new Map<string, Partition>());
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
    { index, of }: Part = { index: 0, of: 1 },
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
    this.#options.meter?.read(stored?.bytes ?? 0, false);
    return stored?.item;
  }

  store(item: Item, when?: Condition): boolean {
    const before = this.#stored(item);
    if (!holds(before?.item, when)) return this.#refuse(before);
    this.#replace(item, before, kept(item) as Item);
    return true;
  }

  change(...[key, change, when, shown]: Parameters<Table['update']>): Item | undefined {
    const before = this.#stored(key);
    if (!holds(before?.item, when)) {
      this.#refuse(before);
      return undefined;
    }
    const next = changed(before?.item ?? { pk: key.pk, sk: key.sk }, change);
    this.#replace(key, before, next);
    return shown === 'before' ? (before?.item ?? { pk: key.pk, sk: key.sk }) : next;
  }

  remove(key: Key, when?: Condition): boolean {
    const before = this.#stored(key);
    if (!holds(before?.item, when)) return this.#refuse(before);
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
    this.#options.meter?.read(page.bytes, request.index === true);
    const kind = request.index
      ? 'index'
      : (/^[A-Z]+#?/.exec(request.prefix ?? request.between?.[0] ?? '')?.[0] ?? '');
    if (page.items.length > (this.widest.get(kind) ?? 0)) this.widest.set(kind, page.items.length);
    return page;
  }

  /** Deletes expired items, as DynamoDB does within days. */
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

  #refuse(before: Stored | undefined): false {
    this.#options.meter?.refused(before?.bytes ?? 0);
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
    this.#options.meter?.write(Math.max(bytes, before?.bytes ?? 0), false);
    const from = before?.entry;
    const to = next && indexEntry(next);
    place(this.#table, [key.pk, key.sk], next && { item: next, bytes, entry: to });
    if (next === undefined) this.items.delete(nameOf(key));
    else this.items.set(nameOf(key), next);
    if (from === undefined && to === undefined) return;
    const { nowMs, ms } = this.#options.indexLag ?? NO_LAG;
    this.#replicas.forEach((index, which) => {
      // The index applies the changes of one item in their order, but changes of different items in any order.
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
      meter?.write(itemBytes(from.shown), true);
      place(index, [from.pk, from.sk], undefined);
    }
    if (to === undefined) return;
    const bytes = itemBytes(to.shown);
    meter?.write(bytes, true);
    place(index, [to.pk, to.sk], { item: to.shown, bytes });
  }
}

const nameOf = ({ pk, sk }: Key): string => {
  if (pk === '' || sk === '') throw new UnstorableError('expected a key that is not empty');
  return `${pk} ${sk}`;
};

const isTooLong = ({ pk, sk }: Key): boolean =>
  Buffer.byteLength(pk) > MAX_PK_BYTES || Buffer.byteLength(sk) > MAX_SK_BYTES;

function place(
  into: Map<string, Partition>,
  [pk, sk]: readonly [string, string],
  stored: Stored | undefined,
): void {
  const partition = into.get(pk) ?? { entries: new Map<string, Stored>(), sorted: [], compare: byUnits };
  const { entries, sorted } = partition;
  if (stored === undefined) {
    if (entries.delete(sk)) sorted.splice(firstAtLeast(partition, sk), 1);
    if (entries.size === 0) into.delete(pk);
    return;
  }
  if (!entries.has(sk)) {
    if (partition.compare === byUnits && HIGH.test(sk)) {
      partition.compare = byBytes;
      sorted.sort(byBytes);
    }
    sorted.splice(firstAtLeast(partition, sk), 0, sk);
  }
  entries.set(sk, stored);
  into.set(pk, partition);
}

function readPage(partition: Partition | undefined, request: PageRequest, most: number): Page {
  if (partition === undefined) return { items: [], bytes: 0 };
  const { sorted, compare } = partition;
  const { prefix, between, newestFirst = false, pageSize = Number.POSITIVE_INFINITY, after } = request;
  const low = firstAtLeast(partition, prefix ?? between?.[0] ?? '');
  let place = low;
  if (newestFirst) {
    while (place < sorted.length && isWithin(sorted[place] as string, request, compare)) place += 1;
    place -= 1;
  }
  // The page begins after the last key of the previous page, because the item of that key may have been deleted.
  if (after !== undefined) {
    const known = firstAtLeast(partition, after);
    const next = sorted[known] === after ? known + 1 : known;
    place = newestFirst ? Math.min(place, known - 1) : next;
  }
  const step = newestFirst ? -1 : 1;
  const isThere = () =>
    place >= low && place < sorted.length && isWithin(sorted[place] as string, request, compare);
  const only = request.only && new Set(['pk', 'sk', ...request.only]);
  const items: Item[] = [];
  let bytes = 0;
  for (; isThere(); place += step) {
    const last = sorted[place] as string;
    const one = partition.entries.get(last) as Stored;
    items.push(only === undefined ? one.item : (without(one.item, (name) => !only.has(name)) as Item));
    bytes += one.bytes;
    // A full page has a key for the next page even if no item follows (DynamoDB API reference, LastEvaluatedKey).
    if (bytes >= most || items.length >= pageSize) return { items, bytes, last };
  }
  return { items, bytes };
}

function isWithin(key: string, { prefix, between }: PageRequest, compare: Partition['compare']): boolean {
  if (prefix !== undefined) return key.startsWith(prefix);
  return between === undefined || compare(key.split('\n')[0] as string, between[1]) <= 0;
}

function firstAtLeast({ sorted, compare }: Partition, key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(sorted[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Characters for which DynamoDB's order by UTF-8 bytes differs from the order by UTF-16 code units: surrogates, and
 * U+E000 to U+FFFF.
 */
const HIGH = /[\ud800-\uffff]/;
function byUnits(a: string, b: string): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

interface IndexEntry {
  readonly pk: string;
  /** The sort key of the index, with the keys of the table to make it unique. */
  readonly sk: string;
  readonly shown: Item;
}

/** Returns the entry of an item in the index; undefined if the item lacks a key of the index. */
function indexEntry(item: Item): IndexEntry | undefined {
  const { [GPK]: pk, [GSK]: sk } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const shown: Record<string, Value> = {};
  for (const name in item) if (SHOWN.has(name)) shown[name] = item[name] as Value;
  return { pk, sk: `${sk}\n${item.pk}\n${item.sk}`, shown: Object.freeze(shown) as Item };
}

function isSame(a: Item, b: Item): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isEqual(a[name], b[name] as Value));
}

/**
 * Returns a frozen copy of the value as DynamoDB would return it. Lone surrogates are replaced. A number that is not
 * finite causes an error.
 */
function kept(value: Value): Value {
  if (typeof value === 'string') return value.replace(LONE_SURROGATES, '\ufffd');
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error(`ValidationException: ${value} is no number`);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return Object.freeze(value.map(kept));
  const copy: Record<string, Value | undefined> = { ...(value as Attributes) };
  let isWhole = true;
  for (const name in copy) {
    const one = copy[name];
    if (one === undefined) isWhole = false;
    else copy[name] = kept(one);
  }
  return Object.freeze(isWhole ? copy : without(copy, (name) => copy[name] === undefined)) as Value;
}

/**
 * Returns a copy without some properties. It is built from a list of entries, because V8 makes an object slow after a
 * `delete`, or if about fifteen properties are added one by one.
 */
const without = (item: object, isOut: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !isOut(name)));

const LONE_SURROGATES = /\p{Surrogate}/gu;

function changed(item: Item, { set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): Item {
  const named = [set, setIfMissing, add].flatMap((part) => Object.values(part));
  if (remove.length === 0 && named.every((value) => value === undefined))
    throw new Error('ValidationException: the update expression may not be empty');
  const names = [set, setIfMissing, add].flatMap((part) => Object.keys(part)).concat(remove);
  if (new Set(names).size < names.length) {
    const twice = names.filter((name, index) => names.indexOf(name) < index).join(', ');
    throw new Error(`ValidationException: two document paths overlap with each other: ${twice}`);
  }
  if (names.length > MAX_NAMES)
    throw new Error('ValidationException: Expression size has exceeded the maximum allowed size');
  const isRemoved = (name: string) => remove.includes(name);
  const next: Record<string, Value> = Object.keys(item).some(isRemoved)
    ? without(item, isRemoved)
    : { ...item };
  for (const [name, value] of Object.entries(set)) if (value !== undefined) next[name] = kept(value);
  for (const [name, value] of Object.entries(setIfMissing)) next[name] ??= kept(value);
  for (const [name, value] of Object.entries(add)) next[name] = Number(next[name] ?? 0) + value;
  return Object.freeze(next) as Item;
}

/** Returns the value at a path such as `a.b`. */
const at = (item: Item | undefined, path: string): Value | undefined =>
  path.split('.').reduce<Value | undefined>((value, name) => (value as Attributes | undefined)?.[name], item);

function holds(item: Item | undefined, when: Condition | undefined): boolean {
  if (when === undefined) return true;
  switch (when.kind) {
    case 'all':
      return when.of.every((part) => holds(item, part));
    case 'any':
      return when.of.some((part) => holds(item, part));
    case 'exists':
      return at(item, when.name) !== undefined;
    case 'missing':
      return at(item, when.name) === undefined;
    default:
      return compares(at(item, when.name), when);
  }
}

/** Compares two values as DynamoDB does. If the attribute is missing or has another type, each comparison is false. */
function compares(stored: Value | undefined, when: Extract<Condition, { value: Value }>): boolean {
  const { kind, value } = when;
  if (kind === 'equal') return isEqual(stored, value);
  if (typeof stored === 'string' && typeof value === 'string') {
    const order = byBytes(stored, value);
    return kind === 'less' ? order < 0 : order > 0;
  }
  if (typeof stored !== 'number' || typeof value !== 'number') return false;
  return kind === 'less' ? stored < value : stored > value;
}

const isEqual = (a: Value | undefined, b: Value): boolean =>
  a === b || (typeof a === 'object' && a !== null && JSON.stringify(a) === JSON.stringify(b));

/** Returns the size that DynamoDB counts (developer guide, "DynamoDB Item sizes and formats"). */
export function itemBytes(item: { readonly [name: string]: Value }): number {
  let bytes = 0;
  for (const name in item) bytes += textBytes(name) + valueBytes(item[name] as Value);
  return bytes;
}

function valueBytes(value: Value): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value === 'number') return Math.ceil(String(Math.abs(value)).length / 2) + 1;
  if (value === null || typeof value === 'boolean') return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + 1 + valueBytes(one), 3);
  let bytes = 3;
  for (const name in value) bytes += 1 + textBytes(name) + valueBytes((value as Attributes)[name] as Value);
  return bytes;
}

const textBytes = (text: string): number => Buffer.byteLength(text);
