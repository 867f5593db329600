/** All values of one property over time, so that an endpoint with lag can answer with an earlier value. */
export interface Timeline<T> {
  /**
   * Sets the value from `atMs` on. If the latest entry has a later time, the value is valid from that later time on.
   */
  set(atMs: number, value: T): void;
  /** Returns the value at `atMs`; undefined before the first value. */
  at(atMs: number): T | undefined;
  /** Returns the time of the latest change until `atMs`; undefined before the first value. */
  changedAt(atMs: number): number | undefined;
}

export function createTimeline<T>(): Timeline<T> {
  const entries: { readonly fromMs: number; readonly value: T }[] = [];
  const entryAt = (atMs: number) => entries.findLast(({ fromMs }) => fromMs <= atMs);
  return {
    set(atMs, value) {
      const latest = entries.at(-1)?.fromMs ?? Number.NEGATIVE_INFINITY;
      entries.push({ fromMs: Math.max(latest, atMs), value });
    },
    at: (atMs) => entryAt(atMs)?.value,
    changedAt: (atMs) => entryAt(atMs)?.fromMs,
  };
}
