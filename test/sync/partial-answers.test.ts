import { expect, it } from 'vitest';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, failFirst, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

const first = (users: readonly string[]) => users.slice(0, 1);

async function company(settings = {}, platform = {}) {
  const engine = await createTestEngine({ settings, platform });
  const { world } = engine;
  await engine.hire('a', 'b', 'c', 'd');
  const sent = () => world.platform.writes.map((write) => write.sent.users ?? []);
  return {
    ...engine,
    sent,
    /** After this call, answers to calls of these kinds show only the first user. */
    showOnlyFirst(...kinds: readonly string[]) {
      world.platform.showing = (kind, users) => (kinds.includes(kind) ? first(users) : users);
    },
    /** After this call, all answers except lists show only the first user in the half minute after a write. */
    showOnlyFirstForAWhile() {
      world.platform.showing = (kind, users) => {
        const isLate = kind === 'list' || world.nowMs() - (world.platform.writes.at(-1)?.atMs ?? 0) > 30_000;
        return isLate ? users : first(users);
      };
    },
    showAll() {
      world.platform.showing = (_, users) => users;
    },
    later: (ms = 10 * MINUTE_MS) => engine.findChanges(ms),
    /** Records a suspected external change of each group, as reconcile does. The next apply then fetches the group. */
    async lookAgain() {
      for await (const page of world.toolPorts.index.all(CONNECTION))
        for (const { ref } of page) {
          const state = await world.toolPorts.groups.read(ref);
          if (state?.link === undefined) throw new Error('expected a linked group');
          const at = { nowMs: world.nowMs(), wakeAtMs: world.nowMs(), isAtOnce: true };
          const suspicion = { version: state.link.version, activityEvents: [], atMs: world.nowMs() };
          await world.toolPorts.groups.noteSuspected(state, suspicion, at);
          await world.toolPorts.applyQueue.wake([ref]);
        }
      await engine.deliver();
    },
    async guest(user: string) {
      const [group] = world.platform.groups.values();
      world.platform.changeAsOther(group?.id ?? '', { users: [...(group?.users ?? []), user] });
      await engine.findChanges();
    },
  };
}

it.each([
  ['answers to writes', ['create', 'put', 'patch']],
  ['answers and fetches in the half minute after a write', undefined],
])('apply removes no member and records no drift if one user is shown by %s', async (_, kinds) => {
  const { deliver, later, shown, driftKinds, sent, state, ...engine } = await company();
  if (kinds === undefined) engine.showOnlyFirstForAWhile();
  else engine.showOnlyFirst(...kinds);
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  await deliver({ add: ['d'], to: 'g' });
  await deliver({ upsert: 'g', name: 'Other' });
  engine.showAll();
  for (let look = 0; look < 3; look += 1) await later();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
  for (const users of sent().filter(({ length }) => length > 0))
    expect(users.length).toBeGreaterThanOrEqual(3);
  expect(await driftKinds()).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 4, pending: 0 } });
});

it('after an answer without some users, writes of an additive group keep a member that another client added', async () => {
  const { deliver, later, shown, guest, world, showOnlyFirstForAWhile, showAll } = await company({
    mode: 'additive',
  });
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  world.advance(HOUR_MS);
  await guest('u-guest');
  world.advance(HOUR_MS);
  showOnlyFirstForAWhile();
  await deliver({ add: ['c'], to: 'g' });
  await deliver({ add: ['d'], to: 'g' });
  showAll();
  await later();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d', 'u-guest']]);
});

it('after an answer without some users, writes keep the members whose removal is held', async () => {
  const guard = { minSize: 2, maxRemovedShare: 0.3, maxRemovedCount: 9, perHourCount: 9 };
  const { deliver, later, shown, world, showOnlyFirstForAWhile, showAll } = await company({ guard });
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  world.advance(2 * HOUR_MS);
  await deliver({ snapshot: 'g', of: ['a'] });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
  showOnlyFirstForAWhile();
  await deliver({ add: ['d'], to: 'g' });
  await deliver({ upsert: 'g', name: 'Other' });
  await deliver({ upsert: 'g', name: 'Another' });
  showAll();
  await later();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
});

