import fc from 'fast-check';
import { expect } from 'vitest';
import { type ArrivedPart, completeSnapshotFloor, MAX_PART_SPREAD_MS } from '../../shared/domain/fold.ts';
import { makeStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../../shared/domain/stamp.ts';
import { always } from '../support/engine/runs.ts';

const START_MS = Date.UTC(2026, 10, 20);
const at = (ms: number): Stamp =>
  makeStamp({ time: new Date(START_MS + ms).toISOString(), id: 'e', source: 's' });

/** Returns the floor by its definition: the latest stamp after which every part arrived within an hour. */
function naiveFloor(count: number, parts: readonly ArrivedPart[]): Stamp {
  const complete = parts
    .map(({ stamp }) => stamp)
    .filter((start) => {
      const within = parts.filter(
        ({ stamp }) => stamp >= start && stampTimeMs(stamp) - stampTimeMs(start) <= MAX_PART_SPREAD_MS,
      );
      return new Set(within.map(({ index }) => index)).size === count;
    });
  return complete.reduce((a, b) => (a > b ? a : b), STAMP_ZERO);
}

const STEP_MS = MAX_PART_SPREAD_MS / 4;
const parts = fc.array(
  fc.record({
    index: fc.nat({ max: 2 }),
    stamp: fc.integer({ min: 0, max: 12 }).map((step) => at(step * STEP_MS)),
  }),
  { maxLength: 12 },
);

always(
  'the snapshot floor equals its definition for parts in any order',
  fc.property(parts, fc.integer({ min: 1, max: 3 }), (arrived, indexes) => {
    const few = arrived.filter(({ index }) => index < indexes);
    expect(completeSnapshotFloor(indexes, few)).toBe(naiveFloor(indexes, few));
    expect(completeSnapshotFloor(indexes, few.toReversed())).toBe(naiveFloor(indexes, few));
  }),
);

always(
  'the snapshot floor never decreases when more parts arrive',
  fc.property(parts, (arrived) => {
    let before = STAMP_ZERO;
    for (let count = 0; count <= arrived.length; count += 1) {
      const floor = completeSnapshotFloor(3, arrived.slice(0, count));
      expect(floor >= before).toBe(true);
      before = floor;
    }
  }),
);
