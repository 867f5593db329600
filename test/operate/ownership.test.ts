import { expect, it } from 'vitest';
import { platformGroupId } from '../../shared/domain/ids.ts';
import { approveHold } from '../../shared/operate/holds.ts';
import { adoptGroup, createNamesake, releaseGroup } from '../../shared/operate/ownership.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { groupKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { allOf, createTestEngine, type DirectoryEvent, twice } from '../support/engine/test-engine.ts';
import { COMPANY, CONNECTION, failFirst, HOUR_MS, takeEvents, takeWoken } from '../support/engine/world.ts';
import { crashBeforeEachEffect, expectSuccessOrCrash } from '../sync/reconcile/support/crashing-worker.ts';

const users = (...ids: string[]) => ids.map((id) => `u-${id}`);

async function company(settings: object = {}) {
  const engine = await createTestEngine({ settings: { ...settings } });
  await engine.hire('a', 'b');
  /** Adds a group of another client that may be adopted. */
  const theirs = (users: readonly string[], name = 'Theirs', spokeId = 'x') => {
    const id = platformGroupId(engine.world.platform.addForeign({ name, spokeId, users }));
    engine.world.platform.adopted.add(id);
    return id;
  };
  /** Creates the group g with these members. @returns the id of its platform group */
  const linked = async (...of: readonly string[]) => {
    await engine.deliver({ snapshot: 'g', of });
    return (await engine.state('g'))?.link?.id ?? platformGroupId('');
  };
  return { ...engine, theirs, linked };
}

it('a group is linked to the platform group with its external id, whatever its name', async () => {
  const { deliver, world, theirs } = await company();
  const id = theirs(['stranger'], 'Another name', 'g');
  await deliver({ snapshot: 'g', of: ['a'] });
  expect([...world.platform.groups.values()]).toMatchObject([
    { id, name: 'Group g', spokeId: 'g', users: users('a') },
  ]);
});

it.each(['Group g', 'group  G'])(
  'a group whose name belongs to the unmanaged group %j waits until an operator adopts that group',
  async (name) => {
    const { deliver, world, ref, state, theirs } = await company();
    const id = theirs(['stranger'], name);
    await deliver({ snapshot: 'g', of: ['a'] });
    const clash = await state('g');
    expect(clash).toMatchObject({ settled: 'name_clash' });
    expect(world.platform.writes).toEqual([]);
    expect(await adoptGroup(ref('g'), id, world.toolPorts)).toMatchObject({ kind: 'adopted' });
    await deliver();
    expect(await state('g')).toMatchObject({ link: { id } });
    expect(world.platform.groups.size).toBe(1);
    const { groups } = world.toolPorts;
    const late = { ...world.toolPorts, groups: { ...groups, read: async () => clash } };
    expect(await createNamesake(ref('g'), late)).toBe(false);
  },
);

it('an operator can let a waiting group get a platform group of its own', async () => {
  const { deliver, world, ref, state, theirs } = await company();
  theirs(['stranger'], 'Group g');
  theirs(['stranger'], 'Group g', 'y');
  expect(await createNamesake(ref('g'), world.toolPorts)).toBe(false);
  await deliver({ snapshot: 'g', of: ['a'] });
  expect(await createNamesake(ref('g'), world.toolPorts)).toBe(true);
  await deliver();
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  expect(world.platform.groups.size).toBe(3);
});

it.each([
  ['Finance', '{name}'],
  ['Group g', '{name} {id}'],
])('a decision to create a group beside another does not count for another name (%s, %s)', async (...row) => {
  const [name, value] = row;
  const { deliver, world, ref, state, theirs } = await company();
  for (const other of ['Group g', 'Finance', 'Group g g']) theirs(['stranger'], other);
  await deliver({ snapshot: 'g', of: ['a'] });
  await createNamesake(ref('g'), world.toolPorts);
  expect(takeWoken(world)).toEqual([ref('g')]);
  const ports = { ...world.toolPorts, vault: {} as never };
  await changeSettings(await planSettings(CONNECTION, [{ key: 'nameTemplate', value }], ports), ports);
  await deliver({ snapshot: 'g', name, of: ['a'] });
  expect([(await state('g'))?.settled, world.platform.groups.size]).toEqual(['name_clash', 3]);
  await releaseGroup(ref('g'), world.toolPorts);
  expect(await createNamesake(ref('g'), world.toolPorts)).toBe(false);
});

