import type { Attributes, Change, Condition, Item, Value } from '../../shared/store/table.ts';

/** The maximum number of attributes that one expression can name. */
const MAX_NAMES = 600;

/** Compares two keys as DynamoDB does: by their UTF-8 bytes. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function isSame(a: Item, b: Item): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isEqual(a[name], b[name] as Value));
}

/**
 * Returns a frozen copy of the value as DynamoDB would return it. The function replaces lone surrogates. It throws an
 * error for a number that is not finite.
 */
export function kept(value: Value): Value {
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
 * Returns a copy without some properties. The function builds the copy from a list of entries, because V8 makes an
 * object slow after a `delete`, or after about fifteen added properties.
 */
export const without = (item: object, isOut: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !isOut(name)));

const LONE_SURROGATES = /\p{Surrogate}/gu;

export function changed(item: Item, { set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): Item {
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

export function holds(item: Item | undefined, when: Condition | undefined): boolean {
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

/** Compares two values as DynamoDB does. If the attribute is missing or has another type, the result is false. */
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
