import type { Change, Condition, Item, Key, QueryRequest, Table, Value } from './table.ts';

/**
 * A table that reads through to another and keeps every write to itself: what was written is read back, conditions are
 * judged as DynamoDB judges them, and the table below never changes. For dry runs that must be the real code.
 */
export function createOverlayTable(below: Table): Table {
  /** null: deleted. */
  const written = new Map<string, Item | null>();
  const get = async (key: Key): Promise<Item | undefined> => {
    const own = written.get(nameOf(key));
    return own === undefined ? below.get(key) : (own ?? undefined);
  };

  return {
    get,

    async getMany(keys) {
      const distinct = [...new Map(keys.map((key) => [nameOf(key), key])).values()];
      const own = distinct.flatMap((key) => written.get(nameOf(key)) ?? []);
      const others = distinct.filter((key) => !written.has(nameOf(key)));
      return [...own, ...(await below.getMany(others))];
    },

    query: (request) => (request.index === true ? below.query(request) : overlaid(request, below, written)),

    async put(item, when) {
      if (!holds(await get(item), when)) return false;
      written.set(nameOf(item), structuredClone(item));
      return true;
    },

    async update(key, change, when) {
      const stored = await get(key);
      if (!holds(stored, when)) return { written: false };
      const item = changed(stored ?? { pk: key.pk, sk: key.sk }, change);
      written.set(nameOf(key), item);
      return { written: true, item };
    },

    async delete(key, when) {
      if (!holds(await get(key), when)) return false;
      written.set(nameOf(key), null);
      return true;
    },
  };
}

const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/** One page: a dry run looks at one group at a time. */
async function* overlaid(request: QueryRequest, below: Table, written: ReadonlyMap<string, Item | null>) {
  const items: Item[] = [];
  for await (const page of below.query(request))
    items.push(...page.filter((item) => !written.has(nameOf(item))));
  for (const item of written.values()) if (item !== null && isAsked(item, request)) items.push(item);
  items.sort((a, b) => (a.sk < b.sk ? -1 : 1));
  yield request.newestFirst === true ? items.reverse() : items;
}

function isAsked({ pk, sk }: Key, { partition, prefix, between }: QueryRequest): boolean {
  if (pk !== partition) return false;
  if (prefix !== undefined) return sk.startsWith(prefix);
  return between === undefined || (between[0] <= sk && sk <= between[1]);
}

function changed(item: Item, { set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): Item {
  const next: Record<string, Value> = { ...item, ...structuredClone(set) };
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

/** A missing attribute, or one of another type, is neither less nor greater nor equal (DynamoDB, "Comparison"). */
function compares(stored: Value | undefined, when: Extract<Condition, { value: Value }>): boolean {
  const { kind, value } = when;
  const isEqual = JSON.stringify(stored) === JSON.stringify(value);
  if (kind === 'equal' || kind === 'notEqual') return isEqual === (kind === 'equal');
  if (typeof stored === 'number' && typeof value === 'number') {
    return kind === 'less' ? stored < value : stored > value;
  }
  if (typeof stored !== 'string' || typeof value !== 'string') return false;
  const order = Buffer.compare(Buffer.from(stored), Buffer.from(value));
  return kind === 'less' ? order < 0 : order > 0;
}
