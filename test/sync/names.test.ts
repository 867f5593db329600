import { expect, it } from 'vitest';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CREATE_SETTLE_MS, failFirst, HOUR_MS } from '../support/engine/world.ts';

const trims = (name: string) => name.trim();
const folds = (name: string) => name.trim().normalize('NFC').toLowerCase();

async function company(platform: object = {}, settings: Readonly<Record<string, unknown>> = {}) {
  const engine = await createTestEngine({ platform, settings });
  const { world } = engine;
  await engine.hire('a', 'b');
  return {
    ...engine,
    name: (spokeId: string) =>
      [...world.platform.groups.values()].find((group) => group.spokeId === spokeId)?.name,
    /** Sets the name of the group as another client, and its users if given. Then lets groupsync find the change. */
    async rename(name: string, users?: readonly string[]) {
      const [id = ''] = world.platform.groups.keys();
      world.platform.changeAsOther(id, { name, ...(users && { users }) });
      await engine.findChanges();
    },
  };
}

const refusals = (deadLetters: readonly { readonly code: string | undefined }[]) =>
  deadLetters.filter(({ code }) => code === 'platform_rejected');

it('a group that needs the name of another group is created when the name is free', async () => {
  const { world, emit, work, deliver, state, shown } = await company({ uniqueNames: true });
  await deliver({ snapshot: 'old', name: 'Sales', of: ['a'] });
  emit({ snapshot: 'new', name: 'Sales', of: ['b'] });
  await work(20);
  expect(await state('new')).toMatchObject({ lastError: { code: 'name_in_use' } });
  emit({ remove: 'old' });
  await deliver();
  expect([shown('old'), shown('new')]).toEqual([[], [['u-b']]]);
  expect(await state('new')).toMatchObject({ settled: 'in_sync' });
  expect(refusals(world.deadLetters)).toEqual([]);
});

it('two groups that swap names fail with name_in_use, and succeed if one group first gets a third name', async () => {
  const { world, emit, work, deliver, state, shown, name, ref } = await company(
    { uniqueNames: true },
    { guard: { minSize: 9, maxRemovedShare: 1, maxRemovedCount: 9, perHourCount: 9 } },
  );
  await deliver({ snapshot: 'g', name: 'A', of: ['a'] }, { snapshot: 'h', name: 'B', of: ['b'] });
  emit({ upsert: 'g', name: 'B' }, { upsert: 'h', name: 'A' }, { add: ['b'], to: 'g' });
  emit({ take: ['b'], from: 'h' });
  await work(40);
  for (const group of ['g', 'h'])
    expect(await state(group)).toMatchObject({ lastError: { code: 'name_in_use' } });
  expect([shown('g'), shown('h')]).toEqual([[['u-a', 'u-b']], [[]]]);
  expect([name('g'), name('h')]).toEqual(['A', 'B']);
  const recent = await world.toolPorts.guard.recent(ref('h'), world.nowMs(), [undefined]);
  expect(recent).toMatchObject({ group: 1, connection: 1 });
  const calls = world.platform.writes.length;
  await deliver({ upsert: 'h', name: 'C' });
  await deliver({ upsert: 'h', name: 'A' });
  expect([name('g'), name('h')]).toEqual(['B', 'A']);
  expect(world.platform.writes.length - calls).toBeLessThanOrEqual(3);
  expect(refusals(world.deadLetters)).toEqual([]);
  for (const group of ['g', 'h']) expect(await state(group)).toMatchObject({ settled: 'in_sync' });
});

