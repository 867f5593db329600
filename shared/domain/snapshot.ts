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
  const newestFirst = [...parts].sort((a, b) => Number(a.stamp < b.stamp) - Number(a.stamp > b.stamp));
  const inWindow = new Map<number, number>();
  let end = 0;
  for (const oldest of newestFirst) {
    inWindow.set(oldest.index, (inWindow.get(oldest.index) ?? 0) + 1);
    // Ends at `oldest` itself at the latest.
    for (let newest = newestFirst[end]; newest && isTooFarApart(oldest, newest); newest = newestFirst[end]) {
      drop(inWindow, newest.index);
      end += 1;
    }
    if (inWindow.size === count) return oldest.stamp;
  }
  return STAMP_ZERO;
}

const isTooFarApart = (older: ArrivedPart, newer: ArrivedPart): boolean =>
  stampTimeMs(newer.stamp) - stampTimeMs(older.stamp) > MAX_PART_SPREAD_MS;

function drop(inWindow: Map<number, number>, index: number): void {
  const left = (inWindow.get(index) ?? 0) - 1;
  if (left > 0) inWindow.set(index, left);
  else inWindow.delete(index);
}
