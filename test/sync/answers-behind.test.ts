import { expect, it } from 'vitest';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { failFirst, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

async function company(platform: object = {}, settings = {}) {
  const engine = await createTestEngine({ platform, settings });
  await engine.hire('a', 'b', 'c', 'd');
  return { ...engine, later: () => engine.findChanges(10 * MINUTE_MS) };
}

it.each([
  ['a fetch shows the write immediately', 0],
  ['a fetch is also behind for half a minute', 30_000],
])(
  'apply removes no new member and records no drift if the answer to a write shows the group before the write (%s)',
  async (_, getLagMs) => {
    const { deliver, later, world, shown, state, driftKinds, pending } = await company({ getLagMs });
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
    expect(await driftKinds()).toEqual([]);
    expect(await pending()).toEqual([]);
    expect(world.platform.writes.filter(({ action }) => action === 'patch')).toHaveLength(1);
  },
);

it.each([0, 30_000])(
  'apply removes no member if the answer to a creation shows an earlier state (a fetch is %i ms behind)',
  async (getLagMs) => {
    const { deliver, later, world, shown, driftKinds } = await company({ getLagMs });
    world.platform.behind = (kind) => kind === 'create';
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    await later();
    await later();
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    expect(await driftKinds()).toEqual([]);
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
    const { deliver, later, world, shown, driftKinds, state } = await company({ getLagMs }, { mode });
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    world.advance(HOUR_MS);
    world.platform.behind = (kind) => kind === 'patch' && version;
    await deliver({ take: ['b'], from: 'g' }, { upsert: 'g', name: 'Other' });
    world.platform.behind = () => false;
    await later();
    expect(shown('g')).toEqual([['u-a']]);
    expect(await driftKinds()).toEqual([]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  },
);

it('a user that the platform drops is pending, is sent with each write, and causes at most eight writes in two days', async () => {
  const { deliver, sweepAfter, world, shown, state, pending } = await company();
  world.platform.refused.add('u-b');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  expect(await pending()).toEqual([['b', 'refused']]);
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

const whole = (_: string, users: readonly string[]) => users;
const onlyFirstInFetch = (kind: string, users: readonly string[]) =>
  kind === 'get' ? users.slice(0, 1) : users;

it('the next write keeps every user that the list shows for the fetched version', async () => {
  const { world, deliver, findChanges, shown, driftKinds } = await company({}, { mode: 'additive' });
  await deliver({ snapshot: 'x', of: ['a'] }, { snapshot: 'g', of: ['a', 'b'] });
  world.advance(HOUR_MS);
  const [, id = ''] = world.platform.groups.keys();
  world.platform.changeAsOther(id, { users: ['u-a', 'u-b', 'u-guest'] });
  await findChanges();
  world.advance(HOUR_MS);
  world.platform.changeAsOther(id, { name: 'Theirs' });
  world.platform.showing = onlyFirstInFetch;
  await findChanges();
  world.advance(HOUR_MS);
  await deliver({ add: ['d'], to: 'g' });
  world.platform.showing = whole;
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-d', 'u-guest']]);
  expect(await driftKinds()).not.toContain('members_removed');
});

it('in the mode additive, the next write keeps the users of a group whose creation got no answer', async () => {
  const { world, troubles, deliver, emit, pass, shown } = await company({}, { mode: 'additive' });
  await deliver({ snapshot: 'x', of: ['a'] });
  world.advance(HOUR_MS);
  const isLost = failFirst(troubles, 'create', 'lost_after');
  world.platform.showing = onlyFirstInFetch;
  emit({ snapshot: 'g', of: ['a', 'b', 'c'] });
  await pass(2 * HOUR_MS, 10);
  expect(isLost()).toBe(true);
  await deliver({ add: ['d'], to: 'g' });
  world.platform.showing = whole;
  world.advance(HOUR_MS);
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
});

it('an adoption keeps a user of another client if the group changed between the list and the fetch', async () => {
  const { world, deliver, shown } = await company({}, { mode: 'additive' });
  const { platform } = world;
  await deliver({ snapshot: 'x', of: ['a'] });
  const id = platform.addForeign({ name: 'Group g', spokeId: 'g', users: ['u-a', 'u-guest'] });
  platform.adopted.add(id);
  world.advance(HOUR_MS);
  let isListed = false;
  platform.showing = (kind, users) => {
    if (kind === 'list' && !isListed) {
      isListed = true;
      queueMicrotask(() => platform.changeAsOther(id, { name: 'Renamed' }));
    }
    return onlyFirstInFetch(kind, users);
  };
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  platform.showing = whole;
  world.advance(HOUR_MS);
  await deliver({ add: ['d'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-d', 'u-guest']]);
});
