import { expect, it } from 'vitest';
import { platformGroupId } from '../../shared/domain/ids.ts';
import { adoptGroup } from '../../shared/operate/ownership.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CREATE_SETTLE_MS } from '../support/engine/world.ts';

/** Creates a managed group `own` and an external group `theirs`. The platform shows `theirs` in its wrong answers. */
async function company(options: Parameters<typeof createTestEngine>[0] = {}) {
  const engine = await createTestEngine(options);
  await engine.hire('a', 'b', 'c');
  await engine.deliver({ snapshot: 'g', of: ['a', 'b'] });
  engine.world.advance(CREATE_SETTLE_MS);
  const own = [...engine.world.platform.groups.keys()][0] as string;
  const theirs = engine.world.platform.addForeign({ name: 'Theirs', spokeId: 'x', users: ['stranger'] });
  return { ...engine, own, theirs };
}

it.each([
  ['patch', {}],
  ['get', { lastError: { code: 'unavailable' } }],
] as const)(
  'if a %s is answered with another group, the link stays and apply writes the directory change later',
  async (call, expected) => {
    const { world, emit, deliver, work, state, shown, own, theirs } = await company();
    const { platform } = world;
    platform.confused = (asked) => (asked === call ? theirs : undefined);
    if (call === 'get') platform.changeAsOther(own, { name: 'Renamed' });
    emit({ take: ['b'], from: 'g' }, { add: ['c'], to: 'g' });
    await work(20);
    expect(await state('g')).toMatchObject({ link: { id: own }, ...expected });

    platform.confused = () => undefined;
    world.advance(3_600_000);
    await deliver();
    expect(await state('g')).toMatchObject({ link: { id: own }, settled: 'in_sync' });
    expect(shown('g')).toEqual([['u-a', 'u-c']]);
    await deliver({ remove: 'g' });
    expect([...platform.groups.keys()]).toEqual([theirs]);
    expect(platform.groups.get(theirs)).toMatchObject({ name: 'Theirs', users: ['stranger'] });
  },
);

it('an adoption links only the adopted group if the PUT is answered with another group', async () => {
  const { world, emit, deliver, work, state, shown, theirs } = await company();
  const taken = world.platform.addForeign({ name: 'Taken', spokeId: 'n', users: [] });
  world.platform.adopted.add(taken);
  world.platform.confused = (asked) => (asked === 'put' ? theirs : undefined);
  emit({ snapshot: 'n', of: ['c'] });
  await work(20);
  expect(await state('n')).toMatchObject({ link: { id: taken } });
  world.platform.confused = () => undefined;
  world.advance(3_600_000);
  await deliver({ add: ['a'], to: 'n' });
  expect(await state('n')).toMatchObject({ link: { id: taken }, settled: 'in_sync' });
  expect(shown('n')).toEqual([['u-a', 'u-c']]);
  expect(world.platform.groups.get(theirs)).toMatchObject({ name: 'Theirs', users: ['stranger'] });
});

it('apply links no other group and creates no second group if the creation is answered with another group', async () => {
  const { world, emit, deliver, work, state, theirs } = await company();
  world.platform.confused = (asked) => (asked === 'create' ? theirs : undefined);
  emit({ snapshot: 'h', of: ['c'] });
  await work(20);
  world.platform.confused = () => undefined;
  world.advance(3_600_000);
  await deliver();
  expect((await state('h'))?.link?.id).not.toBe(theirs);
  expect(await state('h')).toMatchObject({ settled: 'in_sync' });
  expect(world.platform.groups.size).toBe(3);
  expect(world.platform.groups.get(theirs)).toMatchObject({ name: 'Theirs', users: ['stranger'] });
});

it.each([
  [true, 'all groups', 'Meanwhile'],
  [false, 'all groups', 'Meanwhile'],
  [false, 'all groups', 'Group h'],
  [true, 'no new group', 'Meanwhile'],
])(
  'a group that another client creates during the creation does not count as the created group (spokeIds shown: %s, the list shows %s, called %s)',
  async (echoSpokeId, shown, name) => {
    const { world, troubles, emit, work, deliver, state } = await company({ platform: { echoSpokeId } });
    const { platform } = world;
    if (shown === 'no new group') platform.listLimit = platform.groups.size;
    let other = '';
    troubles.platform = (call) => {
      if (call === 'create' && other === '')
        other = platform.addForeign({ name, spokeId: 'm', users: ['stranger'] });
      return 'none';
    };
    platform.confused = (asked) => (asked === 'create' ? other : undefined);
    emit({ snapshot: 'h', of: ['c'] });
    await work(2);
    platform.confused = () => undefined;
    platform.listLimit = Number.POSITIVE_INFINITY;
    world.advance(3_600_000);
    await deliver();
    const found = [...platform.groups.values()].filter((group) => [name, 'Group h'].includes(group.name));
    const own = { id: (await state('h'))?.link?.id, name: 'Group h', users: ['u-c'] };
    expect(found).toMatchObject([{ name, users: ['stranger'] }, own]);
  },
);

it('apply adopts no group if the read before the adoption is answered with another group', async () => {
  const { world, deliver, ref, own, theirs } = await company();
  world.platform.confused = (asked) => (asked === 'get' ? own : undefined);
  await deliver({ snapshot: 'n', of: [], name: null });
  await expect(adoptGroup(ref('n'), platformGroupId(theirs), world.toolPorts)).rejects.toThrow(
    'another group',
  );
});