it('members are written to a group although another group has its name and the platform requires unique names', async () => {
  const { world, deliver, state, shown, rename } = await company({ uniqueNames: true });
  await deliver({ snapshot: 'g', name: 'Sales', of: ['a'] });
  world.platform.addForeign({ name: 'Sales', spokeId: 'other', users: [] });
  await rename('Sales', []);
  await deliver({ add: ['b'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
});

it.each([
  ['trims', trims, ' Sales '],
  ['normalises and lower-cases', folds, 'Ve\u0301rtrieb'],
  ['cuts in the middle of a character', (name: string) => name.slice(0, 5), 'Sale🚀 in Europe'],
])('a name that the platform %s is written once, and not at each wake-up', async (_, nameAs, name) => {
  const { world, deliver, state, driftKinds, name: shown } = await company({ nameAs });
  await deliver({ snapshot: 'g', name, of: ['a'] });
  for (let round = 0; round < 20; round += 1) await deliver({ upsert: 'g', name });
  expect(world.platform.writes).toHaveLength(1);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });

  await deliver({ add: ['b'], to: 'g' });
  for (let round = 0; round < 5; round += 1) await deliver({ upsert: 'g', name });
  expect(world.platform.writes).toHaveLength(2);
  await deliver({ upsert: 'g', name: `New ${name}` });
  for (let round = 0; round < 5; round += 1) await deliver({ upsert: 'g', name: `New ${name}` });
  expect(world.platform.writes).toHaveLength(3);
  expect(shown('g')).toBe(nameAs(`New ${name}`));
  expect(await driftKinds()).toEqual([]);
  expect((await state('g'))?.dirtySinceMs).toBeUndefined();
});

it('groupsync reverts each name from another client except the wanted name and its normalised form', async () => {
  const { world, deliver, rename, driftKinds, name } = await company({ nameAs: folds });
  await deliver({ snapshot: 'g', name: 'Sales', of: ['a'] });
  await rename('Theirs');
  expect(name('g')).toBe('sales');
  expect(await driftKinds()).toEqual(['name']);
  await rename('SALES');
  expect(name('g')).toBe('sales');
  expect(await driftKinds()).toEqual(['name', 'name']);
  const writes = world.platform.writes.length;
  await rename('Sales');
  await rename('sales');
  await deliver({ upsert: 'g', name: 'Sales' }, { upsert: 'g', name: 'sales' });
  expect(world.platform.writes).toHaveLength(writes);
  expect(await driftKinds()).toEqual(['name', 'name']);
});

it.each([
  ['create', true],
  ['create', false],
  ['patch', true],
])('a normalised name is sent once, even after a lost %s (spokeIds shown: %s)', async (lost, echoSpokeId) => {
  const { world, troubles, deliver, state, driftKinds } = await company({ nameAs: folds, echoSpokeId });
  if (lost === 'patch') await deliver({ snapshot: 'g', name: 'Before', of: ['a'] });
  const isLost = failFirst(troubles, lost, 'lost_after');
  await deliver({ snapshot: 'g', name: ' Sales', of: ['a'] });
  world.advance(HOUR_MS);
  await deliver({ upsert: 'g', name: ' Sales' });
  expect(isLost()).toBe(true);
  expect(world.platform.groups.size).toBe(1);
  expect(world.platform.writes.map(({ action }) => action)).toEqual(
    lost === 'patch' ? ['create', 'patch'] : ['create'],
  );
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  expect(await driftKinds()).toEqual([]);
});

it('a group whose new name has no effect shows an error, and is not written at every attempt', async () => {
  let fixed = (name: string) => name;
  const { world, deliver, work, emit, state, name } = await company({
    nameAs: (given: string) => fixed(given),
  });
  await deliver({ snapshot: 'g', name: 'Sales', of: ['a'] });
  fixed = () => 'Sales';
  emit({ upsert: 'g', name: 'Purchases' });
  await work(4);
  expect(world.platform.writes.length).toBeLessThan(4);
  expect(await state('g')).toMatchObject({
    lastError: { code: 'kept', message: 'the platform keeps the name that the group had' },
  });
  fixed = (given) => given;
  world.advance(HOUR_MS);
  await deliver();
  expect(name('g')).toBe('Purchases');
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
});

it.each([true, false])(
  'a group that another client changes before each write causes at most 12 calls per hour (versions compared: %s)',
  async (isCompared) => {
    const { world, troubles, deliver, emit, work, state } = await company({
      enforceVersionOnPatch: isCompared,
    });
    await deliver({ snapshot: 'g', name: 'Ours', of: ['a'] });
    world.advance(CREATE_SETTLE_MS);
    const calls: number[] = [];
    let renames = 0;
    troubles.platform = (call) => {
      calls.push(world.nowMs());
      if (call !== 'patch' && call !== 'put') return 'none';
      renames += 1;
      const [id = ''] = world.platform.groups.keys();
      world.platform.changeAsOther(id, { users: ['u-a', `guest-${renames}`], name: `Theirs ${renames}` });
      return 'none';
    };
    emit({ add: ['b'], to: 'g' });
    const startMs = world.nowMs();
    while (world.nowMs() < startMs + 3 * HOUR_MS) await work(4);
    expect((await state('g'))?.attempts).toBeGreaterThan(2);
    for (const hour of [0, 1, 2]) {
      const fromMs = startMs + hour * HOUR_MS;
      const count = calls.filter((atMs) => atMs >= fromMs && atMs < fromMs + HOUR_MS).length;
      expect(count).toBeLessThanOrEqual(12);
    }
  },
);
