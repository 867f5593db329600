import { expect, it } from 'vitest';
import { holdsOf } from '../../shared/domain/hold.ts';
import { approveHold, rejectHold } from '../../shared/operate/holds.ts';
import { compareWithNow } from '../../shared/operate/import/compare.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { HOUR_MS } from '../support/engine/world.ts';

const WORD = { reason: 'a reorganisation' };

/** Creates `count` groups in sync, each with the same member. The groups in `empty` have no member. */
async function company(
  count: number,
  { empty = [], ...settings }: { readonly empty?: readonly string[]; readonly [key: string]: unknown } = {},
) {
  const engine = await createTestEngine({ settings: { guard: {}, ...settings } });
  await engine.hire('a', 'b');
  const groups = Array.from({ length: count }, (_, index) => `g${index}`);
  await engine.deliver(...groups.map((id) => ({ snapshot: id, of: empty.includes(id) ? [] : ['a'] })));
  engine.world.advance(HOUR_MS);
  return {
    ...engine,
    groups,
    async remove(...ids: readonly string[]) {
      for (const id of ids) await engine.deliver({ remove: id });
    },
    onPlatform: () => groups.filter((id) => engine.shown(id).length > 0),
    holdOf: async (id: string) => holdsOf((await engine.state(id)) ?? {})[0],
  };
}

it('the third deletion within an hour and all later deletions are held, for groups with and without members', async () => {
  const { remove, onPlatform, holdOf, state, groups } = await company(10, { empty: ['g2', 'g3'] });
  await remove('g0', 'g1', 'g2', 'g3', 'g4');
  expect(onPlatform()).toEqual(groups.slice(2));
  for (const [id, removes] of [
    ['g2', 0],
    ['g3', 0],
    ['g4', 1],
  ] as const) {
    expect(await holdOf(id)).toMatchObject({
      rule: 'deleted_groups',
      removes,
      keeps: 0,
      decision: { kind: 'waiting' },
    });
    expect((await state(id))?.settled).toBe('held');
  }
});

it('the limit on deleted groups also applies if all deletions arrive at once', async () => {
  const { deliver, onPlatform, groups } = await company(10);
  await deliver(...groups.map((id) => ({ remove: id })));
  expect(onPlatform().length).toBeGreaterThanOrEqual(8);
});

it('a release is no deletion: with onGroupDeleted=release, the limit on emptied small groups applies', async () => {
  const guard = { deletedGroups: 0, deletedGroupsShare: 0 };
  const { remove, shown, holdOf } = await company(4, { onGroupDeleted: 'release', guard });
  await remove('g0', 'g1', 'g2');
  expect(['g0', 'g1', 'g2'].map((id) => shown(id)[0])).toEqual([[], [], ['u-a']]);
  expect(await holdOf('g2')).toMatchObject({ rule: 'emptied_groups', removes: 1 });
});

it('the settings deletedGroups and deletedGroupsShare define the limit on deleted groups, and zero is a valid limit', async () => {
  const guard = { deletedGroups: 0, deletedGroupsShare: 0.5 };
  const { remove, onPlatform } = await company(4, { guard });
  await remove('g0', 'g1', 'g2');
  expect(onPlatform()).toEqual(['g2', 'g3']);
  const none = await company(4, { guard: { deletedGroups: 0, deletedGroupsShare: 0 }, empty: ['g0'] });
  await none.remove('g0', 'g1');
  expect(none.onPlatform()).toEqual(['g0', 'g1', 'g2', 'g3']);
});

it('no deletion of a group is held if the guard is off', async () => {
  const { remove, holdOf } = await company(4, { guard: null });
  await remove('g0', 'g1', 'g2', 'g3');
  expect(await holdOf('g3')).toBeUndefined();
});

it.each([
  [74, [2, 2, 1], ['share', 'deleted_groups', 'emptied_groups']],
  [76, [1, 1, 0], [undefined, undefined, undefined]],
])(
  '%i minutes after removals and deletions, further ones leave %j users or groups, because the guard counts 75 minutes',
  async (minutes, left, rules) => {
    const { hire, deliver, shown, state, world } = await createTestEngine({
      settings: { guard: { maxRemovedShare: 0.6 } },
    });
    await hire('a', 'b', 'c', 'd', 'e');
    const small = ['s0', 's1', 's2'];
    const deleted = ['d0', 'd1', 'd2', 'd3'];
    await deliver(
      { snapshot: 'big', of: ['a', 'b', 'c', 'd', 'e'] },
      ...[...small, ...deleted].map((id) => ({ snapshot: id, of: ['a'] })),
    );
    world.advance(3 * HOUR_MS);
    const startMs = world.nowMs();
    await deliver(
      { take: ['a', 'b', 'c'], from: 'big' },
      { take: ['a'], from: 's0' },
      { take: ['a'], from: 's1' },
    );
    for (const id of ['d0', 'd1']) await deliver({ remove: id });
    world.advance(minutes * 60_000 - (world.nowMs() - startMs));
    await deliver({ take: ['d'], from: 'big' }, { remove: 'd2' }, { take: ['a'], from: 's2' });
    const groupsLeft = deleted.filter((id) => shown(id).length > 0).length;
    expect([shown('big')[0]?.length, groupsLeft, shown('s2')[0]?.length]).toEqual(left);
    const holds = await Promise.all(['big', 'd2', 's2'].map(state));
    expect(holds.map((one) => one?.hold?.rule)).toEqual(rules);
  },
);

