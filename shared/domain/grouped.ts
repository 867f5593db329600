/** Returns the items by their keys, in their order. An item whose key is undefined is left out. */
export function grouped<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item, at: number) => Key | undefined,
): Map<Key, Item[]> {
  const found = new Map<Key, Item[]>();
  for (const [at, item] of [...items].entries()) {
    const key = keyOf(item, at);
    if (key === undefined) continue;
    const same = found.get(key);
    if (same === undefined) found.set(key, [item]);
    else same.push(item);
  }
  return found;
}
