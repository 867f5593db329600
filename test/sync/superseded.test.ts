import { expect, it } from 'vitest';
import { ConnectionSettings } from '../../shared/contract/settings.ts';
import { NO_GROUP } from '../../shared/domain/group.ts';
import type { Hold } from '../../shared/domain/hold.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { holdDigest } from '../../shared/sync/apply/hold.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { findProblems } from '../../shared/sync/reconcile/levels.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { suspectChanged } from '../support/engine/look-over.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, CREATE_SETTLE_MS, NO_FAULTS, type Ports, takeEvents } from '../support/engine/world.ts';
import { slowWorker } from './reconcile/support/crashing-worker.ts';

const HOUR_MS = 3_600_000;

/** Creates a group of these members, in sync. */
async function inSync(members: readonly string[], settings = {}, platform = {}, coalesceMs = 0) {
  const engine = await createTestEngine({ settings, platform, coalesceMs });
  await engine.hire(...members);
  await engine.deliver({ snapshot: 'g', of: members });
  return { ...engine, id: (await engine.state('g'))?.link?.id ?? '' };
}

it.each([
  ['create', 'platform.list', undefined],
  ['adopt', 'platform.get', { name: 'Theirs', spokeId: 'g', users: ['stranger'] }],
])(
  'a worker that is about to %s a group stores nothing if another worker processes its deletion first',
  async (_, heldUpBefore, foreign) => {
    const { world, deliver, state, ref } = await createTestEngine();
    const id = foreign && world.platform.addForeign(foreign);
    // The platform group exists, but apply has not read it yet.
    const stamp = makeStamp({ time: new Date(world.nowMs()).toISOString(), id: 'e0', source: 'test' });
    const named = { ...NO_GROUP, upserted: stamp, name: { value: 'Group g', stamp } };
    const now = { nowMs: world.nowMs(), wakeAtMs: world.nowMs() };
    await world.toolPorts.desired.markDirty(ref('g'), now, named);
    let found: unknown;
    const slow = slowWorker(heldUpBefore, async () => {
      await deliver({ remove: 'g' });
      found = await state('g');
    });
    await applyGroup(ref('g'), world.portsFor(slow));
    expect(found).toMatchObject({ settled: 'deleted' });
    await deliver();

    expect([...world.platform.groups.keys()]).toEqual(id === undefined ? [] : [id]);
    expect(await state('g')).not.toHaveProperty('link');
    expect(await state('g')).not.toHaveProperty('intent');
    expect(world.platform.writes).toEqual([]);
  },
);

