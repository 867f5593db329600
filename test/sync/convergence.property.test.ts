import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ALL_PLATFORM_FAULTS, ALL_TABLE_FAULTS, Chaos } from '../support/engine/chaos.ts';
import { directoryEvents, expectedGroups, messagesOf, PEOPLE } from '../support/engine/directory.ts';
import { drive } from '../support/engine/drive.ts';
import { shownGroups, suspectChanged } from '../support/engine/look-over.ts';
import { seededRandom } from '../support/engine/random.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { Scheduler } from '../support/engine/scheduler.ts';
import { createWorld } from '../support/engine/world.ts';
import type { RawEvent } from '../support/reading.ts';

/** Every group counts as large, so that registers carry copies of their users. */
vi.mock('../../shared/sync/tuning.ts', async (original) => ({
  ...(await original<typeof import('../../shared/sync/tuning.ts')>()),
  LARGE_GROUP: 1,
}));

interface Run {
  readonly events: readonly RawEvent[];
  readonly seed: number;
  readonly crashAt?: number;
  readonly chaos?: Omit<ConstructorParameters<typeof Chaos>[0], 'random'>;
  readonly coalesceMs?: number;
  readonly twins?: number;
  readonly platform?: Parameters<typeof createWorld>[0]['platform'];
}

/** One life of the engine: the events twice, in any order, and everything else as the seed has it. */
async function live({ events, seed, crashAt, chaos, coalesceMs = 0, twins = 0, platform }: Run) {
  const random = seededRandom(seed);
  const faults = new Chaos({ budget: 0, ...chaos, random });
  const world = await createWorld({
    random,
    faults,
    coalesceMs,
    people: PEOPLE,
    ...(platform === undefined ? {} : { platform }),
  });
  const scheduler = new Scheduler({
    random,
    ...(crashAt === undefined ? {} : { crashAt }),
    onEffect: () => {
      world.advance(1);
      faults.meddle(world);
    },
  });
  const messages = [...messagesOf(events)];
  for (let i = random.below(3); i > 0; i -= 1) messages.push(random.pick(messages));
  // Some come at once, the others when the engine has come to rest: late, as often as not.
  const arrive = () => {
    const count = 1 + random.below(messages.length);
    for (let i = 0; i < count; i += 1) {
      world.eventsQueue.messages.push(...messages.splice(random.below(messages.length), 1));
    }
  };
  arrive();
  await drive({
    world,
    scheduler,
    twins,
    batchSize: 4,
    skewMs: 900,
    whenQuiet: async () => {
      if (messages.length > 0) {
        arrive();
        return true;
      }
      if (world.platform.lateCount > 0) {
        world.platform.doLate(0);
        return true;
      }
      faults.left = 0;
      return suspectChanged(world);
    },
  });
  return { world, scheduler };
}

describe('the engine', () => {
  it(
    'ends where the directory is, in whatever order, number and grouping its events come',
    async () => {
      await fc.assert(
        fc.asyncProperty(directoryEvents(10), fc.nat(), async (events, seed) => {
          const { world } = await live({ events, seed, coalesceMs: seed % 2 === 0 ? 0 : 5_000 });
          expect(shownGroups(world)).toEqual(expectedGroups(events));
          expect(world.platform.violations).toEqual([]);
          expect(world.deadLetters).toEqual([]);
        }),
        runs(),
      );
    },
    PATIENCE_MS,
  );

  it(
    'ends there with two workers on one group, other writers, and every fault of table, queue and platform',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          directoryEvents(10),
          fc.nat(),
          fc.constantFrom(409, 412, 400, 422),
          fc.nat({ max: 8 }),
          async (events, seed, staleStatus, budget) => {
            const { world } = await live({
              events,
              seed,
              twins: 0.4,
              coalesceMs: seed % 2 === 0 ? 0 : 5_000,
              chaos: { budget, platform: ALL_PLATFORM_FAULTS, table: ALL_TABLE_FAULTS, foreign: true },
              platform: { staleStatus: staleStatus as 409, listLagMs: seed % 3 === 0 ? 20_000 : 0 },
            });
            expect(shownGroups(world)).toEqual(expectedGroups(events));
            expect(world.platform.violations).toEqual([]);
          },
        ),
        runs(),
      );
    },
    PATIENCE_MS,
  );
});
