import { STAMP_ZERO, type Stamp, stampTimeMs } from './stamp.ts';

/** Parts of one snapshot that are stamped further apart than this are two exports, and never complete each other. */
export const MAX_PART_SPREAD_MS = 3_600_000;

export interface ArrivedPart {
  readonly index: number;
  readonly stamp: Stamp;
}

/**
 * The floor that the parts of one snapshot set: the greatest stamp `s` such that every part arrived with a stamp from
 * `s` to an hour after it, or STAMP_ZERO while none is complete. Members stamped before the floor are gone.
 *
 * A producer may send a part again under a later stamp. Were the later one to replace the earlier, a set that was
 * complete could fall apart, and whether the floor had moved by then would depend on the order of arrival. So every
 * arrival is kept, and the answer is a function of the whole set that only grows with it (invariant 1).
 */
export function completeSnapshotFloor(count: number, parts: Iterable<ArrivedPart>): Stamp {
  const newestFirst = [...parts].sort((a, b) => (a.stamp < b.stamp ? 1 : a.stamp > b.stamp ? -1 : 0));
  const inWindow = new Map<number, number>();
  let end = 0;
  for (const [start, oldest] of newestFirst.entries()) {
    inWindow.set(oldest.index, (inWindow.get(oldest.index) ?? 0) + 1);
    while (end < start && isTooFarApart(oldest.stamp, newestFirst[end]?.stamp)) {
      drop(inWindow, newestFirst[end]?.index);
      end += 1;
    }
    if (inWindow.size === count) return oldest.stamp;
  }
  return STAMP_ZERO;
}

const isTooFarApart = (older: Stamp, newer: Stamp | undefined): boolean =>
  newer !== undefined && stampTimeMs(newer) - stampTimeMs(older) > MAX_PART_SPREAD_MS;

function drop(inWindow: Map<number, number>, index: number | undefined): void {
  if (index === undefined) return;
  const left = (inWindow.get(index) ?? 0) - 1;
  if (left > 0) inWindow.set(index, left);
  else inWindow.delete(index);
}
