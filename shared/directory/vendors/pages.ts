import { DirectoryError, type DirectoryPage } from '../ports.ts';
import type { DirectoryWorld } from './exchange.ts';

export interface ListAnswer<Item> extends DirectoryPage<Item> {
  /** The cursor of the next page. It is undefined only if the answer shows that the page is the last one. */
  readonly next: string | undefined;
}

/** The reason of the error for a list that does not end. */
const ENDLESS = 'endless';

/** The longest time for one list: about a third of a run. So after an endless list, time remains for other lists. */
const LONGEST_LIST_MS = 4 * 60_000;
/**
 * Maximum number of pages of one list. The largest expected list has 5,000 pages: 1,000,000 members in pages of 200.
 */
const MAX_PAGES = 10_000;

export type Pages = ReturnType<typeof createPages>;

/**
 * Returns a function that reads a list to its end. A page without items does not end the list. `what` names the list in
 * errors.
 * @param world contains `untilMs`, the time at which the run must end
 * @throws DirectoryError `invalid` if a cursor is repeated, or if the list does not end in time or has too many pages
 */
export const createPages = ({
  clock,
  untilMs = Number.POSITIVE_INFINITY,
}: Pick<DirectoryWorld, 'clock' | 'untilMs'>) =>
  async function* pages<Item>(
    what: string,
    ask: (cursor: string | undefined) => Promise<ListAnswer<Item>>,
  ): AsyncGenerator<DirectoryPage<Item>> {
    const seen = new Set<string>();
    const beganMs = clock();
    const latestMs = Math.min(untilMs, beganMs + LONGEST_LIST_MS);
    let cursor: string | undefined;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { next, ...shown } = await ask(cursor);
      yield shown;
      if (next === undefined) return;
      if (seen.has(next)) throw endless(`${what}: page ${page} repeats an earlier cursor`);
      if (clock() >= latestMs) {
        const seconds = Math.round((clock() - beganMs) / 1_000);
        throw endless(
          `${what}: expected the end of the list within ${seconds} s, got ${page} pages without an end`,
        );
      }
      seen.add(next);
      cursor = next;
    }
    throw endless(`${what}: expected the end of the list within ${MAX_PAGES} pages`);
  };

const endless = (message: string) => new DirectoryError('invalid', message, { reason: ENDLESS });
