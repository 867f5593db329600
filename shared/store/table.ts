/*
 * The operations that groupsync needs from its table. Each write changes one item, with or without a condition, and
 * there are no transactions. So a table in memory can follow the same rules as DynamoDB.
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
 * A condition on the stored item. If the condition is false, nothing is written. A `name` is an attribute, or a path
 * within an attribute (`hold.digest`). Only scalars can be compared, because emulators treat equal lists and maps as
 * different.
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

/** A change of one item. A missing item is created. An attribute may be in only one of the four fields. */
export interface Change {
  readonly set?: Attributes;
  readonly setIfMissing?: Attributes;
  /** The numbers to add. A missing attribute counts as 0. */
  readonly add?: { readonly [name: string]: number };
  readonly remove?: readonly string[];
}

export interface QueryRequest {
  /** A partition of the table, or of the index if `index` is true. The index is eventually consistent. */
  readonly partition: string;
  readonly index?: boolean;
  /** Returns only items whose sort key begins with this text. */
  readonly prefix?: string;
  /**
   * Returns only items with a sort key from the first to the second value, both inclusive. A request has this field or
   * `prefix`, not both.
   */
  readonly between?: readonly [string, string];
  readonly newestFirst?: boolean;
  /** The maximum number of items per page, for callers that stop early. */
  readonly pageSize?: number;
  /** Returns only the key and these attributes of each item, so that DynamoDB transfers less data. */
  readonly only?: readonly string[];
}

/** The identity of the table: its id, and the time of its creation. A restore creates a new table, also with an old name. */
export interface TableIdentity {
  readonly id: string;
  readonly createdAtMs: number;
}

/** One part of the table: part number `index` (from 0) of `of` parts. An item is always in the same part. */
export interface TablePart {
  readonly index: number;
  readonly of: number;
}

export type WriteOutcome =
  | { readonly written: true; readonly item: Item }
  /** The condition was false, and nothing changed. */
  | { readonly written: false };

/**
 * The table. All reads except reads of the index are strongly consistent. The table retries throttled requests itself.
 * @throws StoreError if the table cannot be reached or refuses the request. If the caller handles a message, SQS
 * delivers it again.
 * @throws UnstorableError if the table can never store the item
 */
export interface Table {
  /** Returns which table this is. After a restore, the table has another id. */
  identity(): Promise<TableIdentity>;
  get(key: Key): Promise<Item | undefined>;
  /** Returns the items that exist, in no particular order. Takes any number of keys, and reads duplicates once. */
  getMany(keys: readonly Key[]): Promise<readonly Item[]>;
  /** Returns pages of items in the order of the sort key. */
  query(request: QueryRequest): AsyncIterable<readonly Item[]>;
  /** Returns all items of the table, or of one part of the table, in pages. */
  scan(part?: TablePart): AsyncIterable<readonly Item[]>;
  /**
   * @param sent with `once`, a put without an answer fails and is not repeated. Use it for a put without a condition,
   * because a repeated put could overwrite changes that other requests made after the first put.
   */
  put(item: Item, when?: Condition, sent?: 'once'): Promise<boolean>;
  /**
   * Returns the item after the write or, with `before`, the item before the write. If there was no item, the result has
   * only its key.
   */
  update(key: Key, change: Change, when?: Condition, shown?: 'after' | 'before'): Promise<WriteOutcome>;
  delete(key: Key, when?: Condition): Promise<boolean>;
}

/** Converts each item of a query with `make`, and yields the results. */
export async function* eachOf<Made>(pages: AsyncIterable<readonly Item[]>, make: (item: Item) => Made) {
  for await (const page of pages) yield page.map(make);
}

/** Returns all items of a query. They must fit into memory. */
export async function itemsOf(table: Table, request: QueryRequest): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const page of table.query(request)) items.push(...page);
  return items;
}
