/** Random numbers. The same seed gives the same numbers on every machine, so a failing run can be repeated. */
export interface Random {
  /** Returns a number that is at least 0 and less than 1. */
  next(): number;
  /** Returns a whole number that is at least 0 and less than `below`. */
  below(below: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Returns separate random numbers for one purpose. */
  fork(purpose: string): Random;
}

/** Returns a random generator with the algorithm mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('expected at least one item to pick from');
      return item;
    },
    fork: (purpose) => seededRandom(hashOf(`${seed}/${purpose}`)),
  };
}

export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export const between = (random: Random, least: number, most: number): number =>
  least + random.below(most - least + 1);

/** Returns one of the names. The probability of a name is proportional to its weight. */
export function weighted<Name extends string>(random: Random, weights: Readonly<Record<Name, number>>): Name {
  const entries = Object.entries(weights) as [Name, number][];
  let left = random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  return (entries.at(-1) as [Name, number])[0];
}

/** Returns `count` different items; all items if there are fewer. */
export function some<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  const left = [...items];
  const taken: Item[] = [];
  while (taken.length < count && left.length > 0) taken.push(...left.splice(random.below(left.length), 1));
  return taken;
}
