import type { Item, Value } from '../../shared/store/table.ts';

/** A value in DynamoDB's wire format, with only the types that groupsync uses. */
export type Wire =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly L: readonly Wire[] }
  | { readonly M: WireItem };
export type WireItem = { readonly [name: string]: Wire };

export function plain(wire: Wire): Value {
  if ('S' in wire) return wire.S;
  if ('N' in wire) return Number(wire.N);
  if ('BOOL' in wire) return wire.BOOL;
  if ('L' in wire) return wire.L.map(plain);
  if ('M' in wire) return plainItem(wire.M);
  return null;
}

export const plainItem = (item: WireItem): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)])) as Item;

function wire(value: Value): Wire {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.map(wire) };
  return { M: wireItem(value as Item) };
}

export const wireItem = (item: { readonly [name: string]: Value }): WireItem =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, wire(value)]));
