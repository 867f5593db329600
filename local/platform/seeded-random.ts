/** A repeatable random generator: the same seed gives the same values on every machine. */
export interface SeededRandom {
  /** Returns a number from 0 to 1, excluding 1. */
  fraction(): number;
  /** Returns an integer from 0 to `end`, excluding `end`. */
  below(end: number): number;
  /** @throws for an empty list */
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  hex(length: number): string;
}

/** mulberry32 over an FNV-1a hash of the seed: small, fast and good enough for generated people. */
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
