import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { badRequest, unsupportedQuery } from './errors.ts';

/** Maximum of `$top`: "Supports returning up to 999 objects per page using $top". The default is 100. */
const MAX_PER_PAGE = 999;
const DEFAULT_PER_PAGE = 100;

export interface Query {
  readonly select: readonly string[] | undefined;
  readonly top: number;
  readonly filter: string | undefined;
  readonly isCounted: boolean;
  readonly skipToken: string | undefined;
  readonly deltaToken: string | undefined;
}

/** The known query parameters. Names are not case-sensitive. Parameters without `$` are ignored. */
const KNOWN = ['$select', '$top', '$filter', '$count', '$skiptoken', '$deltatoken'] as const;
type Known = (typeof KNOWN)[number];
const isKnown = (name: string): name is Known => (KNOWN as readonly string[]).includes(name);

/** The schema of the query of every method, which {@link queryOf} reads. */
export const RawQuery = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/**
 * Reads the query of a request. `accepted` names the parameters of the method.
 * @throws {DirectoryError} 400 for a parameter that is not accepted, and for an invalid value
 */
export function queryOf(
  raw: z.infer<typeof RawQuery>,
  accepted: readonly Known[],
  headers: IncomingHttpHeaders,
): Query {
  const given = new Map<Known, string>();
  for (const [name, value] of Object.entries(raw)) {
    const lower = name.toLowerCase();
    if (!lower.startsWith('$')) continue;
    if (!isKnown(lower) || !accepted.includes(lower)) {
      throw unsupportedQuery(`The query specified in the URI is not supported: ${name}.`);
    }
    if (typeof value !== 'string') {
      throw badRequest(
        `Query option '${name}' was specified more than once, but it must be specified at most once.`,
      );
    }
    given.set(lower, value);
  }
  return {
    select: given
      .get('$select')
      ?.split(',')
      .map((name) => name.trim()),
    top: topOf(given.get('$top')),
    filter: given.get('$filter'),
    isCounted: isCounted(given.get('$count'), headers),
    skipToken: given.get('$skiptoken'),
    deltaToken: given.get('$deltatoken'),
  };
}

function topOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PER_PAGE;
  const top = Number(text);
  if (/^\d+$/.test(text) && top >= 1 && top <= MAX_PER_PAGE) return top;
  throw badRequest(`Invalid page size specified: '${text}'. Must be between 1 and 999 inclusive.`);
}

/**
 * Returns whether the answer has a count. Lists of directory objects ignore `$count=true` without the header
 * `ConsistencyLevel`.
 */
function isCounted(text: string | undefined, headers: IncomingHttpHeaders): boolean {
  if (text === undefined) return false;
  if (text !== 'true' && text !== 'false')
    throw badRequest(`Invalid value '${text}' for $count query option found.`);
  return text === 'true' && isEventual(headers);
}

const isEventual = (headers: IncomingHttpHeaders) =>
  String(headers['consistencylevel'] ?? '').toLowerCase() === 'eventual';

/** Returns the selected properties in the form of a context URL: `(id,displayName)`; empty without a selection. */
export const selectedSuffix = (select: readonly string[] | undefined) =>
  select === undefined ? '' : `(${select.join(',')})`;

/**
 * Returns the selected properties. A group always has `id` (Get group, example 2). A user has `id` only if the client
 * selects it.
 * @throws {DirectoryError} 400 for a property that the type does not have
 */
export function selected(
  properties: Readonly<Record<string, unknown>>,
  select: readonly string[],
  type: string,
): Readonly<Record<string, unknown>> {
  const byName = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
  const wantedNames = type === 'group' && !select.includes('id') ? ['id', ...select] : select;
  return Object.fromEntries(
    wantedNames.map((wanted) => {
      const name = byName.get(wanted.toLowerCase());
      if (name === undefined) {
        throw badRequest(`Could not find a property named '${wanted}' on type 'microsoft.graph.${type}'.`);
      }
      return [name, properties[name]];
    }),
  );
}
