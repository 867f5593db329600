import type { RetryMethod } from './retry.ts';

/** A method and a path as the specification writes it; `{names}` stand for identifiers. */
export interface Endpoint {
  readonly method: RetryMethod;
  readonly path: string;
}

export type QueryValue = string | number | boolean | undefined;

/**
 * Fills the path's `{names}` and adds the query. Every identifier is percent-encoded as one segment, so that no id can
 * point at another resource.
 * @throws TypeError where an id is missing, empty, `.`, `..`, or no well-formed Unicode.
 */
export function targetOf(
  endpoint: Endpoint,
  ids: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, QueryValue>> = {},
): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, ids[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

function segment(name: string, id: string | undefined): string {
  if (typeof id !== 'string' || id === '') throw new TypeError(`${name}: expected an id that is not empty`);
  // A dot segment survives percent-encoding and is resolved by whoever handles the URL next (RFC 3986 section 5.2.4).
  if (id === '.' || id === '..') throw new TypeError(`${name}: "." and ".." cannot be an id in a path`);
  try {
    return encodeURIComponent(id);
  } catch {
    throw new TypeError(`${name}: expected well-formed Unicode`);
  }
}
