import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { type Call, type Caller, type CallOptions, checked, type Endpoint, type QueryValue } from './call.ts';
import {
  answered,
  isTooSlow,
  mayBeCausedByOneItem,
  orPlatformError,
  PlatformError,
  UnexpectedBodyError,
} from './errors.ts';
import { PageQuery } from './schemas/field.ts';

interface ListingOptions<T> {
  readonly endpoint: Endpoint;
  readonly items: z.ZodType<T[]>;
  readonly prepare?: (text: string) => string;
  /** Checks the query and returns the parameters to send. By default only `limit` and `offset` are allowed. */
  readonly query?: z.ZodType<{ limit: number; offset: number } & Record<string, QueryValue>>;
}

export function createListing<T, Query extends PageQuery>(
  call: Caller,
  { endpoint, items, prepare, query: schema = PageQuery }: ListingOptions<T>,
) {
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
    /** Returns the items in pages. No page is empty. */
    pages,
    /**
     * Like `pages`, but with four pages in flight. If the platform repeatedly fails at a position of the list, the
     * generator yields the error and continues after this position.
     */
    pagesPassingOver: (query?: Query, options?: CallOptions) =>
      readPages({ ...reading(query, options), passesOver: true, inFlight: 4 }),
    /** Returns the items one after the other. Only one page is in memory. */
    async *list(query?: Query, options?: CallOptions): AsyncGenerator<T, void, undefined> {
      for await (const page of pages(query, options)) yield* page;
    },
  };
}

interface PageWanted {
  readonly limit: number;
  readonly offset: number;
  /** True while the read searches for an item that makes its page fail. */
  readonly isNarrowed?: boolean;
}

/**
 * The maximum number of attempts for a narrowed page. It is low, because a failing item causes many narrowed pages, and
 * the next run tries the failed position again.
 */
const NARROWED_ATTEMPTS = 2;

interface PagesOptions<T> extends PageWanted {
  readonly endpoint: Endpoint;
  readonly fetchPage: (page: PageWanted) => Promise<readonly T[]>;
  /**
   * If true, and the platform repeatedly fails at a position, the generator yields the error and continues after this
   * position. Default: the whole list fails.
   */
  readonly passesOver?: boolean;
  /** The number of pages that are requested at once while each page is exactly as long as `limit`. Default: one page. */
  readonly inFlight?: number;
}

interface Place extends PageWanted {
  /** The maximum size of later pages. It is below each size that was too slow since the last skipped item. */
  readonly ceiling: number;
  /** At least one item before this offset makes its page fail; undefined if no such item is known. */
  readonly faultyBefore: number | undefined;
  /** The number of failed requests for a single item since the last successful page. */
  readonly failedInARow: number;
}

/**
 * The list fails after this number of failed single items in a row. The first two skip one position each. Each further
 * one skips twice as many positions as the one before.
 */
const MOST_FAILED_IN_A_ROW = 8;

/**
 * Reads pages until a page is empty. A short page does not end the list, because the platform may return fewer items
 * than requested. The offset grows by the number of received items, so nothing is skipped. A page that was too slow is
 * requested again with half the size. Then the pages grow again, but not to the size that was too slow, until an item
 * is skipped. After the first short or failed page, pages are requested one by one.
 */
export async function* readPages<T>(
  options: PagesOptions<T>,
): AsyncGenerator<readonly T[] | PlatformError, void, undefined> {
  const { limit, offset, passesOver = false } = options;
  const read = readAhead(options);
  let place: Place = { limit, offset, ceiling: limit, faultyBefore: undefined, failedInARow: 0 };
  let previous: { page: readonly T[]; limit: number } = { page: [], limit };
  while (true) {
    const isNarrowed = place.faultyBefore !== undefined || place.failedInARow > 0;
    const page = await read({ ...place, isNarrowed });
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

/**
 * Returns a function that reads one page. From the second page on, it also requests the following pages. Their offsets
 * are known only while each page is exactly as long as its limit. After another page, they are thrown away.
 */
function readAhead<T>({ limit, fetchPage, inFlight = 1 }: PagesOptions<T>) {
  let isExact = true;
  let most = 0;
  let ahead: Promise<readonly T[] | PlatformError>[] = [];
  const request = (wanted: PageWanted) => {
    const page = fetchPage(wanted).catch(orPlatformError);
    // The error of a page that is thrown away has no effect.
    page.catch(() => undefined);
    return page;
  };
  return async (wanted: PageWanted) => {
    const reading = ahead.shift() ?? request(wanted);
    while (ahead.length < most)
      ahead.push(request({ ...wanted, offset: wanted.offset + (ahead.length + 1) * limit }));
    const page = await reading;
    isExact &&= !(page instanceof PlatformError) && page.length === limit;
    most = isExact ? inFlight - 1 : 0;
    ahead = ahead.slice(0, most);
    return page;
  };
}

/**
 * True if the endpoint ignores the offset: it returned the previous page again, and that page was the whole list. If
 * the page is as long as its limit, the list may be longer than the page.
 * @throws UnexpectedBodyError if the repeated page is as long as its limit
 */
function isWholeListAgain<T>(
  page: readonly T[],
  previous: { readonly page: readonly T[]; readonly limit: number },
  { endpoint, offset }: Pick<PagesOptions<T>, 'endpoint' | 'offset'>,
): boolean {
  if (!isDeepStrictEqual(page, previous.page)) return false;
  if (page.length !== previous.limit) return true;
  const what = `expected other items at offset ${offset}, got the previous page again`;
  throw new UnexpectedBodyError(what, answered(endpoint));
}

/**
 * Returns the place to read after a failed page. A page of several items is read again with half the size. A single
 * item is skipped.
 * @throws the error if a smaller page cannot help, if an item must not be skipped, or if too many items failed in a row
 */
function afterFailure(
  place: Place,
  error: PlatformError,
  { passesOver, limit: fullLimit }: { readonly passesOver: boolean; readonly limit: number },
): Place {
  const { limit, offset, failedInARow } = place;
  const isSlow = isTooSlow(error);
  if (!isSlow && !(passesOver && mayBeCausedByOneItem(error))) throw error;
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
