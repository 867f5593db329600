import { expect, it } from 'vitest';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { CONNECTION, CREATE_SETTLE_MS, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

type Wrong = { first: readonly DirectoryEvent[]; hours: number; echoSpokeId: boolean };

/** Creates the directory groups g0, g1, … in sync. Ten minutes pass after the creation of their platform groups. */
async function company(count: number, platform = {}, settings = {}) {
  const engine = await createTestEngine({ platform, settings });
  await engine.hire('a', 'b');
  const names = Array.from({ length: count }, (_, n) => `g${n}`);
  await engine.deliver(...names.map((snapshot) => ({ snapshot, of: ['a'] })));
  engine.world.advance(CREATE_SETTLE_MS);
  return {
    ...engine,
    names,
    /** Makes the platform answer 404 for all groups except g0. A wrong base URL has the same effect. */
    async hideAllButOne() {
      const platformId = (await engine.state('g0'))?.link?.id;
      const hidden = new Set([...engine.world.platform.groups.keys()].filter((id) => id !== platformId));
      engine.world.platform.hidden = (id) => hidden.has(id);
      return hidden;
    },
    async waiting() {
      const states = await Promise.all(names.map((name) => engine.state(name)));
      return states.filter((state) => state?.lastError?.code === 'missing_held');
    },
  };
}

it('if all but one of 61 groups answer 404, apply recreates at most 5 % in an hour', async () => {
  const [count, most] = [61, 3];
  const { world, names, emit, pass, deliver, waiting, state, hideAllButOne } = await company(count);
  const before = await hideAllButOne();
  emit(...names.map((to) => ({ add: ['b'], to })));
  await pass(HOUR_MS / 2);
  expect(world.platform.groups.size).toBe(count + most);
  const held = await waiting();
  expect(held).toHaveLength(count - 1 - most);
  for (const group of held) {
    expect(group?.dirtySinceMs).toBeDefined();
    expect(before.has(group?.link?.id ?? '')).toBe(true);
  }
  await pass(HOUR_MS);
  expect(world.platform.groups.size).toBe(count + 2 * most);

  const made = world.platform.groups.size - count;
  world.platform.hidden = () => false;
  world.advance(HOUR_MS);
  await deliver();
  expect(world.platform.groups.size).toBe(count + made);
  for (const name of names) expect(await state(name)).toMatchObject({ settled: 'in_sync' });
  expect(await waiting()).toEqual([]);
});

it('a group that is shown again after its link was about to end does not count as a lost group', async () => {
  const { world, emit, pass, state, shown } = await company(4);
  const id = (await state('g1'))?.link?.id;
  const ended = () => world.table.under('C#default', 'UNLINK');
  let isOver = false;
  world.platform.hidden = (one) => {
    isOver ||= ended().length > 0;
    return one === id && !isOver;
  };
  emit({ add: ['b'], to: 'g1' });
  await pass(HOUR_MS / 2);
  expect(shown('g1')).toEqual([['u-a', 'u-b']]);
  expect([isOver, ended()]).toEqual([true, []]);
});

it.each([
  ['is empty', []],
  ['shows only an unmanaged group', ['Theirs']],
])('no group is created for half an hour if every group answers 404 and the list %s', async (_, others) => {
  const { world, names, emit, pass, state, deliver } = await company(5);
  const before = new Set(world.platform.groups.keys());
  for (const name of others) world.platform.addForeign({ name, spokeId: '', users: [] });
  world.platform.hidden = (id) => before.has(id);
  emit(...names.map((to) => ({ add: ['b'], to })));
  await pass(HOUR_MS / 2, 5);
  expect(world.platform.groups.size).toBe(5 + others.length);
  for (const name of names) expect(await state(name)).toMatchObject({ lastError: { code: 'missing' } });
  world.platform.hidden = () => false;
  world.advance(HOUR_MS);
  await deliver();
  expect(world.platform.groups.size).toBe(5 + others.length);
  for (const name of names) expect(await state(name)).toMatchObject({ settled: 'in_sync' });
});

it.each([
  [
    'a long time without calls',
    async (engine: Awaited<ReturnType<typeof company>>) => engine.world.advance(20 * HOUR_MS),
  ],
  [
    'a pause of the group',
    async ({ world, ref }: Awaited<ReturnType<typeof company>>) => {
      const { groups } = world.toolPorts;
      const pausedAtMs = world.nowMs();
      await groups.pause(ref('g0'), pausedAtMs);
      world.advance(90 * MINUTE_MS);
      await groups.resume(ref('g0'), { pausedAtMs, nowMs: world.nowMs(), wakeAtMs: world.nowMs() });
      await world.toolPorts.applyQueue.wake([ref('g0')]);
    },
  ],
])('a 404 from before %s does not count, so apply creates no second group', async (_, between) => {
  const engine = await company(1);
  const { world, emit, work, deliver, pass } = engine;
  const before = [...world.platform.groups.keys()];
  world.platform.hidden = () => true;
  emit({ add: ['b'], to: 'g0' });
  await work(3);
  world.platform.hidden = () => false;
  await between(engine);
  world.platform.hidden = () => true;
  await pass(5 * MINUTE_MS);
  expect([...world.platform.groups.keys()]).toEqual(before);
  world.platform.hidden = () => false;
  world.advance(HOUR_MS);
  await deliver();
  expect([...world.platform.groups.keys()]).toEqual(before);
});

it('the only group of a connection is created again after the feed reports its deletion', async () => {
  const { world, emit, pass, deliver, state, shown } = await company(1);
  for (const id of [...world.platform.groups.keys()]) world.platform.deleteAsOther(id);
  emit({ add: ['b'], to: 'g0' });
  await pass(20 * MINUTE_MS, 50);
  expect(shown('g0')).toEqual([]);
  expect(await state('g0')).toMatchObject({ lastError: { code: 'missing' } });
  await followFeed(await world.connection(), world.toolPorts, world.nowMs() + 10 * MINUTE_MS);
  await deliver();
  expect(shown('g0')).toEqual([['u-a', 'u-b']]);
});

it.each([
  ['in the first half hour', {}],
  ['after an unlink', { first: [{ upsert: 'g0', name: 'New' }] }],
  ['for half a day', { hours: 12 }],
  ['for half a day, without spokeIds', { hours: 12, echoSpokeId: false }],
])(
  'a group that the directory deletes while the platform answers 404 is deleted when it is readable again (404 %s)',
  async (_, given) => {
    const { first = [], hours = 0.5, echoSpokeId = true } = { ...given } as Partial<Wrong>;
    const { world, emit, pass, deliver } = await company(1, { echoSpokeId });
    world.platform.hidden = () => true;
    world.platform.failing = (kind) => (kind === 'create' ? 404 : undefined);
    emit(...first);
    await pass(5 * MINUTE_MS);
    emit({ remove: 'g0' });
    await pass(hours * HOUR_MS);
    world.platform.hidden = () => false;
    world.platform.failing = () => undefined;
    world.advance(HOUR_MS);
    await sweep((await world.toolPorts.connections.current(CONNECTION)) as never, world.toolPorts);
    await deliver();
    expect([...world.platform.groups.values()]).toEqual([]);
  },
);

it('short periods of 404 on several days do not unlink a group', async () => {
  const { world, emit, work, deliver, state } = await company(1);
  const { platform } = world;
  for (let day = 0; day < 3; day += 1) {
    platform.hidden = () => true;
    emit(day % 2 === 0 ? { add: ['b'], to: 'g0' } : { take: ['b'], from: 'g0' });
    await work(2);
    expect(await state('g0')).toMatchObject({ lastError: { code: 'missing' } });
    platform.hidden = () => false;
    await deliver();
    expect(await state('g0')).toMatchObject({ settled: 'in_sync' });
    world.advance(24 * HOUR_MS);
  }
  expect(platform.groups.size).toBe(1);
});

it('a group that another client deleted is created again only after a minute', async () => {
  const { world, emit, deliver, work, shown, state } = await company(2);
  const platformId = (await state('g0'))?.link?.id ?? '';
  world.platform.deleteAsOther(platformId);
  emit({ add: ['b'], to: 'g0' });
  const atMs = world.nowMs();
  while (world.nowMs() < atMs + MINUTE_MS - 10_000) {
    await work(1);
    expect(world.platform.groups.size).toBe(1);
  }
  await deliver();
  expect(shown('g0')).toEqual([['u-a', 'u-b']]);
  expect((world.platform.writes.at(-1)?.atMs ?? 0) - atMs).toBeGreaterThanOrEqual(MINUTE_MS);
  expect(world.nowMs() - atMs).toBeLessThan(3 * MINUTE_MS);
});
