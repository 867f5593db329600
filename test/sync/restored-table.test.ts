import { expect, it } from 'vitest';
import type { Mode } from '../../shared/contract/settings.ts';
import { type PlatformGroupId, platformGroupId } from '../../shared/domain/ids.ts';
import { storeConnection } from '../../shared/operate/connect/connect.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { acceptRestored, endRestore } from '../../shared/operate/restated.ts';
import { removeConnection } from '../../shared/operate/settings.ts';
import { isRestated } from '../../shared/plan/restore.ts';
import { createScimTokenStore } from '../../shared/scim/store/scim-token-store.ts';
import { createHealthStore } from '../../shared/store/connection-states.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { company, openReader } from '../directory/reading/fixture.ts';
import { suspectChanged } from '../support/engine/look-over.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { HOUR_MS } from '../support/engine/world.ts';
import { backupOf } from '../support/restore.ts';

/** Two groups in sync, then the given events, then a restore of the table to the instant before these events. */
const restored = (...lost: readonly DirectoryEvent[]) => restoredIn('authoritative', ...lost);
type Engine = Awaited<ReturnType<typeof createTestEngine>>;
type Lost =
  | DirectoryEvent
  | ((engine: Engine & { readonly id: (group: string) => Promise<PlatformGroupId> }) => Promise<void>);

async function restoredIn(mode: Mode, ...lost: readonly Lost[]) {
  const engine = await createTestEngine({ settings: { mode, guard: null } });
  const { world, deliver, shown } = engine;
  const id = async (group: string) => platformGroupId((await engine.state(group))?.link?.id ?? '');
  await engine.hire('a', 'b', 'c');
  await deliver({ snapshot: 'g', of: ['a', 'b'] }, { snapshot: 'h', of: ['a'] });
  const restore = backupOf(world.table, world.nowMs);
  world.advance(HOUR_MS);
  for (const one of lost) await (typeof one === 'function' ? one({ ...engine, id }) : deliver(one));
  world.advance(HOUR_MS);
  restore();
  const connection = world.connection;
  return {
    ...engine,
    connection,
    /** Resumes the connection. Then the sweep compares the stored views with the platform. */
    async resume() {
      await resumeConnection((await connection()).name, world.toolPorts);
      await sweep(await connection(), world.toolPorts);
      await engine.pass(HOUR_MS);
    },
    id,
    all: () => ({ g: shown('g'), h: shown('h') }),
  };
}

it('a restored table makes each connection observe until an operator resumes it', async () => {
  const { connection, resume, deliver, emit, pass, all } = await restored();
  expect(await connection()).toMatchObject({ observing: true });
  emit({ snapshot: 'g', of: ['a', 'b', 'c'] });
  await pass(HOUR_MS);
  expect(all()).toEqual({ g: [['u-a', 'u-b']], h: [['u-a']] });
  await resume();
  expect(await connection()).toMatchObject({ observing: false });
  await deliver({ snapshot: 'g', of: ['a', 'c'] });
  expect(all()).toEqual({ g: [['u-a', 'u-c']], h: [['u-a']] });
});

it('a restored table adds no member and creates no group until the source has sent the whole group', async () => {
  const { resume, deliver, all, state, connection, world, ref, member } = await restored(
    { take: ['b'], from: 'g' },
    { remove: 'h' },
  );
  await resume();
  expect(all()).toEqual({ g: [['u-a']], h: [] });
  expect([(await state('g'))?.settled, (await state('h'))?.settled]).toEqual(['unrestated', 'unrestated']);
  const plan = await planGroup(ref('g'), world.toolPorts);
  expect(plan).toMatchObject({ action: 'none', note: expect.stringContaining('groupsync restated') });
  const context = { connection: await connection(), ports: world.toolPorts };
  const explained = await explainMember(ref('g'), member('b'), context);
  expect(explained).toMatchObject({ decision: { outcome: 'unrestated' } });
  expect((await connection()).restoredAtMs).toBeGreaterThan(0);
  await deliver({ snapshot: 'g', of: ['a', 'c'] }, { remove: 'h' });
  expect(all()).toEqual({ g: [['u-a', 'u-c']], h: [] });
  expect(await state('h')).toMatchObject({ settled: 'deleted' });
});

