/** All that is read page by page, where it is wanted as a whole. */
export async function gather<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
