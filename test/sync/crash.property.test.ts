import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ALL_PLATFORM_FAULTS } from '../support/engine/chaos.ts';
import { directoryEvents, expectedGroups } from '../support/engine/directory.ts';
import { live } from '../support/engine/life.ts';
import { shownGroups } from '../support/engine/look-over.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';

vi.mock('../../shared/sync/tuning.ts', async (original) => ({
  ...(await original<typeof import('../../shared/sync/tuning.ts')>()),
  LARGE_GROUP: 1,
}));

/** Every kind of effect that the way from an event to the platform has; a crash must have met each of them. */
const EFFECTS = [
  'acknowledge apply',
  'acknowledge events',
  'delete VIEW#',
  'get CONNECTION',
  'get GATE',
  'get GROUP',
  'getMany PERSON',
  'getMany USER',
  'getMany VIEW#',
  'platform.create',
  'platform.delete',
  'platform.get',
  'platform.list',
  'platform.patch',
  'platform.put',
  'put A#',
  'put IN#',
  'put PART#',
  'put USER',
  'put VIEW#',
  'put pointer',
  'query IN#',
  'query M#',
  'query index',
  'send apply',
  'update GROUP',
  'update M#',
  'update USER',
];

describe('a crash', () => {
  const met = new Map<string, number>();

  it(
    'between any two effects, followed by redelivery, changes nothing of the end',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          directoryEvents(8),
          fc.nat(),
          fc.integer({ min: 1, max: 250 }),
          async (events, seed, point) => {
            const { effects } = (await live({ events, seed })).scheduler;
            const { world, scheduler } = await live({ events, seed, crashAt: 1 + (point % effects) });
            expect(scheduler.crashedAt).toBeDefined();
            met.set(scheduler.crashedAt ?? '', (met.get(scheduler.crashedAt ?? '') ?? 0) + 1);
            expect(shownGroups(world)).toEqual(expectedGroups(events));
            expect(world.platform.violations).toEqual([]);
          },
        ),
        runs(),
      );
    },
    PATIENCE_MS,
  );

  it(
    'on top of lost answers and other writers changes nothing of the end either',
    async () => {
      const chaos = { budget: 4, platform: ALL_PLATFORM_FAULTS, foreign: true };
      await fc.assert(
        fc.asyncProperty(
          directoryEvents(8),
          fc.nat(),
          fc.integer({ min: 1, max: 250 }),
          async (events, seed, crashAt) => {
            const { world, scheduler } = await live({ events, seed, crashAt, chaos, twins: 0.3 });
            const { crashedAt } = scheduler;
            if (crashedAt !== undefined) met.set(crashedAt, (met.get(crashedAt) ?? 0) + 1);
            expect(shownGroups(world)).toEqual(expectedGroups(events));
            expect(world.platform.violations).toEqual([]);
          },
        ),
        runs(),
      );
    },
    PATIENCE_MS,
  );

  it('was met at every kind of effect', () => {
    expect(EFFECTS.filter((effect) => !met.has(effect))).toEqual([]);
  });
});
