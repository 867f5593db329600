import { TABLE } from '../../shared/contract/topology.ts';
import type {
  Change,
  Condition,
  Item,
  Key,
  QueryRequest,
  Table,
  Value,
  WriteOutcome,
} from '../../shared/store/table.ts';

/** The table in memory, held to DynamoDB's rules; the integration tests run the same stores over the real API. */
export class MemoryTable implements Table {
  readonly items = new Map<string, Item>();
  readonly #partitions = new Map<string, Set<string>>();
  /** Called before each operation, so that a test can stop the run, or let another worker go first. */
  readonly #before: (operation: string, key: string) => Promise<void>;

  constructor(before: (operation: string, key: string) => Promise<void> = async () => {}) {
    this.#before = before;
  }

  async get(key: Key): Promise<Item | undefined> {
    await this.#before('get', nameOf(key));
    return copy(this.items.get(nameOf(key)));
  }

  async getMany(keys: readonly Key[]): Promise<readonly Item[]> {
    await this.#before('getMany', `${keys.length}`);
    const names = new Set(keys.map(nameOf));
    return [...names].flatMap((name) => copy(this.items.get(name)) ?? []);
  }

  async *query({ partition, index, prefix, between, newestFirst, pageSize = 1_000 }: QueryRequest) {
    await this.#before('query', partition);
    const [pk, sk] = index ? (['gpk', 'gsk'] as const) : (['pk', 'sk'] as const);
    const sorted = this.#itemsOf(partition, index)
      .filter((item) => item[pk] === partition && isInRange(item[sk], prefix, between))
      .sort((a, b) => compareBytes(String(a[sk]), String(b[sk])));
    if (newestFirst) sorted.reverse();
    const shown = index ? sorted.map(projected) : sorted;
    for (let start = 0; start === 0 || start < shown.length; start += pageSize) {
      yield shown.slice(start, start + pageSize).map((item) => structuredClone(item));
    }
  }

  /** Only those of the partition, so that a large table does not make every query slow. */
  #itemsOf(partition: string, index: boolean | undefined): readonly Item[] {
    if (index) return [...this.items.values()];
    const names = this.#partitions.get(partition) ?? [];
    return [...names].flatMap((name) => this.items.get(name) ?? []);
  }

  #keep(item: Item): void {
    this.items.set(nameOf(item), fitting(item));
    const names = this.#partitions.get(item.pk);
    if (names === undefined) this.#partitions.set(item.pk, new Set([nameOf(item)]));
    else names.add(nameOf(item));
  }

  async put(item: Item, when?: Condition): Promise<boolean> {
    await this.#before('put', nameOf(item));
    if (!holds(this.items.get(nameOf(item)), when)) return false;
    this.#keep(structuredClone(item));
    return true;
  }

  async update(key: Key, change: Change, when?: Condition): Promise<WriteOutcome> {
    await this.#before('update', nameOf(key));
    const stored = this.items.get(nameOf(key));
    if (!holds(stored, when)) return { written: false };
    const item = changed(stored ?? { pk: key.pk, sk: key.sk }, change);
    this.#keep(item);
    return { written: true, item: structuredClone(item) };
  }

  async delete(key: Key, when?: Condition): Promise<boolean> {
    await this.#before('delete', nameOf(key));
    if (!holds(this.items.get(nameOf(key)), when)) return false;
    this.items.delete(nameOf(key));
    this.#partitions.get(key.pk)?.delete(nameOf(key));
    return true;
  }
}

const nameOf = ({ pk, sk }: Key) => {
  if (pk === '' || sk === '') throw new Error('ValidationException: a key may not be empty');
  return `${pk} ${sk}`;
};
const copy = (item: Item | undefined) => (item === undefined ? undefined : structuredClone(item));

const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function isInRange(
  sk: Value | undefined,
  prefix: string | undefined,
  between: readonly [string, string] | undefined,
): boolean {
  // The index leaves out what has no sort key in it.
  if (typeof sk !== 'string') return false;
  if (prefix !== undefined) return sk.startsWith(prefix);
  if (between === undefined) return true;
  return compareBytes(between[0], sk) <= 0 && compareBytes(sk, between[1]) <= 0;
}

/** The index shows its keys, the table's, and what it was told to show. */
const SHOWN: ReadonlySet<string> = new Set(['pk', 'sk', 'gpk', 'gsk', ...TABLE.index.projected]);
const projected = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => SHOWN.has(name))) as Item;

/** Amazon DynamoDB quotas: an item has at most 400 KB. */
const MAX_ITEM_BYTES = 400 * 1_024;

function fitting(item: Item): Item {
  const bytes = Buffer.byteLength(JSON.stringify(item));
  if (bytes > MAX_ITEM_BYTES) throw new Error(`expected an item of at most 400 KB, got ${bytes} bytes`);
  return item;
}

function changed(item: Item, { set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): Item {
  const next: Record<string, Value> = { ...item };
  for (const [name, value] of Object.entries(structuredClone(set))) next[name] = value;
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

/** As in DynamoDB, a missing attribute and one of another type are neither less nor greater nor equal. */
function compares(stored: Value | undefined, when: Extract<Condition, { value: Value }>): boolean {
  if (when.kind === 'notEqual') return JSON.stringify(stored) !== JSON.stringify(when.value);
  if (when.kind === 'equal') return JSON.stringify(stored) === JSON.stringify(when.value);
  const { value } = when;
  if (typeof stored === 'string' && typeof value === 'string') {
    const order = compareBytes(stored, value);
    return when.kind === 'less' ? order < 0 : order > 0;
  }
  if (typeof stored !== 'number' || typeof value !== 'number') return false;
  return when.kind === 'less' ? stored < value : stored > value;
}
