import { TABLE } from '../../shared/contract/topology.ts';
import type { Change, Condition, Item, Key, QueryRequest, Value } from '../../shared/store/table.ts';
import { itemBytes, readUnits, writeUnits } from './item-size.ts';
import type { Tally } from './tally.ts';

/*
 * The table in memory, made for many items: partitions are maps, sorted when they are queried. Counts the capacity
 * units of every operation, those of the index included. Stored items are never changed in place, so readers share them.
 */

interface Stored {
  readonly item: Item;
  readonly bytes: number;
}

interface Partition {
  readonly items: Map<string, Stored>;
  sorted: readonly string[] | undefined;
}

export interface Page {
  readonly items: readonly Item[];
  /** Sort key (and, in the index, primary key) after which the next page begins. */
  readonly last?: string;
}

export type PageRequest = Omit<QueryRequest, 'pageSize'> & {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
};

/** A query answers at most 1 MB (Amazon DynamoDB API reference, Query). */
const PAGE_BYTES = 1_048_576;
const PROJECTED = new Set<string>([
  TABLE.partitionKey,
  TABLE.sortKey,
  TABLE.index.partitionKey,
  TABLE.index.sortKey,
  ...TABLE.index.projected,
]);

export function createEngine(tally: Tally) {
  const table = new Map<string, Partition>();
  const index = new Map<string, Partition>();

  const stored = ({ pk, sk }: Key): Stored | undefined => table.get(pk)?.items.get(sk);

  /** Puts `next` in the place of `before` and counts what that costs in the table and in the index. */
  const replace = (key: Key, before: Stored | undefined, next: Item | undefined): void => {
    const bytes = next === undefined ? 0 : itemBytes(next);
    tally.add('dynamodb write units', writeUnits(Math.max(bytes, before?.bytes ?? 0)));
    place(table, [key.pk, key.sk], next && { item: next, bytes });
    const from = before && indexEntry(before.item);
    const to = next && indexEntry(next);
    if (from !== undefined && from.pk === to?.pk && from.sk === to.sk) {
      if (JSON.stringify(from.shown) !== JSON.stringify(to.shown)) showInIndex(to);
      return;
    }
    if (from !== undefined) {
      tally.add('dynamodb write units', writeUnits(itemBytes(from.shown)));
      place(index, [from.pk, from.sk], undefined);
    }
    if (to !== undefined) showInIndex(to);
  };

  const showInIndex = ({ pk, sk, shown }: IndexEntry): void => {
    const bytes = itemBytes(shown);
    tally.add('dynamodb write units', writeUnits(bytes));
    place(index, [pk, sk], { item: shown, bytes });
  };

  /** A write whose condition fails is paid for all the same. */
  const refuse = (before: Stored | undefined): false => {
    tally.add('dynamodb write units', writeUnits(before?.bytes ?? 0));
    tally.add('dynamodb writes refused');
    return false;
  };

  return {
    get(key: Key): Item | undefined {
      const found = stored(key);
      tally.add('dynamodb read units', readUnits(found?.bytes ?? 0));
      return found?.item;
    },

    put(item: Item, when?: Condition): boolean {
      const before = stored(item);
      if (!holds(before?.item, when)) return refuse(before);
      replace(item, before, item);
      return true;
    },

    update(key: Key, change: Change, when?: Condition): Item | undefined {
      const before = stored(key);
      if (!holds(before?.item, when)) {
        refuse(before);
        return undefined;
      }
      const next = changed(before?.item ?? { pk: key.pk, sk: key.sk }, change);
      replace(key, before, next);
      return next;
    },

    delete(key: Key, when?: Condition): boolean {
      const before = stored(key);
      if (!holds(before?.item, when)) return refuse(before);
      replace(key, before, undefined);
      return true;
    },

    page(request: PageRequest): Page {
      const partition = (request.index ? index : table).get(request.partition);
      const page = readPage(partition, request);
      const units = readUnits(page.bytes);
      tally.add('dynamodb read units', request.index ? units / 2 : units);
      return page;
    },

    size: () => [...table.values()].reduce((sum, { items }) => sum + items.size, 0),
  };
}

