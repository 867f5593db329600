import { possiblePairs } from './features.ts';
import type { Meetings } from './meetings.ts';
import { compatible } from './pair-needs.ts';

/** The number of pairs that one run gets in addition to what its seed draws. */
const PAIRS_OF_RUN = 150;

export type MissingPairs = ReturnType<typeof createMissingPairs>;

/** Keeps the pairs of features that never met, and chooses those that the next run shall meet. */
export function createMissingPairs() {
  const possible = possiblePairs();
  const missing = new Map(possible.map((pair) => [pair, 0]));
  const triples = new Set<string>();
  const asked = new Map<number, readonly string[]>();
  const askedOf = (seed: number): readonly string[] => asked.get(seed) ?? [];
  return {
    /** Returns pairs that were tried least often and that can meet in one run. */
    next(seed: number): readonly string[] {
      const byTries = [...missing].sort(([, a], [, b]) => a - b).map(([pair]) => pair);
      const chosen = compatible(byTries, PAIRS_OF_RUN);
      for (const pair of chosen) missing.set(pair, (missing.get(pair) ?? 0) + 1);
      asked.set(seed, chosen);
      return chosen;
    },
    askedOf,
    met(meetings: Meetings | undefined): void {
      for (const pair of meetings?.pairs ?? []) missing.delete(pair);
      for (const triple of meetings?.triples ?? []) triples.add(triple);
    },
    lines(): readonly string[] {
      const met = possible.length - missing.size;
      return [
        `${met} of ${possible.length} possible pairs of features met; ${triples.size} triples with state and a removal met`,
        ...[...missing].map(([pair, times]) => `  never met, tried ${times} times: ${pair}`),
      ];
    },
  };
}
