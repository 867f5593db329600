import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planGroup } from '../../shared/sync/apply/preview.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { added, createWorld, deleted, group, removed, type ShortEvent } from '../support/operate/world.ts';

const PEOPLE = ['ann', 'bob', 'cid', 'dee', 'eve', 'fay', 'gus'];
const person = fc.constantFrom(...PEOPLE, 'stranger');
const people = fc.uniqueArray(person, { minLength: 1, maxLength: 4 });

const event: fc.Arbitrary<ShortEvent> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('Blue', 'Red').map((name) => group('g', name)) },
  { weight: 5, arbitrary: people.map((names) => added('g', ...names)) },
  { weight: 4, arbitrary: people.map((names) => removed('g', ...names)) },
  { weight: 1, arbitrary: fc.constant(deleted('g')) },
);

const meddling = fc.record({
  users: fc.uniqueArray(fc.constantFrom('u-ann', 'u-bob', 'x-1', 'x-2')),
  name: fc.constantFrom('Blue', 'Stolen'),
});

const scenario = fc.record({
  before: fc.array(event, { maxLength: 8 }),
  /** Somebody else's change of the group, or a group of somebody else that is there already. */
  meddling: fc.option(meddling),
  foreign: fc.option(fc.constantFrom({ name: 'Blue', spokeId: 'g' }, { name: 'Blue', spokeId: 'other' })),
  after: fc.array(event, { minLength: 1, maxLength: 5 }),
  settings: fc.record({
    membership: fc.constantFrom('authoritative' as const, 'additive' as const),
    onGroupDeleted: fc.constantFrom('delete' as const, 'empty' as const, 'release' as const),
    drift: fc.constantFrom('restore' as const, 'report' as const, 'adopt' as const),
    adoptExisting: fc.constantFrom('never' as const, 'bySpokeId' as const, 'byName' as const),
    guard: fc.constantFrom(null, { minSize: 2, maxRemovedShare: 0.5, maxRemovedCount: 3, perHourCount: 4 }),
  }),
});

describe('planGroup', () => {
  it(
    'says exactly what the next apply then writes, changes and reasons included, and leaves no trace',
    async () => {
      let written = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async ({ before, meddling: change, foreign, after, settings }) => {
          const world = createWorld(settings);
          await world.save();
          await world.hire(...PEOPLE);
          if (foreign !== null)
            world.platform.adopted.add(world.platform.addForeign({ ...foreign, users: ['x-1'] }));
          if (before.length > 0) {
            await world.publish(...before);
            await world.apply('g');
          }
          world.clock.ms += 1_000;
          const linked = (await world.ports.groups.read(world.refOf('g')))?.platformId;
          if (change !== null && linked !== undefined) world.platform.changeAsOther(linked, change);
          await world.publish(...after);

          const table = JSON.stringify([...world.table.items]);
          const shown = JSON.stringify([...world.platform.groups.values()]);
          const plan = await planGroup(world.refOf('g'), world.ports);
          expect(JSON.stringify([...world.table.items])).toBe(table);
          expect(JSON.stringify([...world.platform.groups.values()])).toBe(shown);

          const known = (await world.audit('g')).length;
          await world.apply('g');
          const entries = (await world.audit('g')).slice(0, -known || undefined).reverse();
          const first = entries.find(({ outcome }) => outcome === 'written');
          if (plan.action === 'none' || plan.action === 'hold') {
            expect(first).toBeUndefined();
          } else {
            written += 1;
            expect({ action: first?.action, changes: first?.changes }).toEqual({
              action: plan.action,
              changes: plan.changes,
            });
          }
          const { hold } = (await world.ports.groups.read(world.refOf('g'))) ?? {};
          if (plan.action === 'hold') expect(hold?.digest).toBe(plan.digest);
        }),
        runs(),
      );
      expect(written).toBeGreaterThan(50);
    },
    PATIENCE_MS,
  );
});
