import { expect, it } from 'vitest';
import { groupKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';

it('a group of a newer schema is refused and stays unchanged, and all other groups are written', async () => {
  const { world, hire, deliver, emit, work, ref, shown } = await createTestEngine();
  await hire('a', 'b');
  await deliver({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', of: ['a'] });
  await world.table.update(groupKey(ref('g')), { set: { schema: 2 } });
  emit({ add: ['b'], to: 'g' }, { add: ['b'], to: 'h' });
  await work(40);
  expect([shown('g'), shown('h')]).toEqual([[['u-a']], [['u-a', 'u-b']]]);
  await expect(applyGroup(ref('g'), world.toolPorts)).rejects.toThrow(
    'expected a group at partition G#default#g in schema 1, got schema 2: a newer release of groupsync wrote it',
  );
  const item = await world.table.get(groupKey(ref('g')));
  expect(item).toMatchObject({ schema: 2, group: 'g', dirtySince: expect.any(Number) });
});

/** The keys of the items that `understood` reads. */
const NUMBERED =
  /^(?:G#.* (?:GROUP|A#.*)|U#.* USER|R#.* PERSON|C#.* (?:CONNECTION|GATE|FEED|HEALTH|DRIFT#.*))$/;

it('every item that `understood` reads has the number of its schema', async () => {
  const { world, hire, deliver } = await createTestEngine();
  await hire('a', 'b');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  const items = [...world.table.items.values()];
  const numbered = items.filter(({ pk, sk }) => NUMBERED.test(`${pk} ${sk}`));
  expect(numbered.length).toBeGreaterThan(4);
  expect(numbered.filter(({ schema }) => schema !== 1)).toEqual([]);
});
