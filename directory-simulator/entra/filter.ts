import { unsupportedQuery } from './errors.ts';
import type { Properties } from './properties.ts';

type Filter = (properties: Properties) => boolean;

const TEXT = "'((?:[^']|'')*)'";
const unquoted = (text: string) => text.replaceAll("''", "'");
const same = (a: unknown, b: string) => typeof a === 'string' && a.toLowerCase() === b.toLowerCase();

/** Parsers for clauses, one for each form. A parser returns undefined for text of another form. */
const CLAUSES: readonly ((text: string) => Filter | undefined)[] = [
  (text) => {
    const [, name, value] = new RegExp(`^(\\w+) +eq +${TEXT}$`, 'i').exec(text) ?? [];
    if (name === undefined || value === undefined) return undefined;
    return (properties) => same(properties[name], unquoted(value));
  },
  (text) => {
    const [, name, value] = /^(\w+) +eq +(true|false|null)$/i.exec(text) ?? [];
    if (name === undefined || value === undefined) return undefined;
    return (properties) => properties[name] === JSON.parse(value.toLowerCase());
  },
  (text) => {
    const [, name, value] = new RegExp(`^startswith\\((\\w+), *${TEXT}\\)$`, 'i').exec(text) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const start = unquoted(value).toLowerCase();
    return (properties) =>
      String(properties[name] ?? '')
        .toLowerCase()
        .startsWith(start);
  },
  (text) => {
    const [, name, value] = new RegExp(`^(\\w+)/any\\((?:\\w+):\\w+ +eq +${TEXT}\\)$`, 'i').exec(text) ?? [];
    if (name === undefined || value === undefined) return undefined;
    return (properties) => {
      const list = properties[name];
      return Array.isArray(list) && list.some((one) => same(one, unquoted(value)));
    };
  },
  (text) => {
    const [, name, list] = /^(\w+) +in +\((.*)\)$/i.exec(text) ?? [];
    if (name === undefined || list === undefined) return undefined;
    const values = [...list.matchAll(new RegExp(TEXT, 'g'))].map(([, value = '']) => unquoted(value));
    return (properties) => values.some((value) => same(properties[name], value));
  },
];

/**
 * Parses the filters of Microsoft's documented examples: `eq`, `startsWith`, `any` and `in`, combined by `and` and `or`
 * without parentheses. @throws {DirectoryError} 400 for any other filter
 */
export function filterOf(text: string): Filter {
  const alternatives = split(text, 'or').map((part) => split(part, 'and').map(clauseOf));
  return (properties) => alternatives.some((clauses) => clauses.every((clause) => clause(properties)));
}

function clauseOf(text: string): Filter {
  for (const parse of CLAUSES) {
    const filter = parse(text);
    if (filter !== undefined) return filter;
  }
  throw unsupportedQuery(`Unsupported or invalid query filter clause: ${text}.`);
}

/** Splits the text at an operator outside quotes. */
function split(text: string, operator: 'and' | 'or'): readonly string[] {
  const quoted: string[] = [];
  const bare = text.replaceAll(new RegExp(TEXT, 'g'), (literal) => `\uE000${quoted.push(literal) - 1}\uE000`);
  return bare
    .split(new RegExp(` +${operator} +`, 'i'))
    .map((part) => part.replaceAll(/\uE000(\d+)\uE000/g, (_, index) => quoted[Number(index)] ?? '').trim());
}

const MAX_IDS = 50;

/**
 * Returns the ids in the filter of a list of changes. Such a filter can name only ids.
 * @throws {DirectoryError} 400 for any other filter, and for more than 50 ids
 */
export function idsOf(text: string): readonly string[] {
  const ids = split(text, 'or').map((part) => {
    const [, id] = /^id +eq +'?([^']+?)'?$/i.exec(part) ?? [];
    if (id === undefined) throw unsupportedQuery('Delta query supports filtering by object id only.');
    return id;
  });
  if (ids.length > MAX_IDS) throw unsupportedQuery(`Too many filtered objects: expected at most ${MAX_IDS}.`);
  return ids;
}