async function smallGroups(count: number, settings: Readonly<Record<string, unknown>> = {}) {
  const engine = await createTestEngine({ settings: { guard: {}, ...settings } });
  await engine.hire('a', 'b', 'c', 'd');
  const groups = Array.from({ length: count }, (_, index) => `g${index}`);
  await engine.deliver(...groups.map((id) => ({ snapshot: id, of: ['a', 'b', 'c', 'd'] })));
  engine.world.advance(2 * HOUR_MS);
  const sizes = () => groups.map((id) => engine.shown(id)[0]?.length);
  const holdOf = async (id: string) => holdsOf((await engine.state(id)) ?? {})[0];
  return { ...engine, groups, sizes, holdOf };
}

it.each([
  [10, 2],
  [60, 3],
])(
  'of %i small groups that become empty in turn, %i are written, the others held',
  async (count, written) => {
    const { deliver, groups, sizes, holdOf } = await smallGroups(count);
    for (const id of groups.slice(0, written + 2)) await deliver({ snapshot: id, of: [] });
    expect(sizes()).toEqual(groups.map((_, index) => (index < written ? 0 : 4)));
    expect(await holdOf(`g${written}`)).toMatchObject({ rule: 'emptied_groups', removes: 4, keeps: 0 });
  },
);

it('small groups are also held if all become empty at once, or lose most of their members in several steps', async () => {
  const { deliver, groups, sizes } = await smallGroups(20);
  await deliver(...groups.slice(0, 10).map((id) => ({ snapshot: id, of: [] })));
  expect(sizes().filter((size) => size === 0).length).toBeLessThanOrEqual(2);
  for (const id of groups.slice(10)) await deliver({ take: ['a', 'b'], from: id });
  expect(sizes().slice(10)).toEqual(groups.slice(10).map(() => 2));
  for (const id of groups.slice(10)) await deliver({ take: ['c'], from: id });
  expect(sizes().filter((size) => size === 0 || size === 1).length).toBeLessThanOrEqual(2);
});

it('groups that lose half of their members do not count as emptied, so one other group may become empty', async () => {
  const { deliver, groups, sizes } = await smallGroups(10);
  for (const id of groups.slice(0, 5)) await deliver({ take: ['a', 'b'], from: id });
  await deliver({ snapshot: 'g5', of: [] });
  expect(sizes().slice(0, 6)).toEqual([2, 2, 2, 2, 2, 0]);
});

it('the preview of a file names the small groups whose removals would be held', async () => {
  const { groups, world } = await smallGroups(5);
  const rows = groups.map((group) => ({ line: 1, group, name: `Group ${group}`, member: 'a', email: '' }));
  const asked = { asOf: new Date(world.nowMs()).toISOString(), kind: 'snapshot' } as const;
  const { held } = await compareWithNow(rows, asked, await world.connection(), world.toolPorts);
  expect(held).toEqual(['g2', 'g3', 'g4']);
});

it('small groups are not held if minSize is 0', async () => {
  const none = await smallGroups(4, { guard: { minSize: 0, maxRemovedShare: 1 } });
  for (const id of none.groups) await none.deliver({ snapshot: id, of: [] });
  expect(none.sizes()).toEqual([0, 0, 0, 0]);
});

const held = async (empty: readonly string[] = []) => {
  const engine = await company(10, { empty });
  await engine.remove('g0', 'g1', 'g2');
  const decide = (act: typeof approveHold) => act(engine.ref('g2'), WORD, engine.world.toolPorts);
  return { ...engine, decide };
};

const EMPTY: readonly (readonly [string, readonly string[]])[] = [
  ['with members', []],
  ['without members', ['g2']],
];

it.each(EMPTY)(
  'a group %s with a held deletion is deleted after an operator approves the hold',
  async (_, empty) => {
    const { decide, deliver, onPlatform, state } = await held(empty);
    expect(await decide(approveHold)).toMatchObject({ kind: 'decided' });
    await deliver();
    expect(onPlatform()).not.toContain('g2');
    const { hold, approval, settled } = (await state('g2')) ?? {};
    expect({ hold, approval, settled }).toEqual({ settled: 'deleted' });
  },
);

it.each(EMPTY)(
  'a group %s with a held deletion stays after an operator rejects the hold, even if its users change',
  async (_, empty) => {
    const { decide, deliver, onPlatform, world, holdOf, state, findChanges } = await held(empty);
    await decide(rejectHold);
    await deliver();
    const [group] = [...world.platform.groups.values()].filter(({ spokeId }) => spokeId === 'g2');
    if (group === undefined) throw new Error('expected the group on the platform');
    world.platform.changeAsOther(group.id, { users: ['u-b'] });
    await findChanges(2 * HOUR_MS);
    await deliver({ upsert: 'g9' });
    expect(onPlatform()).toContain('g2');
    const { version } = world.platform.groups.get(group.id) ?? {};
    expect(await state('g2')).toMatchObject({ link: { version } });
    expect(await holdOf('g2')).toMatchObject({ decision: { kind: 'rejected' } });
  },
);
