import fc from 'fast-check';
import { expect } from 'vitest';
import { ALL_CALL_FAULTS, ALL_TABLE_FAULTS } from '../support/engine/chaos.ts';
import { directoryEvents, expectedGroups } from '../support/engine/directory.ts';
import { shownGroups } from '../support/engine/look-over.ts';
import { runEvents } from '../support/engine/run-events.ts';
import { always } from '../support/engine/runs.ts';

always(
  'the platform finally equals the directory for any order, repetition and grouping of the events',
  fc.asyncProperty(directoryEvents(10), fc.nat(), async (events, seed) => {
    const { world } = await runEvents({ events, seed, coalesceMs: seed % 2 === 0 ? 0 : 5_000 });
    expect(shownGroups(world)).toEqual(expectedGroups(events));
    expect(world.platform.violations).toEqual([]);
    expect(world.deadLetters).toEqual([]);
  }),
  500,
);

always(
  'the platform finally equals the directory despite two workers, other clients and every fault',
  fc.asyncProperty(
    directoryEvents(10),
    fc.nat(),
    fc.constantFrom(409, 412, 400, 422),
    fc.nat({ max: 8 }),
    fc.boolean(),
    async (events, seed, staleStatus, budget, enforceVersionOnPatch) => {
      const { world } = await runEvents({
        events,
        seed,
        twins: 0.4,
        coalesceMs: seed % 2 === 0 ? 0 : 5_000,
        chaos: { budget, platform: ALL_CALL_FAULTS, table: ALL_TABLE_FAULTS, foreign: true },
        platform: {
          staleStatus: staleStatus as 409,
          enforceVersionOnPatch,
          listLagMs: seed % 3 === 0 ? 20_000 : 0,
          getLagMs: seed % 5 === 0 ? 10_000 : 0,
        },
      });
      expect(shownGroups(world)).toEqual(expectedGroups(events));
      expect(world.platform.violations).toEqual([]);
      // No message is dead-lettered. The platform may report a version conflict with any of these HTTP statuses. The
      // engine must not treat the conflict as a refusal.
      expect(world.deadLetters).toEqual([]);
    },
  ),
  600,
);
