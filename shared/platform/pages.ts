import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { type Call, type Caller, type CallOptions, checked, type Endpoint, type QueryValue } from './call.ts';
import {
  answered,
  isOfItsItems,
  isTooSlow,
  orPlatformError,
  PlatformError,
  UnexpectedBodyError,
} from './errors.ts';
import { PageQuery } from './schemas/field.ts';

/** A list that is read page by page. */
export interface Listing<T, Query extends PageQuery = PageQuery> {
  /** Every item, one after another. Holds one page in memory. */
  list(query?: Query, options?: CallOptions): AsyncGenerator<T, void, undefined>;
  /** The same, page by page; no page is empty. */
  pages(query?: Query, options?: CallOptions): AsyncGenerator<readonly T[], void, undefined>;
  /** The same, with the error in place of each position for which the platform keeps failing. */
  pagesPassingOver(
    query?: Query,
    options?: CallOptions,
  ): AsyncGenerator<readonly T[] | PlatformError, void, undefined>;
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
  const reading = (query?: Query, options?: CallOptions): PagesOptions<T> => {
    const { limit, offset, ...others } = checked(schema, query ?? {}, endpoint);
    const decoding = { schema: items, ...(prepare === undefined ? {} : { prepare }) };
    const fetchPage = (page: PageWanted) => {
      const sent = { limit: page.limit, offset: page.offset, ...others };
      const request: Call<T[]> = { endpoint, query: sent, decoding, canShrink: page.limit > 1 };
      return call(request, page.isNarrowed ? { ...options, maxAttempts: NARROWED_ATTEMPTS } : options);
    };
    return { endpoint, limit, offset, fetchPage };
  };
  async function* pages(query?: Query, options?: CallOptions) {
    for await (const page of readPages(reading(query, options))) {
      if (page instanceof PlatformError) throw page;
      yield page;
    }
  }
  return {
    pages,
    pagesPassingOver: (query, options) => readPages({ ...reading(query, options), passesOver: true }),
    async *list(query, options) {
      for await (const page of pages(query, options)) yield* page;
    },
  };
}

export interface PageWanted {
  readonly limit: number;
  readonly offset: number;
  /** A larger page that begins or ends here has failed. */
  readonly isNarrowed?: boolean;
}

/** Tries of a narrowed page: few, because there are many narrowed pages, and the next run reads a failed position again. */
const NARROWED_ATTEMPTS = 2;

export interface PagesOptions<T> extends PageWanted {
  readonly endpoint: Endpoint;
  readonly fetchPage: (page: PageWanted) => Promise<readonly T[]>;
  /** For a position that keeps failing, returns its error, and continues after it. Default: the list fails. */
  readonly passesOver?: boolean;
}

/** The next offset of a list, and the number of requested items. */
interface Place extends PageWanted {
  /** The largest page to request: smaller than a page that was too slow. */
  readonly ceiling: number;
  /** An item before this offset (exclusive) makes its page fail; undefined if no such item is known. */
  readonly faultyBefore: number | undefined;
  /** Failed requests for a single item since the last successful page. */
  readonly failedInARow: number;
}

/** After this number the whole list counts as failed. The number of skipped positions doubles each time, 64 in total. */
const MOST_FAILED_IN_A_ROW = 8;

/**
 * Reads pages until an empty one: a short page is not the end, for the platform may give fewer items than asked for.
 * The offset moves by what came, so nothing is skipped. A page that is too slow is asked for again, at the same offset,
 * half as large; after that the size grows back, but stays below what failed.
 */
export async function* readPages<T>(
  options: PagesOptions<T>,
): AsyncGenerator<readonly T[] | PlatformError, void, undefined> {
  const { limit, offset, fetchPage, passesOver = false } = options;
  let place: Place = { limit, offset, ceiling: limit, faultyBefore: undefined, failedInARow: 0 };
  let previous: ReadPage<T> = { page: [], limit };
  while (true) {
    const isNarrowed = place.faultyBefore !== undefined || place.failedInARow > 0;
    const page = await fetchPage({ ...place, isNarrowed }).catch(orPlatformError);
    if (page instanceof PlatformError) {
      const failed = place;
      place = afterFailure(failed, page, { passesOver, limit });
      if (place.offset > failed.offset) yield page;
      continue;
    }
    if (page.length === 0 || isWholeListAgain(page, previous, { ...options, offset: place.offset })) return;
    yield page;
    previous = { page, limit: place.limit };
    place = afterPage(place, page.length);
  }
}

interface ReadPage<T> {
  readonly page: readonly T[];
  /** As it was asked for. */
  readonly limit: number;
}

/**
 * An endpoint that knows no offset gives its first page for ever. Unless it is as long as it was asked to be (and may have
 * been cut), it was the whole list.
 * @throws UnexpectedBodyError if it may have been cut
 */
function isWholeListAgain<T>(
  page: readonly T[],
  previous: ReadPage<T>,
  { endpoint, offset }: Pick<PagesOptions<T>, 'endpoint' | 'offset'>,
): boolean {
  if (!isDeepStrictEqual(page, previous.page)) return false;
  if (page.length !== previous.limit) return true;
  const what = `expected other items at offset ${offset}, got the page before it again`;
  throw new UnexpectedBodyError(what, answered(endpoint));
}

/**
 * Halves the page; if the page is a single failing item, continues after it.
 * @throws the error if neither can help
 */
function afterFailure(
  place: Place,
  error: PlatformError,
  { passesOver, limit: fullLimit }: { readonly passesOver: boolean; readonly limit: number },
): Place {
  const { limit, offset, failedInARow } = place;
  const isSlow = isTooSlow(error);
  if (!isSlow && !(passesOver && isOfItsItems(error))) throw error;
  const half = Math.max(1, Math.floor(limit / 2));
  if (limit > 1) {
    return isSlow
      ? { ...place, limit: half, ceiling: limit - 1 }
      : { ...place, limit: half, faultyBefore: offset + limit };
  }
  if (!passesOver || failedInARow + 1 >= MOST_FAILED_IN_A_ROW) throw error;
  const passed = Math.max(1, 2 ** (failedInARow - 1));
  return {
    limit: 1,
    offset: offset + passed,
    ceiling: fullLimit,
    faultyBefore: undefined,
    failedInARow: failedInARow + 1,
  };
}

function afterPage({ limit, offset, ceiling, faultyBefore = 0 }: Place, came: number): Place {
  const next = offset + came;
  const isNearFault = next < faultyBefore;
  return {
    limit: isNearFault ? Math.max(1, Math.floor((faultyBefore - next) / 2)) : Math.min(ceiling, limit * 2),
    offset: next,
    ceiling,
    faultyBefore: isNearFault ? faultyBefore : undefined,
    failedInARow: 0,
  };
}
