import { expect, it } from 'vitest';
import { suspectChanged } from '../support/engine/look-over.ts';
import { allOf, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

async function company(platform: object = {}, settings = {}) {
  const engine = await createTestEngine({ platform, settings });
  const { world } = engine;
  await engine.hire('a', 'b', 'c');
  return {
    ...engine,
    drift: async () => (await allOf(world.toolPorts.drift.list(CONNECTION))).map(({ kind }) => kind),
    pending: async () =>
      (await world.toolPorts.groups.members(engine.ref('g'))).flatMap(({ member, pending }) =>
        pending === undefined ? [] : [`${member} ${pending.cause}`],
      ),
    /**
     * Advances the time by ten minutes, and marks changed groups as suspected. The feed marks groups in the same way.
     */
    async later() {
      world.advance(10 * MINUTE_MS);
      await suspectChanged(world);
      await engine.deliver();
    },
  };
}

it.each([
  ['a fetch shows the write immediately', 0],
  ['a fetch is also behind for half a minute', 30_000],
])(
  'apply removes no new member and records no drift if the answer to a write shows the group before the write (%s)',
  async (_, getLagMs) => {
    const { deliver, later, world, shown, state, drift, pending } = await company({ getLagMs });
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    world.advance(HOUR_MS);
    world.platform.behind = (kind) => kind === 'patch';
    await deliver({ add: ['c'], to: 'g' });
    world.platform.behind = () => false;
    await later();
    await later();
    await later();
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 3, pending: 0 } });
    expect((await state('g'))?.dirtySinceMs).toBeUndefined();
    expect(await drift()).toEqual([]);
    expect(await pending()).toEqual([]);
    expect(world.platform.writes.filter(({ action }) => action === 'patch')).toHaveLength(1);
  },
);

it.each([0, 30_000])(
  'apply removes no member if the answer to a creation shows an earlier state (a fetch is %i ms behind)',
  async (getLagMs) => {
    const { deliver, later, world, shown, drift } = await company({ getLagMs });
    world.platform.behind = (kind) => kind === 'create';
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    await later();
    await later();
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    expect(await drift()).toEqual([]);
  },
);

it.each([
  ['earlier version, fetch not behind', 'authoritative', 0, true],
  ['earlier version, fetch not behind', 'additive', 0, true],
  ['earlier version, fetch 30 s behind', 'authoritative', 30_000, true],
  ['new version, fetch 30 s behind', 'authoritative', 30_000, 'new version'],
  ['new version, fetch 30 s behind', 'additive', 30_000, 'new version'],
] as const)(
  'apply records no drift after a removal and a rename if the answer shows an earlier state (%s, mode %s)',
  async (_, mode, getLagMs, version) => {
    const { deliver, later, world, shown, drift, state } = await company({ getLagMs }, { mode });
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    world.advance(HOUR_MS);
    world.platform.behind = (kind) => kind === 'patch' && version;
    await deliver({ take: ['b'], from: 'g' }, { upsert: 'g', name: 'Other' });
    world.platform.behind = () => false;
    await later();
    expect(shown('g')).toEqual([['u-a']]);
    expect(await drift()).toEqual([]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  },
);

it('a user that the platform drops is pending, is sent with each write, and causes at most eight writes in two days', async () => {
  const { deliver, sweepAfter, world, shown, state, pending } = await company();
  world.platform.refused.add('u-b');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  expect(await pending()).toEqual(['b refused']);
  expect(await state('g')).toMatchObject({
    settled: 'in_sync',
    counts: { wanted: 2, applied: 1, pending: 1 },
  });
  const writes = () => world.platform.writes.length;
  const before = writes();
  await deliver({ upsert: 'g' });
  expect(writes()).toBe(before);
  await deliver({ add: ['c'], to: 'g' });
  expect(world.platform.writes.at(-1)?.sent.users).toEqual(['u-a', 'u-b', 'u-c']);
  expect(shown('g')).toEqual([['u-a', 'u-c']]);
  const sentAt = writes();
  for (let minute = 0; minute < 3 * 60; minute += 20) await sweepAfter(20 * MINUTE_MS);
  expect(writes() - sentAt).toBeGreaterThanOrEqual(1);
  expect(writes() - sentAt).toBeLessThanOrEqual(2);
  for (let hour = 0; hour < 48; hour += 1) await sweepAfter(HOUR_MS);
  expect(writes() - sentAt).toBeLessThanOrEqual(8);
  expect(await state('g')).toMatchObject({ counts: { wanted: 3, applied: 2, pending: 1 } });

  world.platform.refused.clear();
  await sweepAfter(24 * HOUR_MS);
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
  expect(await pending()).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 3, pending: 0 } });
});

it('apply does not remove a dropped user that another client adds later', async () => {
  const { deliver, later, world, shown } = await company();
  world.platform.refused.add('u-b');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  world.platform.refused.clear();
  const [id = ''] = world.platform.groups.keys();
  world.platform.changeAsOther(id, { users: ['u-a', 'u-b'] });
  await later();
  await later();
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
});
