import { expect, it } from 'vitest';
import { createPages, type ListAnswer } from '../../../shared/directory/vendors/pages.ts';

/** Creates a listing with one page for each cursor of the chain. The cursor undefined ends the listing. */
function listing(chain: readonly (string | undefined)[]) {
  const requestedCursors: (string | undefined)[] = [];
  const ask = async (cursor: string | undefined): Promise<ListAnswer<number>> => {
    requestedCursors.push(cursor);
    const next = chain[requestedCursors.length - 1];
    return {
      items: next === 'empty' ? [] : [requestedCursors.length],
      next,
      asOfMs: requestedCursors.length,
    };
  };
  return { requestedCursors, ask };
}

async function itemsOf(pages: AsyncIterable<{ readonly items: readonly number[] }>) {
  const all: number[] = [];
  for await (const { items } of pages) all.push(...items);
  return all;
}

const CLOCK = { clock: () => 0 };

it('a listing ends at the page without a next cursor, even if an earlier page is empty', async () => {
  const { ask, requestedCursors } = listing(['a', 'empty', 'b', undefined]);
  expect(await itemsOf(createPages(CLOCK)('test', ask))).toEqual([1, 3, 4]);
  expect(requestedCursors).toEqual([undefined, 'a', 'empty', 'b']);
});

it('a listing is refused if a cursor is repeated', async () => {
  const { ask } = listing(['a', 'b', 'a']);
  await expect(itemsOf(createPages(CLOCK)('test', ask))).rejects.toMatchObject({
    kind: 'invalid',
    reason: 'endless',
    message: 'test: page 3 repeats an earlier cursor',
  });
});

it.each([
  ['four minutes', undefined, 240, 16],
  ['the end of the run', 100_000, 105, 7],
])('a listing is refused if it does not end within %s', async (_, untilMs, seconds, pages) => {
  let nowMs = 0;
  let page = 0;
  const ask = async (): Promise<ListAnswer<number>> => {
    nowMs += 15_000;
    page += 1;
    return { items: [], next: `page ${page}`, asOfMs: nowMs };
  };
  const listed = createPages({ clock: () => nowMs, untilMs })('test', ask);
  await expect(itemsOf(listed)).rejects.toMatchObject({
    kind: 'invalid',
    message: `test: expected the end of the list within ${seconds} s, got ${pages} pages without an end`,
  });
});