it('a waiting group is created by the sweep after the other client renamed its group', async () => {
  const { deliver, world, state, theirs, sweepAfter } = await company();
  const id = theirs([], 'Group g');
  await deliver({ snapshot: 'g', of: ['a'] });
  world.platform.changeAsOther(id, { name: 'Another' });
  await sweepAfter(HOUR_MS);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
});

it('an adoption links the platform group, claims it, and makes it equal to the directory group', async () => {
  const { deliver, world, ref, shown, state, theirs } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  await releaseGroup(ref('g'), world.toolPorts);
  await deliver();
  const id = theirs(['stranger']);
  const { groups } = world.toolPorts;
  const again = { ...world.toolPorts, groups: { ...groups, adopt: twice(groups.adopt) } };
  // A change of the former platform group that was suspected during its deletion.
  const suspectedChange = { version: null, atMs: world.nowMs(), activityEvents: [] };
  await world.table.update(groupKey(ref('g')), { set: { suspectedChange } });
  const outcome = await adoptGroup(ref('g'), id, again);
  expect(outcome).toMatchObject({ kind: 'adopted', observed: { name: 'Theirs' } });
  expect((await state('g'))?.suspectedChange).toBeUndefined();
  await deliver();
  expect(shown('g')).toEqual([['stranger', ...users('a')]]);
  await approveHold(ref('g'), { reason: 'not a member' }, world.toolPorts);
  await deliver();
  expect(world.platform.groups.get(id)).toMatchObject({ name: 'Group g', spokeId: 'g', users: users('a') });
  expect(shown('g')).toEqual([users('a')]);
  const { now: owners } = await world.toolPorts.claims.owners(COMPANY, [id]);
  expect(owners.get(id)).toEqual(ref('g'));
});

it('an adoption in the mode additive keeps users that the directory never wanted', async () => {
  const { deliver, world, ref, theirs } = await company({ mode: 'additive' });
  await deliver({ upsert: 'g' });
  await releaseGroup(ref('g'), world.toolPorts);
  await deliver({ add: ['a', 'b'], to: 'g' });
  const id = theirs(['stranger', 'u-b']);
  await adoptGroup(ref('g'), id, world.toolPorts);
  await deliver();
  expect(world.platform.groups.get(id)?.users).toEqual(['stranger', 'u-b', 'u-a']);
  await deliver({ take: ['a', 'b'], from: 'g' });
  // The directory has wanted `b` since the link, although another client had added `b` before.
  expect(world.platform.groups.get(id)?.users).toEqual(['stranger']);
});

it('an adoption leaves no claim if the group changes before the link, and keeps its claim if only a sweep runs', async () => {
  const { deliver, world, ref, theirs } = await company({ groups: { exclude: ['h'] } });
  await deliver({ upsert: 'h' });
  const [id, { toolPorts }] = [theirs([]), world];
  const late = { ...toolPorts, groups: { ...toolPorts.groups, adopt: async () => false } };
  expect(await adoptGroup(ref('h'), id, late)).toEqual({ kind: 'busy' });
  expect((await toolPorts.claims.owners(COMPANY, [id])).now).toEqual(new Map());
  const connection = await world.connection();
  const adopt: typeof toolPorts.groups.adopt = (...how) =>
    sweep(connection, toolPorts).then(() => toolPorts.groups.adopt(...how));
  await adoptGroup(ref('h'), id, { ...toolPorts, groups: { ...toolPorts.groups, adopt } });
  expect((await toolPorts.claims.owners(COMPANY, [id])).now.get(id)).toEqual(ref('h'));
});

