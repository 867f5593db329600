/** Chance that is the same on every machine: a small generator with a fixed seed (mulberry32). */
export interface Random {
  /** From 0, below `bound`. */
  below(bound: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** `count` different items, or all of them where there are fewer. */
  sample<Item>(items: readonly Item[], count: number): Item[];
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError('expected something to pick from, got an empty list');
    return item;
  };
  const sample = <Item>(items: readonly Item[], count: number): Item[] => {
    const left = [...items];
    const taken: Item[] = [];
    while (taken.length < count && left.length > 0) taken.push(...left.splice(below(left.length), 1));
    return taken;
  };
  return { below, pick, sample };
}
