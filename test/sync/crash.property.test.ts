import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { groupId } from '../../shared/domain/ids.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import * as tuning from '../../shared/sync/tuning.ts';
import { ALL_CALL_FAULTS } from '../support/engine/chaos.ts';
import { directoryEvents, expectedGroups } from '../support/engine/directory.ts';
import { shownGroups } from '../support/engine/look-over.ts';
import { runEvents } from '../support/engine/run-events.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { CONNECTION } from '../support/engine/world.ts';

beforeAll(() => {
  vi.spyOn(tuning as { LARGE_GROUP: number }, 'LARGE_GROUP', 'get').mockReturnValue(1);
});
afterAll(() => void vi.restoreAllMocks());

/** The kinds of effects between an event and the platform. The test must have a crash before each kind. */
const EFFECTS = [
  'SendMessageBatch apply, acknowledge apply, acknowledge events, delete VIEW#, get CONNECTION',
  'get GATE, get GROUP, getMany PERSON, getMany USER, getMany VIEW#, platform.create, platform.delete',
  'platform.get, platform.list, platform.me, platform.patch, platform.put, put A#, put IN#, put PART#',
  'put USER, put VIEW#, update L#, query IN#, query M#, query index, update GROUP, update M#',
  'update USER',
].flatMap((line) => line.split(', '));

/** The largest number of runs until every kind has occurred. A few dozen runs are usually enough. */
const MOST_RUNS = 500;

const points = fc.tuple(fc.nat(), fc.nat());

/** Returns the position of a crash. Each kind of effect is equally likely, and each occurrence of this kind too. */
function pointIn(effects: readonly string[], point: number): number {
  const kinds = [...new Set(effects)].sort();
  const kind = kinds[point % kinds.length];
  const places = effects.flatMap((effect, place) => (effect === kind ? [place + 1] : []));
  return places[Math.floor(point / kinds.length) % places.length] ?? 1;
}

const met = new Set<string>();

it.each([
  ['without other faults', {}],
  [
    'with lost answers, other clients and a second worker',
    { twins: 0.3, chaos: { budget: 4, platform: ALL_CALL_FAULTS, foreign: true } },
  ],
])(
  'a crash between any two effects and a redelivery do not change the result, %s',
  async (_, faults) => {
    await fc.assert(
      fc.asyncProperty(directoryEvents(8), fc.nat(), points, async (events, seed, drawn) => {
        const { effects } = (await runEvents({ events, seed, ...faults })).scheduler;
        for (const crashAt of drawn.map((point) => pointIn(effects, point))) {
          const { world, scheduler } = await runEvents({ events, seed, ...faults, crashAt });
          expect(scheduler.crashedAt).toBe(effects[crashAt - 1]);
          met.add(scheduler.crashedAt ?? '');
          expect(shownGroups(world)).toEqual(expectedGroups(events));
          expect(world.platform.violations).toEqual([]);
          for (const group of expectedGroups(events).keys()) {
            const ref = { connection: CONNECTION, group: groupId(group) };
            const { audit } = world.toolPorts;
            expect(await verifyAudit(ref, { audit, clock: world.nowMs })).toMatchObject({ broken: null });
          }
        }
      }),
      // The test executes each run once without a crash, and then once for each drawn crash.
      runs(200),
    );
  },
  PATIENCE_MS,
);

it(
  'the test crashes a worker at every kind of effect, including rare kinds',
  async () => {
    const faults = { twins: 0.3, chaos: { budget: 4, platform: ALL_CALL_FAULTS, foreign: true } };
    const lives = fc.sample(directoryEvents(12), { numRuns: MOST_RUNS, seed: 1 });
    for (const [seed, events] of lives.entries()) {
      const missing = EFFECTS.filter((effect) => !met.has(effect));
      if (missing.length === 0) break;
      const { effects } = (await runEvents({ events, seed, ...faults })).scheduler;
      for (const kind of missing.filter((effect) => effects.includes(effect))) {
        const { world, scheduler } = await runEvents({
          events,
          seed,
          ...faults,
          crashAt: effects.indexOf(kind) + 1,
        });
        expect(scheduler.crashedAt).toBe(kind);
        expect(shownGroups(world)).toEqual(expectedGroups(events));
        expect(world.platform.violations).toEqual([]);
        met.add(kind);
      }
    }
    expect(EFFECTS.filter((effect) => !met.has(effect))).toEqual([]);
  },
  PATIENCE_MS,
);
