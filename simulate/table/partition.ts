import { TABLE } from '../../shared/contract/topology.ts';
import type { Item, QueryRequest, Value } from '../../shared/store/table.ts';
import { byBytes, without } from './values.ts';

export interface Stored {
  readonly item: Item;
  readonly bytes: number;
  readonly entry?: IndexEntry | undefined;
}

export interface Partition {
  readonly entries: Map<string, Stored>;
  readonly sorted: string[];
  /**
   * Compares two keys by UTF-16 code units, which is fast. For some characters, DynamoDB's order by bytes is different.
   * After the first key with such a character, the partition compares by bytes.
   */
  compare: (a: string, b: string) => number;
}

export interface Page {
  readonly items: readonly Item[];
  readonly bytes: number;
  /** The last key of this page, if it is full. The next page begins after it. */
  readonly last?: string;
}

export type PageRequest = QueryRequest & { readonly after?: string | undefined };

export function place(
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

export function readPage(partition: Partition | undefined, request: PageRequest, most: number): Page {
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
const { partitionKey: GPK, sortKey: GSK } = TABLE.index;
const SHOWN: ReadonlySet<string> = new Set(['pk', 'sk', GPK, GSK, ...TABLE.index.projected]);

export interface IndexEntry {
  readonly pk: string;
  /** The sort key of the index, with the keys of the table to make it unique. */
  readonly sk: string;
  readonly shown: Item;
}

/** Returns the entry of an item in the index; undefined if the item lacks a key of the index. */
export function indexEntry(item: Item): IndexEntry | undefined {
  const { [GPK]: pk, [GSK]: sk } = item;
  if (typeof pk !== 'string' || typeof sk !== 'string') return undefined;
  const shown: Record<string, Value> = {};
  for (const name in item) if (SHOWN.has(name)) shown[name] = item[name] as Value;
  return { pk, sk: `${sk}\n${item.pk}\n${item.sk}`, shown: Object.freeze(shown) as Item };
}