it('a group that another client deletes directly before a write of groupsync is created again', async () => {
  const { world, deliver, emit, state, ref, shown, id } = await inSync(['a', 'b']);
  world.advance(CREATE_SETTLE_MS);
  world.platform.changeAsOther(id, { name: 'Theirs' });
  emit({ take: ['b'], from: 'g' });
  await ingest(takeEvents(world), world.toolPorts);
  const slow = slowWorker('platform.get', async () => world.platform.deleteAsOther(id));
  await applyGroup(ref('g'), world.portsFor(slow));
  await deliver();
  expect(world.deadLetters).toEqual([]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  expect(shown('g')).toEqual([['u-a']]);
});

const STALE = [409, 412, 400, 422] as const;

it.each(STALE.flatMap((status) => [[status, 'no'] as const, [status, 'another'] as const]))(
  'a stale version counts as no refusal and starts no search, even if a read shows the group before the external change (status %i, %s event before the next attempt)',
  async (staleStatus, more) => {
    const members = [...'abcdefgh'];
    const { world, emit, work, deliver, state, shown, id } = await inSync(
      members,
      { guard: null },
      { staleStatus, getLagMs: 45_000 },
    );
    world.advance(CREATE_SETTLE_MS);
    world.platform.changeAsOther(id, { name: 'Theirs' });
    const saidMs = world.nowMs();
    const gone = more === 'no' ? ['b'] : ['b', 'c'];
    emit({ take: ['b'], from: 'g' });
    const isRefused = async () => (await state('g'))?.lastError?.code === 'refused';
    if (more !== 'no') for (let time = 0; time < 100 && !(await isRefused()); time += 1) await work(1);
    // apply writes the event before the minute is over.
    await deliver({ take: gone.slice(-1), from: 'g' });
    expect(world.deadLetters).toEqual([]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync' });
    expect(shown('g')).toEqual([members.filter((one) => !gone.includes(one)).map((one) => `u-${one}`)]);
    expect(world.nowMs() - saidMs).toBeLessThan(5 * 60_000);
  },
);

it.each(STALE)(
  'a write with repeated conflicts is tried again, even if reads show an earlier state (status %i)',
  async (staleStatus) => {
    const platform = { staleStatus, getLagMs: 10_000 };
    const { world, deliver, state, shown, troubles, id } = await inSync(['a', 'b'], {}, platform);
    world.advance(CREATE_SETTLE_MS);
    // apply plans the write a minute later from the first change. The second change then conflicts with this write.
    const others = [{ name: 'First' }, { name: 'Second' }];
    troubles.platform = (call) => {
      const change = call === 'patch' || call === 'put' ? others.shift() : undefined;
      if (change !== undefined) world.platform.changeAsOther(id, change);
      return 'none';
    };
    await deliver({ take: ['b'], from: 'g' });
    expect(others).toEqual([]);
    expect(world.deadLetters).toEqual([]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync' });
    expect(shown('g')).toEqual([['u-a']]);
  },
);

it('a member that groupsync added can be removed later, even if a read shows the group before the addition', async () => {
  const platform = { enforceVersionOnPatch: false, getLagMs: 12_000 };
  const { world, deliver, shown, hire, id } = await inSync(['a'], { mode: 'additive' }, platform, 5_000);
  await hire('b');
  world.advance(CREATE_SETTLE_MS);
  world.platform.changeAsOther(id, { name: 'Theirs' });
  world.advance(9_000);
  await deliver({ add: ['b'], to: 'g' });
  await deliver({ take: ['b'], from: 'g' });
  expect(shown('g')).toEqual([['u-a']]);
});

it.each(['create', 'patch'] as const)(
  'the audit records a %s without an answer that takes effect after apply has searched for its result',
  async (action) => {
    const { world, troubles, hire, deliver, emit, audit, ref, state } = await createTestEngine();
    await hire('a', 'b', 'c');
    if (action === 'patch') await deliver({ snapshot: 'g', of: ['a'] });
    const ports = { ...world.portsFor(slowWorker('nothing', async () => {})), createSettleMs: 3_000 };
    troubles.platform = (call) => (call === action ? 'lost_late' : 'none');
    emit({ snapshot: 'g', of: ['a', 'b'] });
    await ingest(takeEvents(world), world.toolPorts);
    await applyGroup(ref('g'), ports);
    troubles.platform = (call) => (call === action ? 'unreached' : 'none');
    for (let time = 0; time < 5 && (await state('g'))?.uncertain === undefined; time += 1) {
      world.advance(1_000);
      await applyGroup(ref('g'), ports);
    }
    expect(await state('g')).toMatchObject({ uncertain: { write: { action } } });
    world.platform.doLate(0);
    troubles.platform = NO_FAULTS.platform;
    await deliver({ snapshot: 'g', of: ['a', 'c'] });

    const versions = (await audit('g')).map(({ versionAfter }) => versionAfter);
    expect(versions).toEqual(expect.arrayContaining(world.platform.writes.map(({ version }) => version)));
    expect((await audit('g')).map(({ outcome }) => outcome)).toContain('found_written');
  },
);

it('a late deletion by groupsync is not recorded as an external change', async () => {
  const { world, troubles, hire, deliver, emit, work, shown, audit, findChanges, driftKinds } =
    await createTestEngine();
  await hire('a', 'b');
  await deliver({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', of: ['a'] });
  world.advance(CREATE_SETTLE_MS);
  const faults = { patch: 'lost_before', delete: 'lost_late' } as const;
  troubles.platform = (call) => faults[call as keyof typeof faults] ?? 'none';
  emit({ remove: 'g' });
  await work(3);
  emit({ snapshot: 'g', of: ['a', 'b'] });
  await work(6);
  troubles.platform = NO_FAULTS.platform;
  world.advance(60_000);
  expect(world.platform.lateCount).toBe(0);
  await findChanges();
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(await driftKinds()).toEqual([]);
  const lateWrite = expect.objectContaining({ action: 'delete', outcome: 'found_written' });
  expect(await audit('g')).toContainEqual(lateWrite);
});

it.each(['platform.patch', 'update GROUP'])(
  'a hold that another worker stores during a write (before %s) is counted as waiting until it expires',
  async (heldUpBefore) => {
    const { world, emit, state, ref, deliver } = await inSync(['a', 'b']);
    emit({ take: ['b'], from: 'g' });
    await ingest(takeEvents(world), world.toolPorts);
    const seen = await state('g');
    if (seen === undefined) throw new Error('expected the group');
    const users = new Set([platformUserId('u-b')]);
    const hold: Hold = {
      digest: holdDigest({ ...(seen.link && { platformId: seen.link.id }) }, users),
      ...(seen.link && { platformId: seen.link.id }),
      asOf: STAMP_ZERO,
      rule: 'count',
      removes: 1,
      keeps: 1,
      share: 0.5,
      createdAtMs: world.nowMs(),
      dirtySinceMs: 0,
      expiresAtMs: world.nowMs() + HOUR_MS,
      decision: { kind: 'waiting' },
      chunks: 0,
      hash: '',
    };
    const slow = slowWorker(heldUpBefore, () =>
      world.toolPorts.groups.storeRemovals(seen, [{ hold, users }], '0#other'),
    );
    await applyGroup(ref('g'), world.portsFor(slow));
    const found = await findProblems(await world.connection(), world.toolPorts);
    const held = found.find(({ subject }) => subject === 'hold');
    expect(held?.count).toBe((await state('g'))?.hold === undefined ? 0 : 1);
    world.advance(HOUR_MS);
    await sweep(await world.connection(), world.toolPorts);
    await deliver();
    expect(await state('g')).not.toHaveProperty('removals');
  },
);

it('during flap damping, a member is removed immediately, and a later external addition still waits', async () => {
  const { world, work, shown, ref, id } = await inSync(['a', 'b']);
  const addStranger = async () => {
    world.platform.changeAsOther(id, { users: [...(shown('g')[0] ?? []), 'u-x'] });
    await suspectChanged(world);
    await work(20);
  };
  for (let time = 0; time < 3; time += 1) await addStranger();
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-x']]);

  await world.toolPorts.hire([{ role: 'b', email: 'b@acme.test', state: 'TERMINATED' }]);
  const now = { nowMs: world.nowMs(), wakeAtMs: world.nowMs(), isAtOnce: true };
  await world.toolPorts.desired.markDirty(ref('g'), now);
  await applyGroup(ref('g'), world.toolPorts);
  expect(shown('g')).toEqual([['u-a']]);
  await addStranger();
  expect(shown('g')).toEqual([['u-a', 'u-x']]);
});

it.each([
  ['writes with the new settings', {}, { nameTemplate: '{name} (ours)' }, 'written', 'New (ours)'],
  ['includes the group again', { groups: { exclude: ['*'] } }, {}, 'written', 'New'],
  ['writes nothing if the connection only observes', {}, undefined, 'observing', 'Group g'],
])('a worker with outdated settings %s', async (_, before, settings, outcome, name) => {
  const { world, deliver, emit, ref } = await createTestEngine({ settings: before });
  await deliver({ upsert: 'g' });
  const { toolPorts } = world;
  const connections = createConnectionStore(world.table, { clock: world.nowMs, rememberMs: 60_000 });
  const seen = (await connections.find(CONNECTION)) as Connection;
  emit({ upsert: 'g', name: 'New' });
  await ingest(takeEvents(world), toolPorts);
  const now = ConnectionSettings.parse({ baseUrl: 'https://platform.test', guard: null, ...settings });
  await toolPorts.connections.save({ ...seen, settings: now, observing: settings === undefined });
  expect((await applyGroup(ref('g'), { ...toolPorts, connections })).outcome).toBe(outcome);
  expect([...world.platform.groups.values()].map((group) => group.name)).toEqual([name]);
});

it.each(['getMany VIEW#', 'platform.get'])(
  'plan and explain show the current state if apply runs immediately before their call %s',
  async (held) => {
    const { world, deliver, ref, id } = await inSync([...'abcdef']);
    const known = await world.connection();
    const connection = { ...known, settings: { ...known.settings, mode: 'report' as const } };
    await world.toolPorts.connections.save(connection);
    const plan = (ports: Ports) => planGroup(ref('g'), ports);
    const explain = (ports: Ports) => explainMember(ref('g'), 'b', { connection, ports });
    for (const ask of [plan, explain]) {
      world.platform.changeAsOther(id, { users: ['u-a', 'u-x'] });
      await suspectChanged(world);
      expect(await ask(world.portsFor(slowWorker(held, deliver)))).toEqual(await ask(world.toolPorts));
    }
  },
);

it.each(['authoritative', 'additive'])(
  "a read that shows the group before groupsync's last write does not count as an external change in the mode %s",
  async (mode) => {
    const platform = { getLagMs: 45_000 };
    const { world, deliver, findChanges, shown, state, id } = await inSync(['a', 'b'], { mode }, platform);
    world.advance(CREATE_SETTLE_MS);
    await deliver({ take: ['b'], from: 'g' });
    await deliver({ add: ['b'], to: 'g' }, { take: ['a'], from: 'g' });
    await findChanges();
    expect(shown('g')).toEqual([['u-b']]);
    expect((await state('g'))?.openDrift).toEqual([]);
    expect(world.platform.writes.map(({ action }) => action)).toEqual(['create', 'patch', 'patch']);

    // A later external change is still detected.
    world.advance(60_000);
    world.platform.changeAsOther(id, { name: 'Theirs' });
    await findChanges(60_000);
    expect(world.platform.groups.get(id)?.name).toBe('Group g');
  },
);

it.each(['authoritative', 'additive'])(
  'an uncertain write that takes effect after a later write permanently removes no member (%s)',
  async (mode) => {
    const platform = { enforceVersionOnPatch: false };
    const engine = await createTestEngine({ settings: { mode }, platform });
    const { world, troubles, hire, deliver, emit, ref, state, shown, findChanges, driftKinds } = engine;
    await hire('a', 'b', 'c');
    await deliver({ snapshot: 'g', of: ['a'] });
    world.advance(CREATE_SETTLE_MS);
    const attempt = async () => {
      await ingest(takeEvents(world), world.toolPorts);
      await applyGroup(ref('g'), world.portsFor(slowWorker('nothing', async () => {})));
      world.advance(1_000);
    };
    troubles.platform = (call) => (call === 'patch' ? 'lost_late' : 'none');
    emit({ add: ['b'], to: 'g' });
    for (let time = 0; time < 9 && world.platform.lateCount === 0; time += 1) await attempt();
    troubles.platform = (call) => (call === 'patch' ? 'unreached' : 'none');
    for (let time = 0; time < 9 && (await state('g'))?.uncertain === undefined; time += 1) await attempt();
    troubles.platform = NO_FAULTS.platform;
    emit({ take: ['b'], from: 'g' }, { add: ['c'], to: 'g' });
    await ingest(takeEvents(world), world.toolPorts);
    for (let time = 0; time < 9 && shown('g')[0]?.length !== 2; time += 1) await attempt();
    expect(shown('g')).toEqual([['u-a', 'u-c']]);

    world.platform.doLate(0);
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    await findChanges(60_000);
    expect(shown('g')).toEqual([['u-a', 'u-c']]);
    expect(await driftKinds()).toEqual([]);
    expect(await state('g')).not.toHaveProperty('uncertain');
  },
);
