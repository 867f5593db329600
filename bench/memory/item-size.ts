import type { Value } from '../../shared/store/table.ts';

/*
 * Sizes and capacity units as Amazon DynamoDB bills them (developer guide, "DynamoDB Item sizes and formats" and
 * "DynamoDB read and write operations").
 */

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;

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
  return Object.entries(value).reduce((sum, [name, one]) => sum + 1 + textBytes(name) + valueBytes(one), 3);
}

const textBytes = (text: string): number => Buffer.byteLength(text);

/** A consistent read; half of it where the read is eventually consistent. Nothing found costs the minimum. */
export const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));
