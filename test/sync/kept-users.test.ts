import { expect, it } from 'vitest';
import type { PlatformGroupId } from '../../shared/domain/ids.ts';
import { approveHold } from '../../shared/operate/holds.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { failFirst, HOUR_MS } from '../support/engine/world.ts';

const users = (...ids: string[]) => ids.map((id) => `u-${id}`);

async function company(settings: Readonly<Record<string, unknown>> = {}, platform: object = {}) {
  const engine = await createTestEngine({ settings, platform });
  const { troubles, world } = engine;
  await engine.hire('a', 'b', 'c', 'd', 'e', 'f', 'installer');
  let calledMs: number[] = [];
  troubles.platform = (call) => {
    // Does not count the call `me`. A new worker checks its credential with this call, which is not about a group.
    if (call !== 'me') calledMs.push(world.nowMs());
    return 'none';
  };
  return {
    ...engine,
    /** Runs the engine for `ms`, and until the next wake-up. Returns the number of calls in `ms`. */
    async pass(ms: number): Promise<number> {
      calledMs = [];
      const untilMs = world.nowMs() + ms;
      await engine.pass(ms, 4);
      return calledMs.filter((atMs) => atMs <= untilMs).length;
    },
  };
}

it.each([{}, { mode: 'additive' }, { onGroupDeleted: 'release' }])(
  'a user that the platform keeps after a removal is reported, and removed again until the removal succeeds (%o)',
  async (settings) => {
    const { world, emit, deliver, state, shown, pass, driftKinds } = await company(settings, {
      echoSpokeId: false,
    });
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    world.platform.kept.add('u-b');
    emit('onGroupDeleted' in settings ? { remove: 'g' } : { take: ['b'], from: 'g' });
    expect(await pass(HOUR_MS)).toBeLessThanOrEqual(12);
    const left = await state('g');
    expect(left).toMatchObject({
      lastError: { code: 'kept', message: 'the platform keeps 1 user that groupsync removed' },
    });
    expect(left?.dirtySinceMs).toBeDefined();
    expect(left?.settled).toBeUndefined();
    for (let hour = 0; hour < 5; hour += 1) expect(await pass(HOUR_MS)).toBeLessThanOrEqual(12);

    world.platform.kept.clear();
    await pass(HOUR_MS + 60_000);
    expect(shown('g')).toEqual(['onGroupDeleted' in settings ? [] : users('a')]);
    expect((await state('g'))?.lastError).toBeUndefined();
    expect((await state('g'))?.dirtySinceMs).toBeUndefined();
    expect(await driftKinds()).toEqual([]);
  },
);

it('a user that the platform keeps does not reduce the hourly limit of the guard for other removals', async () => {
  const guard = { minSize: 1, maxRemovedShare: 1, maxRemovedCount: 9, perHourCount: 3 };
  const { world, emit, deliver, shown, state, pass } = await company({ guard });
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] }, { snapshot: 'h', of: ['a', 'b', 'c'] });
  world.platform.kept.add('u-b');
  // The platform removes only one of the two users, so only one removal counts.
  emit({ take: ['b', 'c'], from: 'g' });
  await pass(HOUR_MS / 2);
  emit({ take: ['a', 'c'], from: 'h' });
  await pass(60_000);
  expect(shown('h')).toEqual([users('b')]);
  expect(await state('h')).toMatchObject({ settled: 'in_sync' });
  const reserved = world.table.under('C#default', 'GUARD');
  expect(reserved.map(({ removals }) => removals).sort()).toEqual([1, 2]);
});

it('the approval of a removal stays valid until the removal takes effect', async () => {
  const guard = { minSize: 1, maxRemovedShare: 0.1, maxRemovedCount: 9, perHourCount: 99 };
  const { world, emit, deliver, shown, state, ref, pass } = await company({ guard });
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  await deliver({ take: ['b', 'c'], from: 'g' });
  expect(shown('g')).toEqual([users('a', 'b', 'c')]);
  world.platform.kept.add('u-b');
  await approveHold(ref('g'), { reason: 'right' }, world.toolPorts);
  emit();
  await pass(HOUR_MS);
  expect(shown('g')).toEqual([users('a', 'b')]);
  expect(await state('g')).toMatchObject({ approval: { decision: { kind: 'approved' } } });
  world.platform.kept.clear();
  await pass(HOUR_MS + 60_000);
  expect(shown('g')).toEqual([users('a')]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  expect(await state('g')).not.toHaveProperty('removals');
});

it('a group is not in sync until the user that the platform added is removed', async () => {
  const { world, emit, deliver, state, shown, pass } = await company();
  world.platform.installer = 'u-installer';
  await deliver({ snapshot: 'g', of: ['a'] });
  expect(shown('g')).toEqual([users('a')]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });

  world.platform.kept.add('u-installer');
  emit({ snapshot: 'h', of: ['a'] });
  expect(await pass(HOUR_MS)).toBeLessThanOrEqual(12);
  expect(await state('h')).toMatchObject({ lastError: { code: 'kept' } });
  expect((await state('h'))?.dirtySinceMs).toBeDefined();
  world.platform.kept.clear();
  await pass(HOUR_MS + 60_000);
  expect(shown('h')).toEqual([users('a')]);
  expect(await state('h')).toMatchObject({ settled: 'in_sync' });
});

it.each([true, false])(
  'a user that the platform adds to a new group is removed although the answer was lost (spokeId shown: %s)',
  async (echoSpokeId) => {
    const { world, troubles, emit, shown, pass } = await company({}, { echoSpokeId });
    world.platform.installer = 'u-installer';
    const isLost = failFirst(troubles, 'create', 'lost_after');
    emit({ snapshot: 'g', of: ['a'] });
    await pass(HOUR_MS);
    expect(isLost()).toBe(true);
    // No second group exists, and the user that the platform added is not recorded as drift.
    expect(shown('g')).toEqual([users('a')]);
  },
);

it('a user that the platform adds to a new group stays in the mode additive', async () => {
  const { world, deliver, state, shown } = await company({ mode: 'additive' });
  world.platform.installer = 'u-installer';
  await deliver({ snapshot: 'g', of: ['a'] });
  expect(shown('g')).toEqual([users('a', 'installer')]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
});

it.each<[DirectoryEvent, string[], readonly [string[], string | undefined]]>([
  [{ take: ['b'], from: 'g' }, [], [['a'], undefined]],
  [{ snapshot: 'g', of: ['a'] }, [], [['a'], undefined]],
  [{ take: ['b'], from: 'g' }, ['x'], [['a', 'b', 'x'], 'adoption']],
])(
  'if the stored view is missing, %j removes the member of an additive group, and waits if the group also has %j',
  async (removal, others, [left, rule]) => {
    const { world, deliver, shown, state, findChanges } = await company({ mode: 'additive' });
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    const id = (await state('g'))?.link?.id as PlatformGroupId;
    world.platform.changeAsOther(id, { users: users('a', 'b', ...others) });
    await findChanges();
    for (const item of world.table.items.values()) if (item.sk.startsWith('VIEW#')) world.table.remove(item);
    await deliver(removal);
    expect([shown('g'), (await state('g'))?.hold?.rule]).toEqual([[users(...left)], rule]);
  },
);