it('every write contains the wanted users that the platform never shows', async () => {
  const { deliver, sweepAfter, shown, driftKinds, sent, showOnlyFirst, showAll, state } = await company();
  showOnlyFirst('create', 'put', 'patch', 'get');
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  await deliver({ add: ['d'], to: 'g' });
  for (let hour = 0; hour < 4; hour += 1) await sweepAfter(HOUR_MS);
  for (const users of sent()) expect(users.length).toBeGreaterThanOrEqual(3);
  showAll();
  for (let hour = 0; hour < 24; hour += 1) await sweepAfter(HOUR_MS);
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
  expect(await state('g')).toMatchObject({ counts: { applied: 4, pending: 0 } });
  expect(await driftKinds()).toEqual([]);
});

it('in the mode additive, apply removes a leaver that no answer showed for 40 minutes', async () => {
  const { deliver, later, sweepAfter, shown, world, state } = await company({ mode: 'additive' });
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  world.advance(HOUR_MS);
  world.platform.showing = (_, users) => users.filter((user) => user !== 'u-c');
  await deliver({ add: ['c'], to: 'g' });
  await later(20 * MINUTE_MS);
  await later(20 * MINUTE_MS);
  expect(await state('g')).toMatchObject({ counts: { applied: 2, pending: 1 } });
  world.platform.showing = (_, users) => users;
  const [group] = world.platform.groups.values();
  world.platform.changeAsOther(group?.id ?? '', { name: 'Theirs' });
  await sweepAfter(HOUR_MS);
  expect(await state('g')).toMatchObject({ counts: { applied: 3, pending: 0 } });
  await deliver({ take: ['c'], from: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
});

it('the guard holds the removal of users that the list shows and the fetch of the same version does not show', async () => {
  const { deliver, shown, world, showOnlyFirst, state } = await company({
    guard: { minSize: 2, maxRemovedShare: 0.3, maxRemovedCount: 9, perHourCount: 9 },
  });
  const users = ['u-a', ...Array.from({ length: 60 }, (_, n) => `u-old${n}`)];
  world.platform.adopted.add(world.platform.addForeign({ name: 'g', spokeId: 'g', users }));
  world.advance(HOUR_MS);
  showOnlyFirst('get');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  expect(shown('g').map((some) => some.toSorted())).toEqual([[...users, 'u-b'].toSorted()]);
  expect(await state('g')).toMatchObject({ hold: { decision: { kind: 'waiting' } } });
});

const guard = { minSize: 2, maxRemovedShare: 0.3, maxRemovedCount: 9, perHourCount: 9 };
const EVERYWHERE = ['create', 'put', 'patch', 'get'];

it.each([0, 2 * HOUR_MS, 26 * HOUR_MS])(
  'the guard holds the removal of too many hidden users %i ms after the write that added the users',
  async (ms) => {
    const { deliver, later, shown, world, showOnlyFirst, showAll, state, driftKinds } = await company({
      guard,
    });
    showOnlyFirst(...EVERYWHERE);
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
    world.advance(ms);
    await deliver({ take: ['b', 'c'], from: 'g' });
    await deliver({ add: ['d'], to: 'g' });
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
    expect(await state('g')).toMatchObject({ hold: { decision: { kind: 'waiting' } } });
    showAll();
    await later(HOUR_MS);
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
    expect(await driftKinds()).toEqual([]);
  },
);

it('hidden users count in the group size that the guard compares with minSize', async () => {
  const ofFour = { ...guard, minSize: 4 };
  const { deliver, shown, world, state } = await company({ guard: ofFour });
  world.platform.showing = (_, users) => users.filter((user) => user !== 'u-d');
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c', 'd'] });
  world.advance(2 * HOUR_MS);
  await deliver({ take: ['a', 'b', 'c'], from: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
  expect(await state('g')).toMatchObject({ hold: { decision: { kind: 'waiting' } } });
});

it('apply removes a hidden user when the directory removes the member', async () => {
  const { deliver, shown, world, showOnlyFirst, showAll, sweepAfter, driftKinds } = await company();
  showOnlyFirst(...EVERYWHERE);
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  world.advance(2 * HOUR_MS);
  await deliver({ take: ['c'], from: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  showAll();
  await sweepAfter(HOUR_MS);
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(await driftKinds()).toEqual([]);
});

it.each(['delete', 'release'])(
  'while the deletion of a group waits (onGroupDeleted: %s), one write removes a hidden user who left',
  async (onGroupDeleted) => {
    const guard = { minSize: 2, maxRemovedShare: 0.5, deletedGroups: 0 };
    const { deliver, later, sent, state, showOnlyFirst, world } = await company({ guard, onGroupDeleted });
    showOnlyFirst(...EVERYWHERE);
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c', 'd'] });
    await world.toolPorts.hire([{ role: 'd', email: 'd@acme.test', state: 'TERMINATED' }]);
    await deliver({ remove: 'g' });
    for (let look = 0; look < 5; look += 1) await later(HOUR_MS);
    expect(sent()).toHaveLength(2);
    expect(sent().at(-1)).toEqual(['u-a', 'u-b', 'u-c']);
    expect(await state('g')).toMatchObject({ settled: 'held' });
  },
);

it.each(['authoritative', 'additive'])(
  'a fetch that shows only the first user causes no drift and no loss of members (mode %s)',
  async (mode) => {
    const { deliver, lookAgain, shown, world, showOnlyFirst, showAll, driftKinds, state } = await company({
      mode,
    });
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
    world.advance(HOUR_MS);
    showOnlyFirst('get', 'patch');
    await lookAgain();
    await deliver({ take: ['c'], from: 'g' });
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    showAll();
    world.advance(2 * HOUR_MS);
    await lookAgain();
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    expect(await driftKinds()).toEqual([]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 2, pending: 0 } });
  },
);

it('a member of another client is still external after a fetch that shows only the first user', async () => {
  const { deliver, lookAgain, shown, world, showOnlyFirst, showAll, guest, driftKinds } = await company({
    mode: 'additive',
  });
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  world.advance(HOUR_MS);
  await guest('u-guest');
  const before = await driftKinds();
  world.advance(HOUR_MS);
  showOnlyFirst('get', 'patch');
  await lookAgain();
  await deliver({ add: ['c'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-guest']]);
  showAll();
  world.advance(2 * HOUR_MS);
  await lookAgain();
  await deliver({ take: ['c'], from: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-guest']]);
  expect(await driftKinds()).toEqual(before);
});

it.each(['answer', 'fetch'])(
  'apply adds a dropped member when the directory adds the member (the %s shows the loss)',
  async (seen) => {
    const { deliver, lookAgain, shown, world, guest, showAll, state } = await company({
      mode: 'additive',
    });
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    world.advance(HOUR_MS);
    await guest('u-c');
    world.advance(HOUR_MS);
    world.platform.refused.add('u-c');
    if (seen === 'fetch')
      world.platform.showing = (kind, users) => (kind === 'get' ? users : [...users, 'u-c']);
    await deliver({ add: ['d'], to: 'g' });
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-d']]);
    world.platform.refused.clear();
    showAll();
    world.advance(HOUR_MS);
    if (seen === 'fetch') await lookAgain();
    await deliver({ add: ['c'], to: 'g' });
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 4, pending: 0 } });
  },
);

it.each(['u-c', 'u-d', 'u-e'])(
  'every write in the search for a refused user contains the member that no answer shows (refused: %s)',
  async (refused) => {
    const { deliver, hire, shown, world, sent } = await company();
    await hire('a', 'b', 'c', 'd', 'e');
    world.platform.showing = (_, users) => users.filter((user) => user !== 'u-b');
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    world.advance(5 * MINUTE_MS);
    world.platform.unacceptable.add(refused);
    await deliver({ add: ['c', 'd', 'e'], to: 'g' });
    for (const users of sent()) expect(users).toContain('u-b');
    expect(shown('g')[0]).toHaveLength(4);
  },
);

it('apply removes a member although the platform refuses another member that no answer has shown', async () => {
  const { deliver, hire, shown, world } = await company();
  await hire('a', 'b', 'c', 'd');
  world.platform.refused.add('u-b');
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  world.advance(5 * MINUTE_MS);
  world.platform.unacceptable.add('u-b');
  await deliver({ take: ['c'], from: 'g' }, { add: ['d'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-d']]);
});

it.each(['authoritative', 'additive'])(
  'a list with only the first user causes no drift after a creation without an answer (mode %s)',
  async (mode) => {
    const { deliver, shown, world, showOnlyFirst, troubles, driftKinds, sent } = await company({
      mode,
    });
    const isLost = failFirst(troubles, 'create', 'lost_after');
    showOnlyFirst('list');
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
    world.advance(HOUR_MS);
    await deliver({ add: ['d'], to: 'g' });
    expect(isLost()).toBe(true);
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
    for (const users of sent()) expect(users.length).toBeGreaterThanOrEqual(3);
    expect(await driftKinds()).toEqual([]);
  },
);
