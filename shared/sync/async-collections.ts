import pMap from 'p-map';

export async function collectPages<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

/** Calls `make` for each item, at most `most` calls at a time. Returns the results in the order of the items. */
export const mapConcurrently = <Item, Made>(
  most: number,
  items: Iterable<Item>,
  make: (item: Item) => Promise<Made> | Made,
): Promise<Made[]> => pMap(items, make, { concurrency: most });