it('a restored table keeps a member that joined after the restored instant, and removes a member that leaves', async () => {
  const { resume, deliver, shown, state } = await restored({ add: ['c'], to: 'g' });
  await resume();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
  await deliver({ take: ['b'], from: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-c']]);
  expect(await state('g')).toMatchObject({ settled: 'unrestated' });
});

it.each(['authoritative', 'additive'] as const)(
  'a restored table holds the removal of a member that joined and left after the restored instant, in the mode %s',
  async (mode) => {
    const lost = { add: ['c'], to: 'g' };
    const { resume, deliver, shown, state, world, id, findChanges } = await restoredIn(mode, lost);
    await resume();
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    expect([shown('g'), (await state('g'))?.hold?.rule]).toEqual([[['u-a', 'u-b', 'u-c']], 'adoption']);
    const users = ['u-a', 'u-b', 'u-c', 'u-x'];
    world.platform.changeAsOther(await id('g'), { users });
    await findChanges();
    expect(shown('g')).toEqual([mode === 'additive' ? users : users.slice(0, 3)]);
  },
);

it('a restored table holds the removal of a lost member from a group that another client deleted and groupsync created again', async () => {
  const { resume, deliver, shown, state, pass } = await restoredIn(
    'additive',
    async ({ world, id, deliver, pass }) => {
      world.platform.deleteAsOther(await id('g'));
      await suspectChanged(world);
      await pass(3 * HOUR_MS);
      await deliver({ add: ['c'], to: 'g' });
    },
  );
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
  await resume();
  await pass(3 * HOUR_MS);
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  expect([shown('g'), (await state('g'))?.hold?.rule]).toEqual([[['u-a', 'u-b', 'u-c']], 'adoption']);
});

it('an operator accepts the stored members of one group, or of all groups', async () => {
  const { resume, deliver, all, pass, world, ref, connection } = await restored(
    { take: ['b'], from: 'g' },
    { take: ['a'], from: 'h' },
  );
  await resume();
  expect(all()).toEqual({ g: [['u-a']], h: [[]] });
  expect(await acceptRestored(ref('g'), await connection(), world.toolPorts)).toBe(true);
  await pass(HOUR_MS);
  expect(all()).toEqual({ g: [['u-a', 'u-b']], h: [[]] });
  expect(await acceptRestored(ref('g'), await connection(), world.toolPorts)).toBe(false);
  expect(await endRestore(await connection(), world.toolPorts)).toBe(2);
  await deliver({ upsert: 'h' });
  expect(all()).toEqual({ g: [['u-a', 'u-b']], h: [['u-a']] });
  expect(await endRestore(await connection(), world.toolPorts)).toBeUndefined();
});

it('a restored table still waits for its sources after the connection got another credential, or was removed and connected again', async () => {
  const { resume, connection, world, pass, all } = await restored(
    { take: ['b'], from: 'g' },
    { remove: 'h' },
  );
  await resume();
  const { name, company, settings, restoredAtMs } = await connection();
  const request = { name, company, settings, observing: false, token: 't' };
  const vault = { store: async () => 'v1', remove: async () => true };
  const stores = { tokens: createScimTokenStore(world.table), health: createHealthStore(world.table) };
  const ports = { ...world.toolPorts, ...stores, vault };
  for (const isRemoved of [false, true]) {
    const known = isRemoved ? undefined : await connection();
    if (isRemoved) await removeConnection(name, ports);
    await storeConnection({ ...request, known }, ports);
    await pass(HOUR_MS);
    expect((await connection()).restoredAtMs).toBe(restoredAtMs);
    expect(all()).toEqual({ g: [['u-a']], h: [] });
  }
});

it('a restored table cannot be accepted while the connection observes', async () => {
  const { world, connection } = await restored();
  await expect(endRestore(await connection(), world.toolPorts)).rejects.toThrow('groupsync resume');
});

it('a reader reads every group after a restore, and then also the groups that equal the directory are complete', async () => {
  const reader = await openReader({ world: company({ rowing: ['a', 'b'], chess: ['a', 'c'], go: ['d'] }) });
  const { world } = reader;
  await reader.hire('a', 'b', 'c', 'd');
  await reader.passMinutes(30);
  const restore = backupOf(world.table, world.nowMs);
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-a']]);
  restore();
  await reader.google.control('counts', { group: 'go', count: 2 });
  await resumeConnection((await world.connection()).name, world.toolPorts);
  await sweep(await world.connection(), world.toolPorts);
  await reader.pass(HOUR_MS);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-a']], [['u-a', 'u-c']]]);
  await reader.change({ kind: 'addMember', group: 'chess', member: 'd' });
  await reader.passMinutes(60);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-a']], [['u-a', 'u-c', 'u-d']]]);
  const { restoredAtMs } = await world.connection();
  const areRestated = async () => {
    const refs = ['rowing', 'chess', 'go'].map(reader.ref);
    return (await world.toolPorts.groups.readMany(refs)).map((state) => isRestated(state, restoredAtMs));
  };
  expect(await areRestated()).toEqual([true, true, false]);
  await reader.google.control('counts', { group: 'go', count: 'right' });
  await reader.passMinutes(30);
  expect(await areRestated()).toEqual([true, true, true]);
});