it.each([
  ['a linked group', async () => true],
  ['a released group', releaseGroup],
])('%s is not adopted with a read from before a write of the last minute', async (_, before) => {
  const { deliver, world, ref, shown, linked } = await company();
  const { toolPorts } = world;
  const id = await linked('a');
  const old = await (await toolPorts.platforms.open(await world.connection())).groups.get(id);
  const open: typeof toolPorts.platforms.open = async (...how) => {
    const platform = await toolPorts.platforms.open(...how);
    return { ...platform, groups: { ...platform.groups, get: async () => old } };
  };
  world.advance(HOUR_MS);
  await deliver({ add: ['b'], to: 'g' });
  await before(ref('g'), toolPorts);
  await deliver();
  expect(await adoptGroup(ref('g'), id, { ...toolPorts, platforms: { open } })).toEqual({ kind: 'busy' });
  world.advance(60_000);
  expect(await adoptGroup(ref('g'), id, toolPorts)).toMatchObject({ kind: 'adopted' });
  await deliver();
  expect([shown('g'), await allOf(toolPorts.drift.list(CONNECTION))]).toEqual([[users('a', 'b')], []]);
});

it('an adoption needs an unlinked directory group, and a platform group without an owner', async () => {
  const { deliver, world, ref, state } = await company();
  await deliver({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', of: ['b'] });
  const adopt = (group: string, id: string) => adoptGroup(ref(group), platformGroupId(id), world.toolPorts);
  const linked = (await state('g'))?.link?.id ?? '';
  expect(await adopt('unheard-of', 'p9')).toEqual({ kind: 'not_in_directory' });
  expect(await adopt('h', linked)).toMatchObject({ kind: 'linked' });
  await releaseGroup(ref('h'), world.toolPorts);
  await deliver();
  expect(await adopt('h', linked)).toEqual({ kind: 'owned', owner: ref('g') });
  expect(await adopt('h', 'p9')).toEqual({ kind: 'not_on_platform' });
  await deliver({ remove: 'h' });
  expect(await adopt('h', 'p9')).toEqual({ kind: 'not_in_directory' });
});

it('an adopted platform group is not changed until an event has named the directory group', async () => {
  const { deliver, world, ref, state } = await company();
  const id = world.platform.addForeign({ name: 'Theirs', spokeId: 'x', users: ['stranger'] });
  const adopt = (group: string) => adoptGroup(ref(group), platformGroupId(id), world.toolPorts);
  await deliver({ remove: 'h' }, { snapshot: 'h', of: ['a'], name: null });
  expect(await adopt('h')).toEqual({ kind: 'not_in_directory' });
  await deliver({ snapshot: 'g', of: ['a'], name: null });
  expect(await adopt('g')).toMatchObject({ kind: 'adopted' });
  await deliver({ add: ['b'], to: 'g' });
  expect(await state('g')).toMatchObject({ settled: 'unnamed', link: { id } });
  expect(world.platform.groups.get(id)).toMatchObject({ name: 'Theirs', users: ['stranger'] });
});

it('a released group is not written until it is adopted again', async () => {
  const { deliver, world, ref, shown, state, audit, linked } = await company();
  const id = await linked('a');
  expect(await releaseGroup(ref('g'), world.toolPorts)).toBe(true);
  await deliver({ snapshot: 'g', of: ['b'] });
  await deliver({ remove: 'g' }, { snapshot: 'g', of: ['b'] });
  expect(world.platform.groups.get(id)).toMatchObject({ spokeId: null, users: users('a') });
  expect((await world.toolPorts.claims.owners(COMPANY, [id])).now).toEqual(new Map());
  expect((await audit('g')).slice(0, 2)).toMatchObject([
    { action: 'release' },
    { action: 'patch', changes: [{ kind: 'set_spoke_id', before: 'g', after: null }], outcome: 'written' },
  ]);
  world.advance(60_000);
  await adoptGroup(ref('g'), id, world.toolPorts);
  await deliver();
  expect(shown('g')).toEqual([users('a', 'b')]);
  expect((await state('g'))?.hold).toMatchObject({ rule: 'adoption', removes: 1 });
});

it('a released platform group is not an orphan after another platform group was adopted instead', async () => {
  const { deliver, world, ref, shown, theirs } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  await releaseGroup(ref('g'), world.toolPorts);
  await deliver();
  expect(shown('g')).toEqual([]);
  await adoptGroup(ref('g'), theirs([]), world.toolPorts);
  await deliver();
  expect(shown('g')).toEqual([users('a')]);
  const { report } = await sweep(await world.connection(), world.toolPorts);
  expect(report).toMatchObject({ orphans: 0 });
});

it.each([
  ['refuses to remove the external id', 422, 1],
  ['fails on every attempt', 503, 3],
  ['no longer has the group', 404, 1],
])('a group is released even if the platform %s (%i)', async (_, status, tries) => {
  const { deliver, world, ref, state, linked } = await company();
  const id = await linked('a');
  let patches = 0;
  world.platform.failing = (kind) => {
    if (kind !== 'patch') return undefined;
    patches += 1;
    return status;
  };
  await releaseGroup(ref('g'), world.toolPorts);
  await deliver();
  expect(patches).toBe(tries);
  expect(await state('g')).toMatchObject({ released: true, settled: 'excluded' });
  expect((await state('g'))?.link?.id).toBeUndefined();
  expect((await world.toolPorts.claims.owners(COMPANY, [id])).now).toEqual(new Map());
  expect(world.deadLetters).toEqual([]);
});

it.each(['lost_after', 'lost_before', 'lost_late'] as const)(
  'a released group has no external id and no drift if the PATCH was not answered (%s)',
  async (fault) => {
    const { deliver, world, ref, shown, troubles } = await company();
    await deliver({ snapshot: 'g', of: ['a'] });
    failFirst(troubles, 'patch', fault);
    await releaseGroup(ref('g'), world.toolPorts);
    await deliver();
    world.advance(60_000);
    await deliver();
    expect(shown('g')).toEqual([]);
    expect(await allOf(world.toolPorts.drift.list(CONNECTION))).toEqual([]);
  },
);

it.each(['by an operator', 'after the directory creates it again'])(
  'a released group that is adopted again %s keeps the origin of its members',
  async (how) => {
    const { deliver, world, ref, linked } = await company({ mode: 'additive' });
    const id = await linked('a', 'b');
    world.platform.changeAsOther(id, { users: [...users('a', 'b'), 'stranger'] });
    if (how === 'by an operator') await releaseGroup(ref('g'), world.toolPorts);
    else await deliver({ remove: 'g' });
    await deliver();
    world.platform.adopted.add(id);
    world.advance(60_000);
    if (how === 'by an operator') await adoptGroup(ref('g'), id, world.toolPorts);
    // The removal of a user waits after an adoption, unless the directory has wanted the user since.
    await deliver();
    await deliver({ snapshot: 'g', of: ['a'] });
    expect(world.platform.groups.get(id)?.users.toSorted()).toEqual(['stranger', ...users('a')]);
  },
);

it.each([
  ['released by an operator', {}],
  ['released by onGroupDeleted', { onGroupDeleted: 'release' }],
  ['deleted', {}],
])('a group that is %s keeps no claim after a crash of apply at any point', async (how, settings) => {
  await crashBeforeEachEffect(async (worker, where) => {
    const { deliver, emit, work, world, ref, state, linked } = await company(settings);
    const id = await linked('a');
    if (how === 'released by an operator') await releaseGroup(ref('g'), world.toolPorts);
    else {
      emit({ remove: 'g' });
      await work(1);
    }
    takeWoken(world);
    await expectSuccessOrCrash(applyGroup(ref('g'), world.portsFor(worker)));
    world.advance(10 * 60_000);
    await deliver();
    expect((await world.toolPorts.claims.owners(COMPANY, [id])).now, where).toEqual(new Map());
    expect((await state('g'))?.link?.id).toBeUndefined();
    expect((await state('g'))?.dirtySinceMs).toBeUndefined();
  });
});

it('a released group is linked again if the directory creates it again, up to 61 seconds later', async () => {
  for (const seconds of [0, 10, 30, 59, 61]) {
    const { emit, world, ref, state } = await company({ onGroupDeleted: 'release' });
    // These ports belong to one process of the function, which caches the list of groups for a minute.
    const ports = world.portsFor();
    const take = async (group: string, ...directoryEvents: readonly DirectoryEvent[]) => {
      emit(...directoryEvents);
      await ingest(takeEvents(world), ports);
      for (let run = 0; run < 3; run += 1) await applyGroup(ref(group), ports);
    };
    await take('other', { snapshot: 'other', of: [] });
    await take('g', { snapshot: 'g', of: ['a', 'b'], name: 'Sales' });
    const id = (await state('g'))?.link?.id ?? platformGroupId('');
    await take('g', { remove: 'g' });
    expect((await state('g'))?.link?.id).toBeUndefined();
    world.platform.adopted.add(id);
    world.advance(seconds * 1_000);
    await take('g', { snapshot: 'g', of: ['a'], name: 'Sales' });
    const names = [...world.platform.groups.values()].map(({ name }) => name);
    expect(names, `${seconds} s`).toEqual(['Group other', 'Sales']);
    expect(await state('g'), `${seconds} s`).toMatchObject({ link: { id }, settled: 'in_sync' });
    expect(world.platform.groups.get(id)).toMatchObject({ spokeId: 'g', users: users('a') });
  }
});

it('a released group can be adopted again after a crash of apply at any point, and keeps its claim', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const { deliver, world, ref, shown, state, linked } = await company();
    const id = await linked('a');
    world.advance(60_000);
    await releaseGroup(ref('g'), world.toolPorts);
    await expectSuccessOrCrash(applyGroup(ref('g'), world.portsFor(worker)));
    const adopted = await adoptGroup(ref('g'), id, world.toolPorts);
    if (adopted.kind === 'busy') {
      // The write that removes the external id has no known outcome yet, or is under a minute old.
      world.advance(10 * 60_000);
      await deliver();
      world.advance(60_000);
      expect(await adoptGroup(ref('g'), id, world.toolPorts), where).toMatchObject({ kind: 'adopted' });
    }
    await deliver({ add: ['b'], to: 'g' });
    expect(shown('g'), where).toEqual([users('a', 'b')]);
    expect((await world.toolPorts.claims.owners(COMPANY, [id])).now.get(id)).toEqual(ref('g'));
    expect(await state('g')).toMatchObject({ settled: 'in_sync', released: false });
  });
});

