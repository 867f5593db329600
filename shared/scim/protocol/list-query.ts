import { badRequest } from './errors.ts';
import { parseFilter } from './filter/parse.ts';
import { type Projection, readProjection } from './projection.ts';
import { elements, fieldOf, type ScimObject, type ScimValue } from './value.ts';

/** Maximum number of resources in one response, even if the client requests more. */
export const MAX_PAGE = 500;
const DEFAULT_PAGE = 100;

export type ListQuery = ReturnType<typeof readListQuery>;

/**
 * Reads the parameters of a list (RFC 7644 section 3.4.2), from a query string or the body of `.search`. A startIndex
 * below 1 counts as 1, and a negative count counts as 0 (table 6). `sortBy` has no effect, because no provider sends it.
 * @throws ScimError invalidFilter or invalidValue
 */
export function readListQuery(given: ScimObject) {
  const filter = textOf(given, 'filter');
  return {
    filter: filter === undefined ? undefined : parseFilter(filter),
    /** The first index is 1. */
    startIndex: Math.max(1, wholeNumber(given, 'startIndex') ?? 1),
    count: Math.min(MAX_PAGE, Math.max(0, wholeNumber(given, 'count') ?? DEFAULT_PAGE)),
    projection: projectionOf(given),
  };
}

/** Reads `attributes` and `excludedAttributes`, each a list or a comma-separated text. */
export const projectionOf = (given: ScimObject): Projection =>
  readProjection(namesOf(given, 'attributes'), namesOf(given, 'excludedAttributes'));

export const hasProjection = (given: ScimObject): boolean =>
  namesOf(given, 'attributes') !== undefined || namesOf(given, 'excludedAttributes') !== undefined;

/**
 * Reads the parameters of a query string. If a parameter is repeated, its first value counts. An HTML form encodes a
 * space as `+` (URL standard). A URI encodes it as `%20` (RFC 3986). So if the query contains `%20`, each `+` is a plus
 * sign.
 */
export function readQueryString(query: string): ScimObject {
  const given: { [name: string]: ScimValue } = Object.create(null);
  const escaped = query.includes('%20') ? query.replaceAll('+', '%2B') : query;
  for (const [name, value] of new URLSearchParams(escaped)) given[name] ??= value;
  return given;
}

function namesOf(given: ScimObject, name: string): readonly string[] | undefined {
  const value = fieldOf(given, name);
  if (value == null) return undefined;
  const texts = elements(value);
  if (!texts.every((text) => typeof text === 'string'))
    throw badRequest('invalidValue', `${name}: expected names of attributes`);
  const names = texts.join().split(',');
  const named = names.map((one) => one.trim()).filter((one) => one !== '');
  return named.length === 0 ? undefined : named;
}

function textOf(given: ScimObject, name: string): string | undefined {
  const value = fieldOf(given, name);
  if (value == null || value === '') return undefined;
  if (typeof value !== 'string') throw badRequest('invalidValue', `${name}: expected a string`);
  return value;
}

function wholeNumber(given: ScimObject, name: string): number | undefined {
  const value = fieldOf(given, name);
  if (value == null || value === '') return undefined;
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw badRequest('invalidValue', `${name}: expected a whole number`);
  return number as number;
}
