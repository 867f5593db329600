import { badRequest } from './errors.ts';
import { parseFilter } from './filter/parse.ts';
import { type Projection, readProjection } from './projection.ts';
import { fieldOf } from './value.ts';

/** Maximum number of resources in one response, even if the client requests more. */
export const MAX_PAGE = 500;
const DEFAULT_PAGE = 100;

export type ListQuery = ReturnType<typeof readListQuery>;

/** The parameters of a query string. Their names are compared case-insensitively. */
export type QueryParameters = Readonly<Record<string, string>>;

/**
 * Reads the parameters of a list (RFC 7644 section 3.4.2). A startIndex below 1 counts as 1, and a negative count counts
 * as 0 (table 6). `sortBy` has no effect, because no provider sends it.
 * @throws ScimError invalidFilter or invalidValue
 */
export function readListQuery(query: QueryParameters) {
  const filter = textOf(query, 'filter');
  return {
    filter: filter === undefined ? undefined : parseFilter(filter),
    /** The first index is 1. */
    startIndex: Math.max(1, wholeNumber(query, 'startIndex') ?? 1),
    count: Math.min(MAX_PAGE, Math.max(0, wholeNumber(query, 'count') ?? DEFAULT_PAGE)),
    projection: projectionOf(query),
  };
}

/** Reads `attributes` and `excludedAttributes`, which are lists with commas. */
export const projectionOf = (query: QueryParameters): Projection =>
  readProjection(namesOf(query, 'attributes'), namesOf(query, 'excludedAttributes'));

export const hasProjection = (query: QueryParameters): boolean =>
  namesOf(query, 'attributes') !== undefined || namesOf(query, 'excludedAttributes') !== undefined;

/**
 * Reads the parameters of a query string. If a parameter is repeated, its first value counts. An HTML form encodes a
 * space as `+` (URL standard). A URI encodes it as `%20` (RFC 3986). So if the query contains `%20`, each `+` is a plus
 * sign.
 */
export function readQueryString(text: string): QueryParameters {
  const query: Record<string, string> = Object.create(null);
  const escaped = text.includes('%20') ? text.replaceAll('+', '%2B') : text;
  for (const [name, value] of new URLSearchParams(escaped)) query[name] ??= value;
  return query;
}

function namesOf(query: QueryParameters, name: string): readonly string[] | undefined {
  const names = textOf(query, name)?.split(',') ?? [];
  const named = names.map((one) => one.trim()).filter((one) => one !== '');
  return named.length === 0 ? undefined : named;
}

/** Returns the value of a parameter; undefined if the parameter is absent or empty. */
function textOf(query: QueryParameters, name: string): string | undefined {
  const value = fieldOf(query, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function wholeNumber(query: QueryParameters, name: string): number | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest('invalidValue', `${name}: expected a whole number`);
  return Number(text);
}
