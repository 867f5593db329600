/** A repeatable source of chance: the same seed gives the same choices, on every machine. */
export interface SeededRandom {
  /** From 0 up to 1, without 1. */
  fraction(): number;
  /** From 0 up to `end`, without `end`. */
  below(end: number): number;
  /** @throws for an empty list */
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  hex(length: number): string;
}

/** mulberry32 over an FNV-1a hash of the seed: small, fast and good enough for made-up people. */
export function seededRandom(seed: string): SeededRandom {
  let state = 0x811c9dc5;
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193);
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number) => Math.floor(fraction() * end);
  return {
    fraction,
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    chance: (probability) => fraction() < probability,
    hex: (length) => Array.from({ length }, () => below(16).toString(16)).join(''),
  };
}
