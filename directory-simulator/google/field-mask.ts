import { invalidInput } from './errors.ts';

/** The fields of an answer that the client wants. A mask without names means all fields. */
export interface Mask {
  readonly [name: string]: Mask;
}

/**
 * Parses the standard parameter `fields`: names separated by commas, and `a/b` or `a(b,c)` for nested fields.
 * @throws {DirectoryError} 400 for text that is not a mask
 */
export function parseMask(text: string): Mask {
  const tokens = text.match(/[^,()/\s]+|[,()/]/g) ?? [];
  const reader = { tokens, position: 0, text };
  const mask = readList(reader);
  if (reader.position < tokens.length) throw invalidInput(`fields: ${text}`);
  return mask;
}

interface Reader {
  readonly tokens: readonly string[];
  readonly text: string;
  position: number;
}

function readList(reader: Reader): Mask {
  const mask: Record<string, Mask> = {};
  do {
    const [name, below] = readPath(reader);
    mask[name] = { ...mask[name], ...below };
  } while (take(reader, ','));
  return mask;
}

function readPath(reader: Reader): readonly [string, Mask] {
  const name = reader.tokens[reader.position];
  if (name === undefined || /^[,()/]$/.test(name)) throw invalidInput(`fields: ${reader.text}`);
  reader.position += 1;
  if (take(reader, '/')) {
    const [child, below] = readPath(reader);
    return [name, { [child]: below }];
  }
  if (!take(reader, '(')) return [name, {}];
  const below = readList(reader);
  if (!take(reader, ')')) throw invalidInput(`fields: ${reader.text}`);
  return [name, below];
}

function take(reader: Reader, token: string): boolean {
  if (reader.tokens[reader.position] !== token) return false;
  reader.position += 1;
  return true;
}

/** Returns the part of an answer that a mask names. For a list, the mask applies to each item. */
export function applyMask(value: unknown, mask: Mask): unknown {
  const names = Object.keys(mask);
  if (names.length === 0 || names.includes('*') || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => applyMask(item, mask));
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const below = mask[name];
    return below === undefined ? [] : [[name, applyMask(field, below)] as const];
  });
  return Object.fromEntries(kept);
}