export type Engine = ReturnType<typeof createEngine>;

function place(
  into: Map<string, Partition>,
  [pk, sk]: readonly [string, string],
  stored: Stored | undefined,
) {
  const partition = into.get(pk) ?? { items: new Map<string, Stored>(), sorted: undefined };
  if (stored === undefined) {
    if (partition.items.delete(sk)) partition.sorted = undefined;
    if (partition.items.size === 0) into.delete(pk);
    return;
  }
  if (!partition.items.has(sk)) partition.sorted = undefined;
  partition.items.set(sk, stored);
  into.set(pk, partition);
}

function readPage(partition: Partition | undefined, request: PageRequest): Page & { readonly bytes: number } {
  if (partition === undefined) return { items: [], bytes: 0 };
  partition.sorted ??= [...partition.items.keys()].sort();
  const all = partition.sorted;
  const { prefix, between, newestFirst = false, limit = Number.POSITIVE_INFINITY, after } = request;
  const from = prefix ?? between?.[0] ?? '';
  const isIn = (sk: string) =>
    prefix !== undefined
      ? sk.startsWith(prefix)
      : between === undefined || (sk.split('\n')[0] as string) <= between[1];
  const first = firstAtLeast(all, from);
  let end = first;
  while (end < all.length && isIn(all[end] as string)) end += 1;
  const keys = newestFirst ? all.slice(first, end).reverse() : all.slice(first, end);
  const start = after === undefined ? 0 : keys.indexOf(after) + 1;
  const items: Item[] = [];
  let bytes = 0;
  for (let at = start; at < keys.length; at += 1) {
    const one = partition.items.get(keys[at] as string) as Stored;
    items.push(one.item);
    bytes += one.bytes;
    if ((bytes >= PAGE_BYTES || items.length >= limit) && at + 1 < keys.length) {
      return { items, bytes, last: keys[at] as string };
    }
  }
  return { items, bytes };
}

function firstAtLeast(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface IndexEntry {
  readonly pk: string;
  /** The index's sort key and, to tell equal ones apart, the table's keys. */
  readonly sk: string;
  readonly shown: Item;
}

/** What the index shows of an item; undefined where the item has not both of its keys. */
function indexEntry(item: Item): IndexEntry | undefined {
  const { [TABLE.index.partitionKey]: pk, [TABLE.index.sortKey]: sk } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const shown: Record<string, Value> = {};
  for (const name in item) if (PROJECTED.has(name)) shown[name] = item[name] as Value;
  return { pk, sk: `${sk}\n${item.pk}\n${item.sk}`, shown: shown as Item };
}

function changed(item: Item, { set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): Item {
  const next: Record<string, Value> = { ...item, ...set };
  for (const [name, value] of Object.entries(setIfMissing)) next[name] ??= value;
  for (const [name, value] of Object.entries(add)) next[name] = Number(next[name] ?? 0) + value;
  for (const name of remove) delete next[name];
  return next as Item;
}

function holds(item: Item | undefined, when: Condition | undefined): boolean {
  if (when === undefined) return true;
  switch (when.kind) {
    case 'all':
      return when.of.every((part) => holds(item, part));
    case 'any':
      return when.of.some((part) => holds(item, part));
    case 'exists':
      return item?.[when.name] !== undefined;
    case 'missing':
      return item?.[when.name] === undefined;
    default:
      return compares(item?.[when.name], when);
  }
}

/** As in DynamoDB, values of another type are neither less nor greater nor equal. */
function compares(value: Value | undefined, when: Extract<Condition, { value: Value }>): boolean {
  if (when.kind === 'equal') return JSON.stringify(value) === JSON.stringify(when.value);
  if (when.kind === 'notEqual') return JSON.stringify(value) !== JSON.stringify(when.value);
  if (typeof value !== typeof when.value || value === undefined || value === null || when.value === null) {
    return false;
  }
  return when.kind === 'less' ? value < when.value : value > when.value;
}
