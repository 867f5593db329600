import pMap from 'p-map';

/** All that is read page by page, where it is wanted as a whole. */
export async function gather<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** Returns the results in the order of the items, with at most `most` calls of `make` running at a time. */
export const atOnce = <Item, Made>(
  most: number,
  items: Iterable<Item>,
  make: (item: Item) => Promise<Made> | Made,
): Promise<Made[]> => pMap(items, make, { concurrency: most });
