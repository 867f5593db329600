/*
 * The few things that groupsync asks of its table. Every protocol works with conditional writes of one item, so the
 * language is small: it says exactly what DynamoDB can do, and a store in memory can be held to the same rules.
 */

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export type Scalar = string | number | boolean | null;
export type Value = Scalar | readonly Value[] | { readonly [name: string]: Value };
export type Attributes = { readonly [name: string]: Value };
export type Item = Key & Attributes;

/**
 * What must be true of the stored item for a write to happen. A name is an attribute's, or leads into it (`hold.digest`).
 * Only scalars are compared: emulators take equal lists and maps for different ones.
 */
export type Condition =
  | { readonly kind: 'exists' | 'missing'; readonly name: string }
  | { readonly kind: 'equal' | 'less' | 'greater'; readonly name: string; readonly value: Scalar }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] };

export const exists = (name: string): Condition => ({ kind: 'exists', name });
export const missing = (name: string): Condition => ({ kind: 'missing', name });
export const equal = (name: string, value: Scalar): Condition => ({ kind: 'equal', name, value });
export const less = (name: string, value: Scalar): Condition => ({ kind: 'less', name, value });
export const greater = (name: string, value: Scalar): Condition => ({ kind: 'greater', name, value });
export const all = (...of: readonly Condition[]): Condition => ({ kind: 'all', of });
export const any = (...of: readonly Condition[]): Condition => ({ kind: 'any', of });

/** A change of one item; the item comes into being where it was missing. An attribute is named in one part only. */
export interface Change {
  readonly set?: Attributes;
  /** Set only if the attribute is missing. */
  readonly setIfMissing?: Attributes;
  /** Numbers to add; a missing attribute counts as 0. */
  readonly add?: { readonly [name: string]: number };
  readonly remove?: readonly string[];
}

export interface QueryRequest {
  /** Partition of the table, or of the index where `index` is true (which is eventually consistent). */
  readonly partition: string;
  readonly index?: boolean;
  /** Only sort keys that begin with this. */
  readonly prefix?: string;
  /** Only sort keys from the first to the second, both inclusive; not together with `prefix`. */
  readonly between?: readonly [string, string];
  readonly newestFirst?: boolean;
  /** Items per page at most: for callers that stop early. */
  readonly pageSize?: number;
  /** Of each item only its key and these attributes: what is not asked for need not travel. */
  readonly only?: readonly string[];
}

/** One of `of` parts of the table; an item is always in the same one. `index` begins at 0. */
export interface Part {
  readonly index: number;
  readonly of: number;
}

export type WriteOutcome =
  | { readonly written: true; readonly item: Item }
  /** The condition did not hold; nothing changed. */
  | { readonly written: false };

/**
 * The table. Reads by key and of partitions are strongly consistent; throttling is retried inside.
 * @throws StoreError if the table cannot be reached or refuses: the caller's message is tried again later.
 * @throws UnstorableError if it can never store the item
 */
export interface Table {
  get(key: Key): Promise<Item | undefined>;
  /** The items that exist, in no particular order. Any number of keys; duplicates are read once. */
  getMany(keys: readonly Key[]): Promise<readonly Item[]>;
  /** Pages of items in the order of the sort key. */
  query(request: QueryRequest): AsyncIterable<readonly Item[]>;
  /** Everything, or one of so many parts of it, in pages: for what no key leads to. */
  scan(part?: Part): AsyncIterable<readonly Item[]>;
  /**
   * @param sent `once`: for an item without a condition that later requests write. It is not sent again if no answer comes,
   *   because a late copy could overwrite those writes: the caller fails instead
   */
  put(item: Item, when?: Condition, sent?: 'once'): Promise<boolean>;
  /** The outcome carries the item as it is after the write, or as it was before; a new one was no more than its key. */
  update(key: Key, change: Change, when?: Condition, shown?: 'after' | 'before'): Promise<WriteOutcome>;
  delete(key: Key, when?: Condition): Promise<boolean>;
}

/** Page by page, what is made of the items of a query. */
export async function* eachOf<Made>(pages: AsyncIterable<readonly Item[]>, make: (item: Item) => Made) {
  for await (const page of pages) yield page.map(make);
}

/** All that a query finds, where that is not too much to hold. */
export async function itemsOf(table: Table, request: QueryRequest): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const page of table.query(request)) items.push(...page);
  return items;
}
