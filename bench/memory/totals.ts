/** Counted calls by name, for example `dynamodb BatchGetItem` or `platform PATCH /groups/{id}`. */
export type Counts = Readonly<Record<string, number>>;

export interface Totals {
  add(name: string, by?: number): void;
  /** Returns the counts since the previous call, sorted by name and without zeros. */
  take(): Counts;
}

export function createTotals(): Totals {
  let counts = new Map<string, number>();
  return {
    add(name, by = 1) {
      counts.set(name, (counts.get(name) ?? 0) + by);
    },
    take() {
      const taken = [...counts].filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
      counts = new Map();
      return Object.fromEntries(taken);
    },
  };
}

export const sumOf = (counts: Counts, prefix: string): number =>
  Object.entries(counts).reduce((sum, [name, count]) => (name.startsWith(prefix) ? sum + count : sum), 0);
