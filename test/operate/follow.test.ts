import { expect, it } from 'vitest';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { versionToken } from '../../shared/domain/ids.ts';
import { syncGroups } from '../../shared/operate/follow.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { added, group, inSync } from '../support/operate/world.ts';

/** Creates a group in sync with two members. When the command sleeps, apply runs for all groups that were woken. */
async function company(settings: Partial<ConnectionSettings> = {}) {
  const world = await inSync(['ann', 'bob'], { guard: null, ...settings });
  const [id = ''] = world.platform.groups.keys();
  const ports = {
    ...world.ports,
    sleep: async (ms: number) => {
      world.clock.ms += ms;
      for (const { group: each } of world.woken.splice(0)) await world.apply(each);
    },
  };
  world.woken.length = 0;
  const progress: unknown[] = [];
  const options = { timeoutMs: 60_000, onProgress: (...done: number[]) => progress.push(done) };
  return {
    world,
    id,
    progress,
    users: () => [...world.platform.groups.values()].map((shown) => [...shown.users].sort()),
    sync: (...groups: string[]) => syncGroups(groups.map(world.refOf), ports, options),
  };
}

it('sync re-creates a group that another client deleted on the platform', async () => {
  const { world, id, users, sync, progress } = await company();
  world.platform.deleteAsOther(id);
  // The second 404, at the next attempt, proves that the group is gone.
  expect(await sync('g')).toEqual({
    synced: [{ group: 'g', state: 'in_sync', version: expect.any(String), lastError: null, waiting: null }],
    stopped: null,
  });
  expect(users()).toEqual([['u-ann', 'u-bob']]);
  expect([...world.platform.groups.keys()]).not.toEqual([id]);
  expect([progress[0], progress.at(-1)]).toEqual([
    [0, 1],
    [1, 1],
  ]);
});

it('sync of a group in sync stores only the action, but adds a member who is found now, and restores a user that another client removed', async () => {
  const { world, id, sync } = await company();
  const [before] = await world.ports.groups.readMany([world.refOf('g')]);
  expect((await sync('g')).synced).toMatchObject([{ group: 'g', state: 'in_sync' }]);
  const [after] = await world.ports.groups.readMany([world.refOf('g')]);
  // The item changes only because the operator's action is recorded.
  expect(after).toEqual({ ...before, lastAction: expect.any(String) });
  await world.deliver('g', added('g', 'cid'));
  await world.hire('cid');
  await sync('g');
  expect(world.platform.groups.get(id)?.users).toHaveLength(3);
  // Within a minute of groupsync's last write, a read without a user does not count as a removal.
  world.clock.ms += 60_000;
  world.platform.changeAsOther(id, { users: ['u-ann'] });
  await sync('g');
  expect(world.platform.groups.get(id)?.users).toHaveLength(3);
});

it('after two external changes within an hour, a third change is reverted when an operator runs sync', async () => {
  const { world, id, users, sync } = await company();
  const changeExternally = async (stranger: string) => {
    world.clock.ms += 60_000;
    world.platform.changeAsOther(id, { users: ['u-ann', stranger] });
    const [seen] = await world.ports.groups.readMany([world.refOf('g')]);
    const { version } = world.platform.groups.get(id) ?? {};
    if (seen === undefined || version === undefined) throw new Error('expected the group on both sides');
    const at = dirtyNow(world.ports);
    const suspicion = { version: versionToken(version), activityEvents: [], atMs: world.clock.ms };
    expect(await world.ports.groups.noteSuspected(seen, suspicion, at)).toBe(true);
    await world.apply('g');
  };
  for (const stranger of ['x-1', 'x-2']) {
    await changeExternally(stranger);
    expect(users()).toEqual([['u-ann', 'u-bob']]);
  }
  await changeExternally('x-3');
  expect(users()).toEqual([['u-ann', 'x-3']]);
  expect((await world.ports.groups.read(world.refOf('g')))?.lastError?.code).toBe('contested');
  await sync('g');
  expect(users()).toEqual([['u-ann', 'u-bob']]);
});

it('sync retries a member that the platform refused before, in this group only', async () => {
  const { world, users, sync } = await company();
  world.platform.refused.add('u-cid');
  await world.hire('cid');
  await world.deliver('g', added('g', 'cid'));
  await world.deliver('h', group('h'), added('h', 'ann', 'cid'));
  await sync('g');
  expect(users()).toEqual([['u-ann', 'u-bob'], ['u-ann']]);
  world.platform.refused.clear();
  const applyAgain = async (id: string) => {
    await world.ports.desired.markDirty(world.refOf(id), dirtyNow(world.ports));
    await world.apply(id);
  };
  await applyAgain('g');
  expect(users()).toEqual([['u-ann', 'u-bob'], ['u-ann']]);
  expect((await sync('g')).synced).toMatchObject([{ state: 'in_sync' }]);
  await applyAgain('h');
  expect(users()).toEqual([['u-ann', 'u-bob', 'u-cid'], ['u-ann']]);
});

it('sync skips an excluded group and an unknown id, and creates a group that does not exist on the platform', async () => {
  const { world, sync } = await company();
  await world.publish(group('h'));
  world.connection.settings.groups.exclude.push('Group g');
  await world.save();
  const { synced } = await sync('g', 'h', 'absent');
  expect(synced).toMatchObject([{ state: 'excluded' }, { state: 'in_sync' }]);
  expect(await world.ports.groups.read(world.refOf('g'))).not.toHaveProperty('suspectedChange');
  expect(world.platform.groups.size).toBe(2);
});