it('an unknown group cannot be released', async () => {
  const { world, ref } = await company();
  expect(await releaseGroup(ref('unheard-of'), world.toolPorts)).toBe(false);
});

const ends = [
  ['delete', []],
  ['release', [[]]],
] as const;

it.each(ends)(
  'a deleted group that returns without a name has the same result with and without a run of apply in between: %s',
  async (onGroupDeleted, left) => {
    for (const isLookedAt of [true, false]) {
      const { deliver, emit, shown, state } = await company({ onGroupDeleted });
      await deliver({ snapshot: 'g', of: ['a'] });
      if (isLookedAt) await deliver({ remove: 'g' });
      else emit({ remove: 'g' });
      await deliver({ snapshot: 'g', of: ['b'], name: null });
      expect(shown('g')).toEqual(left);
      expect(await state('g')).toMatchObject({ settled: 'unnamed' });
      await deliver({ upsert: 'g' });
      // A released group still has the spokeId of the directory group. With it, apply finds and claims the
      // group.
      expect(shown('g')).toEqual([users('b')]);
      expect(await state('g')).toMatchObject({ settled: 'in_sync' });
    }
  },
);

it('a group that returns without a name stays deleted if its deletion is ingested last', async () => {
  const { world, emit, deliver, shown, state } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  emit({ remove: 'g' });
  const late = takeEvents(world);
  await deliver({ snapshot: 'g', of: ['a', 'b'], name: null });
  expect(shown('g')).toEqual([users('a', 'b')]);
  for (const { body } of late) world.eventsQueue.send({ body });
  await deliver();
  expect(shown('g')).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'unnamed' });
});

it('the guard also holds the deletion of a group that returned without a name', async () => {
  const guard = { minSize: 1, maxRemovedShare: 1, maxRemovedCount: 9, perHourCount: 1 };
  const { deliver, emit, shown, state } = await company({ guard });
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  emit({ remove: 'g' });
  await deliver({ snapshot: 'g', of: [], name: null });
  expect(shown('g')).toEqual([users('a', 'b')]);
  expect(await state('g')).toMatchObject({ settled: 'held', hold: { rule: 'per_hour', removes: 2 } });
});

it('the settings select a deleted group by its last name, so its platform group is deleted', async () => {
  const groups = { include: ['Group *'], exclude: [], policies: [] };
  const { deliver, shown } = await company({ groups });
  await deliver({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', name: 'Other', of: ['a'] });
  expect([shown('g'), shown('h')]).toEqual([[users('a')], []]);
  await deliver({ remove: 'g' });
  expect(shown('g')).toEqual([]);
});
