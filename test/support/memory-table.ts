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
    const sorted = [...this.items.values()]
      .filter((item) => item[pk] === partition && isInRange(String(item[sk]), prefix, between))
      .sort((a, b) => (String(a[sk]) < String(b[sk]) ? -1 : 1));
    if (newestFirst) sorted.reverse();
    for (let start = 0; start === 0 || start < sorted.length; start += pageSize) {
      yield sorted.slice(start, start + pageSize).map((item) => ({ ...item }));
    }
  }

  async put(item: Item, when?: Condition): Promise<boolean> {
    await this.#before('put', nameOf(item));
    if (!holds(this.items.get(nameOf(item)), when)) return false;
    this.items.set(nameOf(item), structuredClone(item));
    return true;
  }

  async update(key: Key, change: Change, when?: Condition): Promise<WriteOutcome> {
    await this.#before('update', nameOf(key));
    const stored = this.items.get(nameOf(key));
    if (!holds(stored, when)) return { written: false };
    const item = changed(stored ?? { pk: key.pk, sk: key.sk }, change);
    this.items.set(nameOf(key), item);
    return { written: true, item: { ...item } };
  }

  async delete(key: Key, when?: Condition): Promise<boolean> {
    await this.#before('delete', nameOf(key));
    if (!holds(this.items.get(nameOf(key)), when)) return false;
    this.items.delete(nameOf(key));
    return true;
  }
}

const nameOf = ({ pk, sk }: Key) => `${pk} ${sk}`;
const copy = (item: Item | undefined) => (item === undefined ? undefined : structuredClone(item));

function isInRange(sk: string, prefix: string | undefined, between: readonly [string, string] | undefined) {
  if (prefix !== undefined) return sk.startsWith(prefix);
  return between === undefined || (between[0] <= sk && sk <= between[1]);
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
    const order = Buffer.compare(Buffer.from(stored), Buffer.from(value));
    return when.kind === 'less' ? order < 0 : order > 0;
  }
  if (typeof stored !== 'number' || typeof value !== 'number') return false;
  return when.kind === 'less' ? stored < value : stored > value;
}
