import * as z from 'zod';
import { Answer, type Call } from '../engine/dialect.ts';
import { listPage, PageTokenError } from '../engine/page.ts';
import type { Simulation } from '../engine/simulation.ts';
import { withUnknownFields } from '../engine/unknown-fields.ts';
import { validationFailed } from './errors.ts';

/** Returns the parameters of a list. A limit above `most` counts as `most`. */
export const pageParameters = (most: number, usual: number) => ({
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a number')
    .transform(Number)
    .pipe(z.int().min(1).max(Number.MAX_SAFE_INTEGER))
    .transform((limit) => Math.min(limit, most))
    .default(usual),
  after: z.string().optional(),
});

interface PageQuery {
  readonly limit: number;
  readonly after?: string | undefined;
}

interface Listed<T> {
  /** The parameters that decide which items the list contains. Cursors are valid only for a list with the same key. */
  readonly key: readonly (string | undefined)[];
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  readonly rankOf?: (item: T) => string;
  readonly isEndless?: boolean;
  readonly bodyOf: (item: T) => unknown;
}

export interface Org {
  readonly simulation: Simulation;
  /** Returns the address of the org in links: the configured address, or by default the host that the client named. */
  orgUrl(requestUrl: string): string;
}

type ListCall = Pick<Call<unknown, PageQuery>, 'query' | 'url' | 'requestNumber'>;

/** Returns one page of a list, with the links `self` and `next` in headers ("Pagination"). */
export function listAnswer<T>(org: Org, { query, url, requestNumber }: ListCall, list: Listed<T>): Answer {
  const { simulation } = org;
  try {
    const page = listPage(simulation, {
      key: JSON.stringify(list.key),
      items: list.items,
      idOf: list.idOf,
      rankOf: list.rankOf,
      pageToken: query.after,
      most: query.limit,
      ...(list.isEndless === undefined ? {} : { isEndless: list.isEndless }),
    });
    const self = `${org.orgUrl(url)}${pathAndQuery(url)}`;
    const links = [`<${self}>; rel="self"`];
    if (page.nextPageToken !== undefined) {
      const next = new URL(self);
      next.searchParams.set('after', page.nextPageToken);
      next.searchParams.set('limit', String(query.limit));
      links.push(`<${next}>; rel="next"`);
    }
    return new Answer(withUndocumentedFields(simulation, page.items.map(list.bodyOf), requestNumber), {
      link: links,
    });
  } catch (error) {
    if (error instanceof PageTokenError) throw validationFailed('after', 'The cursor is not valid.');
    throw error;
  }
}

const pathAndQuery = (url: string) => {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
};

/** Returns the body with undocumented fields in some objects, if the settings enable them. */
export function withUndocumentedFields(
  simulation: Simulation,
  body: unknown,
  requestNumber: number,
): unknown {
  if (!simulation.settings().unknownFields) return body;
  const random = simulation.random(`unknown/${requestNumber}`);
  return Array.isArray(body)
    ? body.map((item) => withUnknownFields(item, random))
    : withUnknownFields(body, random);
}
