import { expect, it } from 'vitest';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, NO_FAULTS } from '../support/engine/world.ts';

async function company(options: Parameters<typeof createTestEngine>[0] = {}) {
  const engine = await createTestEngine(options);
  await engine.hire('a', 'b');
  const { platform, toolPorts } = engine.world;
  const addOdd = (spokeId: string, name = 'Group g') => {
    const id = platform.addForeign({ name, spokeId, users: ['u-a'] });
    platform.malformed.add(id);
    return id;
  };
  /** Creates a group whose POST has no answer, and returns its id. */
  const createWithLostAnswer = async () => {
    const { troubles, emit, work } = engine;
    troubles.platform = (call) => (call === 'create' ? 'lost_after' : 'none');
    emit({ snapshot: 'g', of: ['a'] });
    await work(3);
    troubles.platform = NO_FAULTS.platform;
    return [...platform.groups.values()].find(({ spokeId }) => spokeId === 'g')?.id ?? '';
  };
  return { ...engine, platform, addOdd, createWithLostAnswer, gate: () => toolPorts.gates.read(CONNECTION) };
}

it.each([true, false])('a malformed external group blocks no other (shown ids: %s)', async (echoSpokeId) => {
  const { deliver, addOdd, gate, shown } = await company({ platform: { echoSpokeId } });
  addOdd('theirs');
  await deliver({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', of: ['b'] });
  expect(shown('g')).toEqual([['u-a']]);
  expect(shown('h')).toEqual([['u-b']]);
  expect((await gate()).state).toBe('open');
});

it('a malformed external group is not adopted by its name', async () => {
  const { deliver, addOdd, shown } = await company({});
  addOdd('theirs');
  await deliver({ snapshot: 'g', of: ['b'] });
  expect(shown('g')).toEqual([['u-b']]);
  expect(shown('theirs')).toEqual([['u-a']]);
});

it.each([true, false])(
  'a malformed external group does not count as the group of a POST without an answer (spokeIds are shown: %s)',
  async (echoSpokeId) => {
    const { createWithLostAnswer, deliver, addOdd, shown } = await company({ platform: { echoSpokeId } });
    addOdd('theirs');
    await createWithLostAnswer();
    await deliver();
    expect(shown('g')).toEqual([['u-a']]);
    expect(shown('theirs')).toEqual([['u-a']]);
  },
);

it('a group that another client creates after a POST without an answer does not count as the group of the POST', async () => {
  const { emit, work, deliver, platform, state, troubles } = await company({
    platform: { echoSpokeId: false },
  });
  troubles.platform = (call) => (call === 'create' ? 'lost_before' : 'none');
  emit({ snapshot: 'g', of: ['a'] });
  await work(3);
  troubles.platform = NO_FAULTS.platform;
  const theirs = platform.addForeign({ name: 'Group g', spokeId: null as never, users: ['u-b'] });
  await deliver();
  expect(platform.groups.get(theirs)?.users).toEqual(['u-b']);
  expect((await state('g'))?.link).toBeUndefined();
});

const manyOdd = async () => {
  const scene = await company();
  for (let left = 6_000; left > 0; left -= 1) {
    const id = scene.platform.addForeign({ name: 'Group x', spokeId: null as never, users: [] });
    scene.platform.malformed.add(id);
  }
  return scene;
};

it('apply finds the group of a creation without an answer among thousands of malformed groups, and stores few of their ids', async () => {
  const { createWithLostAnswer, deliver, shown, world } = await manyOdd();
  await createWithLostAnswer();
  await deliver();
  expect(shown('g')).toEqual([['u-a']]);
  expect(world.table.largest.bytes).toBeLessThan(40 * 1_024);
});

it.each([
  ['spokeIds are shown', () => company()],
  ['spokeIds are hidden', () => company({ platform: { echoSpokeId: false } })],
  ['thousands of other groups are malformed', manyOdd],
])('a creation without an answer is not repeated while its group is malformed (%s)', async (_, open) => {
  const { deliver, createWithLostAnswer, work, world, platform, state, shown } = await open();
  const made = await createWithLostAnswer();
  platform.malformed.add(made);
  for (let hour = 0; hour < 5; hour += 1) {
    world.advance(3_600_000);
    await work(5);
  }
  expect(shown('g')).toEqual([['u-a']]);
  expect(await state('g')).toMatchObject({
    intent: { action: 'create' },
    lastError: { message: expect.stringContaining('name') },
  });
  platform.malformed.delete(made);
  await deliver({ add: ['b'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
});
