import { DirectoryError, type DirectoryPage } from '../sync/ports/directory.ts';

/** One answer of a listing. */
export interface ListAnswer<Item> extends DirectoryPage<Item> {
  /** The cursor of the next page; undefined only if the answer itself shows that the page is the last one. */
  readonly next: string | undefined;
}

/** The reason of the error for a list that does not end. */
const ENDLESS = 'endless';

/** A limit above the largest list: 1,000,000 members in pages of 200 are 5,000 pages. */
export const MAX_PAGES = 20_000;

/**
 * Reads a list to its end. A page without items is not the end.
 * @param what names the list in errors
 * @throws DirectoryError `odd` if a cursor is repeated, or if the list does not end
 */
export async function* pagesOf<Item>(
  what: string,
  ask: (cursor: string | undefined) => Promise<ListAnswer<Item>>,
  maxPages = MAX_PAGES,
): AsyncGenerator<DirectoryPage<Item>> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; page <= maxPages; page += 1) {
    const { next, ...shown } = await ask(cursor);
    yield shown;
    if (next === undefined) return;
    if (seen.has(next)) throw endless(`${what}: page ${page} repeats an earlier cursor`);
    seen.add(next);
    cursor = next;
  }
  throw endless(`${what}: expected the end within ${maxPages} pages`);
}

const endless = (message: string) => new DirectoryError('odd', message, { reason: ENDLESS });
