/** All values that one thing has had, so that an endpoint that lags can answer as of an earlier time. */
export interface Timeline<T> {
  /** Times never go back: a value that is set for an earlier time counts from the latest time on. */
  set(atMs: number, value: T): void;
  /** The value at a time; undefined before the first one. */
  at(atMs: number): T | undefined;
}

export function createTimeline<T>(): Timeline<T> {
  const entries: { readonly fromMs: number; readonly value: T }[] = [];
  return {
    set(atMs, value) {
      const latest = entries.at(-1)?.fromMs ?? Number.NEGATIVE_INFINITY;
      entries.push({ fromMs: Math.max(latest, atMs), value });
    },
    at: (atMs) => entries.findLast(({ fromMs }) => fromMs <= atMs)?.value,
  };
}
