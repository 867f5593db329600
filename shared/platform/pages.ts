import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { type Call, type Caller, type CallOptions, checked, type Endpoint, type QueryValue } from './call.ts';
import { answered, isTooSlow, UnexpectedBodyError } from './errors.ts';
import { PageQuery } from './schemas/field.ts';

/** A list that is read page by page. */
export interface Listing<T, Query extends PageQuery = PageQuery> {
  /** Every item, one after another. Holds one page in memory. */
  list(query?: Query, options?: CallOptions): AsyncGenerator<T, void, undefined>;
  /** The same, page by page; no page is empty. */
  pages(query?: Query, options?: CallOptions): AsyncGenerator<readonly T[], void, undefined>;
}

export interface ListingOptions<T> {
  readonly endpoint: Endpoint;
  readonly items: z.ZodType<T[]>;
  readonly prepare?: (text: string) => string;
  /** Checks the whole query and gives the parameters as they are sent; default: `limit` and `offset` alone. */
  readonly query?: z.ZodType<{ limit: number; offset: number } & Record<string, QueryValue>>;
}

export function createListing<T, Query extends PageQuery>(
  call: Caller,
  { endpoint, items, prepare, query: schema = PageQuery }: ListingOptions<T>,
): Listing<T, Query> {
  async function* pages(query?: Query, options?: CallOptions) {
    const { limit, offset, ...others } = checked(schema, query ?? {}, endpoint);
    const decoding = { schema: items, ...(prepare === undefined ? {} : { prepare }) };
    const fetchPage = (page: PageWanted) => {
      const sent = { limit: page.limit, offset: page.offset, ...others };
      const request: Call<T[]> = { endpoint, query: sent, decoding, canShrink: page.limit > 1 };
      return call(request, options);
    };
    yield* readPages({ endpoint, limit, offset, fetchPage });
  }
  return {
    pages,
    async *list(query, options) {
      for await (const page of pages(query, options)) yield* page;
    },
  };
}

export interface PageWanted {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Reads pages until an empty one: a short page is not the end, for the platform may give fewer items than asked for.
 * The offset moves by what came, so nothing is skipped. A page that is too slow is asked for again, at the same offset,
 * half as large; after that the size grows back, but stays below what failed.
 */
export async function* readPages<T>(
  options: PageWanted & { endpoint: Endpoint; fetchPage: (page: PageWanted) => Promise<readonly T[]> },
): AsyncGenerator<readonly T[], void, undefined> {
  let { limit, offset } = options;
  let ceiling = limit;
  let previous: { page: readonly T[]; limit: number } = { page: [], limit };
  while (true) {
    const page = await options.fetchPage({ limit, offset }).catch((error: unknown) => {
      if (limit === 1 || !isTooSlow(error)) throw error;
      return undefined;
    });
    if (page === undefined) {
      ceiling = limit - 1;
      limit = Math.max(1, Math.floor(limit / 2));
      continue;
    }
    if (page.length === 0) return;
    if (isDeepStrictEqual(page, previous.page)) {
      // An endpoint that knows no offset gives its first page for ever. Unless it is as long as it was asked to be
      // (and may have been cut), it was the whole list.
      if (page.length !== previous.limit) return;
      const what = `expected other items at offset ${offset}, got the page before it again`;
      throw new UnexpectedBodyError(what, answered(options.endpoint));
    }
    yield page;
    previous = { page, limit };
    offset += page.length;
    limit = Math.min(ceiling, limit * 2);
  }
}
