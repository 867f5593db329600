import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OPEN_GATE } from '../../../shared/domain/gate.ts';
import type { GateStore } from '../../../shared/sync/ports/bundles.ts';
import { followFeed } from '../../../shared/sync/reconcile/feed.ts';
import { Crash, type Worker } from '../../../simulate/worker.ts';
import { PATIENCE_MS, runs } from '../../support/engine/runs.ts';
import { crashingWorker } from './support/crashing-worker.ts';
import { CONNECTION, createWorld } from './support/world.ts';

const GROUPS = ['g0', 'g1', 'g2'];
const HOUR_MS = 3_600_000;
/** Failed requests: `200` is an answer 200 with an error, and `forgets` refuses a cursor every time. */
const TROUBLES = ['429', '500', 'forgets 400', 'forgets 404', 'forgets 200', '200'];

/** Each batch of changes happens before one run of the feed. Some changes have the same time. */
const scenario = fc.record({
  batches: fc.array(
    fc.array(fc.record({ group: fc.constantFrom(...GROUPS), laterBy: fc.constantFrom(0, 0, 0, 1, 5) }), {
      maxLength: 24,
    }),
    { minLength: 1, maxLength: 4 },
  ),
  pageSizes: fc.array(fc.constantFrom(1, 2, 3, 7, 1_000), { minLength: 1, maxLength: 12 }),
  troubles: fc.array(fc.constantFrom('none', 'none', ...TROUBLES), { maxLength: 30 }),
  endOfFeed: fc.constantFrom('same' as const, 'null' as const, 'absent' as const, 'empty' as const),
  feedEnvelope: fc.constantFrom('data' as const, 'flat' as const),
  emptyFeedPage: fc.constantFrom('list' as const, 'nullEvents' as const, 'nullData' as const),
  mayReadPart: fc.constantFrom('once' as const, 'twice' as const),
  crashes: fc.array(fc.nat({ max: 60 }), { maxLength: 3 }),
});
type Served = Omit<
  typeof scenario extends fc.Arbitrary<infer Scenario> ? Scenario : never,
  'batches' | 'crashes'
>;

/** This gate is always open, so that the run after a failed run reads the feed. Other tests check the gate. */
const OPEN: GateStore = { read: async () => OPEN_GATE, write: async () => true };

async function followed({ pageSizes, troubles, mayReadPart, ...platformForm }: Served) {
  const { endOfFeed, feedEnvelope, emptyFeedPage } = platformForm;
  const world = await createWorld({ platform: { endOfFeed, feedEnvelope, emptyFeedPage } });
  const { platform } = world;
  for (const group of GROUPS) await world.link(group);
  world.advance(HOUR_MS);
  const run = (worker?: Worker) =>
    followFeed(
      world.connection,
      { ...(worker === undefined ? world.ports : world.portsOf(worker)), gates: OPEN },
      world.ports.clock() + HOUR_MS,
    );
  await run();
  if (mayReadPart === 'twice') platform.begin('feed_twice', 0.3);
  let requests = 0;
  platform.pageSize = () => pageSizes[Math.min(requests, pageSizes.length - 1)];
  platform.failing = (kind, query) => {
    if (kind !== 'activity') return undefined;
    requests += 1;
    const [status = 'none', forgets] = (troubles[requests - 1] ?? 'none').split(' ').reverse();
    const isMet = forgets === undefined ? status !== 'none' : new URLSearchParams(query).has('next');
    return isMet ? Number(status) : undefined;
  };
  let changes = 0;
  return {
    world,
    run,
    change(batch: readonly { group: string; laterBy: number }[]) {
      for (const { group, laterBy } of batch) {
        world.advance(laterBy * 1_000);
        changes += 1;
        world.change(group, `Theirs ${changes}`);
      }
    },
    /** Returns the ids of the events of other clients among the first `until` events. */
    expectedIds: (until = changes + GROUPS.length) =>
      Array.from({ length: until - GROUPS.length }, (_, n) => `company-e${n + GROUPS.length + 1}`).sort(),
    /** Returns the ids of the events that the groups have recorded, including repetitions. */
    async recorded(): Promise<readonly string[]> {
      const states = await Promise.all(GROUPS.map(world.state));
      return states
        .flatMap(({ suspectedChange }) => (suspectedChange?.activityEvents ?? []).map(({ id }) => id))
        .sort();
    },
  };
}

it(
  'a feed run reads every event and counts it once, for any pages and failures of the feed',
  async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ batches, crashes: _, ...served }) => {
        const { world, run, change, expectedIds, recorded } = await followed(served);
        let counted = 0;
        const runOnce = async () => {
          const done = await run();
          counted += done?.report.eventsRead ?? 0;
          world.advance(300_000);
          return done;
        };
        for (const batch of batches) {
          change(batch);
          await runOnce();
        }
        for (let left = 40; (await runOnce())?.failure !== undefined; left -= 1)
          expect(left).toBeGreaterThan(0);
        expect(await recorded()).toEqual(expectedIds());
        expect(counted).toBe(expectedIds().length);
      }),
      runs(500),
    );
  },
  PATIENCE_MS,
);

it(
  'a crash between any two effects loses no event, and the cursor never passes an unrecorded event',
  async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ batches, crashes, ...served }) => {
        const { world, run, change, expectedIds, recorded } = await followed(served);
        for (const [index, batch] of batches.entries()) {
          change(batch);
          await run(crashingWorker((crashes[index % crashes.length] ?? 1_000) + 1)).catch((error) =>
            expect(error).toBeInstanceOf(Crash),
          );
          const { cursor } = (await world.ports.feed.read(CONNECTION)) ?? {};
          const passed = expectedIds(Math.max(GROUPS.length, Number(cursor ?? 0)));
          expect(await recorded()).toEqual(expect.arrayContaining(passed));
          // This time is longer than the lease of the crashed run.
          world.advance(17 * 60_000);
        }
        for (let left = 40; (await run())?.failure !== undefined; left -= 1) expect(left).toBeGreaterThan(0);
        expect(await recorded()).toEqual(expectedIds());
      }),
      runs(500),
    );
  },
  PATIENCE_MS,
);
