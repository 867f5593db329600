import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_GATE } from '../../../shared/domain/gate.ts';
import type { Table } from '../../../shared/store/table.ts';
import type { GateStore } from '../../../shared/sync/ports/connections.ts';
import { followFeed } from '../../../shared/sync/reconcile/feed.ts';
import { MemoryTable } from '../../../simulate/table.ts';
import { Crash } from '../../../simulate/worker.ts';
import { PATIENCE_MS, runs } from '../../support/engine/runs.ts';
import { createFeedServer, type EndForm, type Trouble } from './support/feed-server.ts';
import { mortal } from './support/mortal.ts';
import { CONNECTION, createWorld, START_MS } from './support/world.ts';

const GROUPS = ['g0', 'g1', 'g2'];
const HOUR_MS = 3_600_000;
const ENDS: readonly EndForm[] = ['same', 'null', 'absent', 'empty'];
const TROUBLES: readonly Trouble[] = [
  ...Array<Trouble>(6).fill('none'),
  ...(['throttled', 'envelope', 'forgets_400', 'forgets_404', 'forgets_envelope', 'repeats'] as const),
];

/** Events come in batches, one before each run; seconds are few, so that instants are shared. */
const story = fc.record({
  batches: fc.array(
    fc.array(fc.record({ group: fc.constantFrom(...GROUPS), laterBy: fc.constantFrom(0, 0, 0, 1, 5) }), {
      maxLength: 24,
    }),
    { minLength: 1, maxLength: 4 },
  ),
  pageSizes: fc.array(fc.constantFrom(1, 2, 3, 7, 1_000), { minLength: 1, maxLength: 12 }),
  troubles: fc.array(fc.constantFrom(...TROUBLES), { maxLength: 30 }),
  end: fc.constantFrom(...ENDS),
  crashes: fc.array(fc.nat({ max: 60 }), { maxLength: 3 }),
});

async function setUp(options: { pageSizes: readonly number[]; troubles: readonly Trouble[]; end: EndForm }) {
  const table = new MemoryTable();
  const server = createFeedServer({ ...options, clock: () => world.ports.clock() });
  const world = createWorld({ table, activity: server.activity });
  for (const group of GROUPS) {
    const id = await world.link(group);
    world.show(id, { version: 'theirs' });
  }
  let nowMs = START_MS - 10_000_000;
  return {
    world,
    server,
    table,
    append(batch: readonly { group: string; laterBy: number }[]) {
      for (const { group, laterBy } of batch) {
        nowMs += laterBy * 1_000;
        server.log.push({ id: `e${server.log.length}`, group, atMs: nowMs });
      }
    },
    /** Ids of the events that the groups know of, in no order, repetitions included. */
    async recorded(): Promise<readonly string[]> {
      const states = await Promise.all(GROUPS.map(world.state));
      return states.flatMap(({ suspect }) => (suspect?.traces ?? []).map(({ id }) => id));
    },
  };
}

/** What a failure does to the gate is told elsewhere; here the next run reads on. */
const OPEN: GateStore = { read: async () => OPEN_GATE, write: async () => true };

type Told = Awaited<ReturnType<typeof setUp>>;
const run = ({ world }: Told, table: Table = world.table) =>
  followFeed(world.connection, { ...world.portsOver(table), gates: OPEN }, world.ports.clock() + HOUR_MS);

const allOf = ({ server }: Told) => server.log.map(({ id }) => id).sort();

describe('the feed', () => {
  it(
    'counts every event once and skips none, however it is served',
    async () => {
      await fc.assert(
        fc.asyncProperty(story, async ({ batches, ...served }) => {
          const told = await setUp(served);
          let counted = 0;
          const runOnce = async () => {
            const done = await run(told);
            counted += done?.report.eventsRead ?? 0;
            told.world.advance(300_000);
            return done;
          };
          for (const batch of batches) {
            told.append(batch);
            await runOnce();
          }
          for (let left = 40; (await runOnce())?.failure !== undefined; left -= 1)
            expect(left).toBeGreaterThan(0);
          expect([...(await told.recorded())].sort()).toEqual(allOf(told));
          expect(counted).toBe(told.server.log.length);
        }),
        runs(),
      );
    },
    PATIENCE_MS,
  );

  it(
    'loses nothing to a crash between any two effects, and never moves ahead of what is recorded',
    async () => {
      await fc.assert(
        fc.asyncProperty(story, async ({ batches, crashes, ...served }) => {
          const told = await setUp(served);
          for (const [index, batch] of batches.entries()) {
            told.append(batch);
            await run(told, mortal(told.table, (crashes[index % crashes.length] ?? 1_000) + 1)).catch(
              (error) => expect(error).toBeInstanceOf(Crash),
            );
            const recorded = new Set(await told.recorded());
            const { cursor = null } = (await told.world.ports.feed.read(CONNECTION)) ?? {};
            const passed = told.server.log.slice(0, told.server.before(cursor));
            expect(passed.filter(({ id }) => !recorded.has(id))).toEqual([]);
            // Longer than the lease of the run that died.
            told.world.advance(17 * 60_000);
          }
          for (let left = 40; (await run(told))?.failure !== undefined; left -= 1)
            expect(left).toBeGreaterThan(0);
          expect([...(await told.recorded())].sort()).toEqual(allOf(told));
        }),
        runs(),
      );
    },
    PATIENCE_MS,
  );
});
