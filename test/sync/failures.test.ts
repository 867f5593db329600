import { expect, it } from 'vitest';
import { memberId, roleId } from '../../shared/domain/ids.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { affordableAtMs } from '../../shared/sync/tuning.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS, MINUTE_MS, NO_FAULTS, takeEvents, takeWoken } from '../support/engine/world.ts';
import { nativeEvent } from '../support/events.ts';
import { slowWorker } from './reconcile/support/crashing-worker.ts';

async function company(settings = {}) {
  const engine = await createTestEngine({ settings });
  await engine.hire('a', 'b', 'c');
  return engine;
}

/** Lambda stops a function that triggers itself this often ("Recursive loop detection" in its guide). */
const LAMBDA_STOPS_AT = 16;

it.each([
  ['the platform fails', 500],
  ['the platform throttles', 429],
  ['the platform refuses the version token', 412],
  ['the platform refuses the write', 422],
  ['the write succeeds', undefined],
])('apply sends at most one message per message, always delayed, if %s', async (_, status) => {
  const { deliver, world, ref } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  world.platform.refusal = () => status;
  const event = nativeEvent('group.member.added', { group: { id: 'g' }, members: [{ id: 'b' }] });
  world.eventsQueue.send({ body: event });
  await ingest(takeEvents(world), world.portsFor());
  let [woken, runs] = [takeWoken(world).length, 0];
  for (; woken > 0 && runs < 100; runs += 1) {
    await applyGroup(ref('g'), world.portsFor());
    // A message without a delay would be received here.
    expect(takeWoken(world)).toEqual([]);
    expect(world.applyQueue.messages.length).toBeLessThanOrEqual(1);
    world.advance(10 * MINUTE_MS);
    woken = takeWoken(world).length;
  }
  // apply leaves a retry that is more than ten minutes ahead to the requeue job, whose message begins a new chain.
  expect(runs).toBeLessThan(LAMBDA_STOPS_AT);
});

it("a stream of changes causes one chain of messages, longer than Lambda's default limit, that ends with the last change", async () => {
  const { hire, deliver, emit, world, ref, state } = await createTestEngine({ coalesceMs: 5_000 });
  const joining = Array.from({ length: 4 * LAMBDA_STOPS_AT }, (_, n) => `m${n}`);
  await hire(...joining);
  await deliver({ snapshot: 'g', of: [] });
  world.advance(HOUR_MS);
  const joinNext = async () => {
    const next = joining.shift();
    if (next !== undefined) emit({ add: [next], to: 'g' });
    await ingest(takeEvents(world), world.portsFor());
  };
  await joinNext();
  let runs = 0;
  for (; takeWoken(world).length > 0; runs += 1) {
    await applyGroup(ref('g'), world.portsFor(slowWorker('platform.patch', joinNext)));
    await joinNext();
    // Ingest sends no message for the change after the write, because the message of apply is already in the queue.
    expect(world.applyQueue.messages.length).toBeLessThanOrEqual(1);
    world.advance(5_000);
  }
  expect(runs).toBeGreaterThan(LAMBDA_STOPS_AT);
  expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 4 * LAMBDA_STOPS_AT } });
});

it('a refused write marks the group as failed, causes one dead-lettered message, and is repeated with the next change', async () => {
  const { deliver, world, state, ref, shown, audit } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  world.platform.refusal = () => 422;
  await deliver({ add: ['b'], to: 'g' });
  expect(await state('g')).toMatchObject({
    failedAtMs: expect.any(Number),
    lastError: { code: 'platform_rejected' },
  });
  expect((await state('g'))?.dirtySinceMs).toBeUndefined();
  expect(world.deadLetters).toMatchObject([{ code: 'platform_rejected', group: { group: 'g' } }]);
  expect((await audit('g'))[0]).toMatchObject({ action: 'patch', outcome: 'rejected', changeCount: 1 });
  world.advance(24 * 3_600_000);
  await deliver({ upsert: 'g' });
  expect(await state('g')).toMatchObject({ failedAtMs: expect.any(Number) });
  expect(world.deadLetters).toHaveLength(1);
  // After a replay, a failure is reported again with the time of the first failure.
  const failedBefore = '1 2026-11-20T10:00:00.000Z';
  await world.toolPorts.groups.noteReplay(ref('g'), failedBefore);
  await deliver({ upsert: 'g' });
  await deliver({ upsert: 'g' });
  expect(world.deadLetters).toMatchObject([{}, { failedBefore }]);

  world.platform.refusal = () => undefined;
  await deliver({ add: ['c'], to: 'g' });
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
  expect((await state('g'))?.failedAtMs).toBeUndefined();
  expect(world.deadLetters).toHaveLength(2);
});

type Refused = (users: readonly string[]) => boolean;
const writes = (world: { platform: { refusal: unknown } }, unacceptable: Refused) => {
  let count = 0;
  world.platform.refusal = (_: unknown, users: readonly string[]) => {
    count += 1;
    return unacceptable(users) ? 422 : undefined;
  };
  return () => count;
};

it.each([
  ['authoritative', 9, 16, ['bad']],
  ['authoritative', 99, 24, ['bad']],
  ['authoritative', 37, 60, ['n12-bad', 'n2-bad', 'n30-bad']],
  ['additive', 39, 30, ['bad']],
])(
  'a refused user does not delay removals and additions of other users (%s, with %i additions)',
  async (mode, count, most, bad) => {
    const { deliver, world, state, shown, hire } = await company({ mode });
    const newcomers = Array.from({ length: count }, (_, n) => `n${n}`);
    await hire(...bad, ...newcomers);
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
    const tries = writes(world, (users) => users.some((user) => user.endsWith('bad')));
    await deliver({ take: ['c'], from: 'g' }, { add: [...newcomers, ...bad], to: 'g' });
    expect(shown('g')).toEqual([['u-a', 'u-b', ...newcomers.map((one) => `u-${one}`)].sort()]);
    expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: count + 2 } });
    // If only one user is left, apply cannot know whether the platform refuses this user or the group.
    expect(world.deadLetters.length).toBeLessThan(bad.length);
    expect(tries()).toBeLessThanOrEqual(most);
  },
);

it('a refused user does not prevent the creation of a new group with the other users', async () => {
  const { deliver, world, state, shown, hire } = await company();
  await hire('bad');
  writes(world, (users) => users.includes('u-bad'));
  await deliver({ snapshot: 'g', of: ['a', 'bad', 'b'] });
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { pending: 1 } });
});

it.each([
  ['as another person', /^u-bad$/, {}, 'c', ['u-a', 'u-c']],
  ['with another kind of id', /^u-/, { memberIdField: 'id' as const }, 'bad', ['a', 'bad']],
])('a refused member is tried again immediately %s', async (_, refused, settings, role, users) => {
  const { deliver, world, shown, hire, pending } = await company();
  await hire('bad');
  writes(world, (sent) => sent.some((user) => refused.test(user)));
  await deliver({ snapshot: 'g', of: ['a', 'bad'] });
  expect(await pending()).toContainEqual(['bad', 'refused']);
  const { toolPorts } = world;
  const connection = await world.connection();
  await toolPorts.connections.save({ ...connection, settings: { ...connection.settings, ...settings } });
  await rebindMember(CONNECTION, { member: memberId('bad'), role: roleId(role) }, toolPorts as never);
  await deliver({ upsert: 'g' });
  expect(shown('g')).toEqual([users]);
});

it('removals that another member blocks are attempted about once an hour, and the error counts them', async () => {
  const { emit, pass, world, state, shown, hire, ref } = await company();
  await hire('d', 'bad');
  emit({ snapshot: 'g', of: ['a', 'b', 'c', 'bad'] });
  await pass(HOUR_MS);
  const count = writes(world, (sent) => sent.includes('u-bad'));
  emit({ take: ['b', 'c'], from: 'g' });
  await pass(10 * MINUTE_MS);
  expect(shown('g')).toEqual([['u-a', 'u-b', 'u-bad', 'u-c']]);
  const kept = await state('g');
  expect(kept).toMatchObject({ lastError: { code: 'removals_refused' } });
  expect(kept?.lastError?.message).toMatch(/refuses to remove 2 members, who keep access/);
  expect(kept?.failedAtMs).toBeUndefined();
  expect(world.deadLetters).toEqual([]);
  const before = count();
  for (let hour = 1; hour <= 5; hour += 1) {
    await pass(HOUR_MS);
    expect(count() - before).toBeLessThanOrEqual(hour + 1);
    expect(count() - before).toBeGreaterThanOrEqual(hour - 1);
  }
  const { wakeAtMs = 0 } = (await state('g')) ?? {};
  world.advance(Math.max(0, wakeAtMs - world.nowMs()));
  expect(await applyGroup(ref('g'), world.toolPorts)).toMatchObject({ outcome: 'postponed' });

  writes(world, () => false);
  await pass(2 * HOUR_MS);
  expect(shown('g')).toEqual([['u-a', 'u-bad']]);
  expect(await state('g')).toMatchObject({ settled: 'in_sync' });
  expect(await state('g')).not.toHaveProperty('lastError');
});

it('no user is reported as refused if the platform refuses every write of the group', async () => {
  const { deliver, world, state, hire } = await company();
  await hire('d');
  await deliver({ snapshot: 'g', of: ['a'] });
  const count = writes(world, () => true);
  await deliver({ add: ['b', 'c', 'd'], to: 'g' });
  expect((await state('g'))?.counts).toMatchObject({ pending: 0 });
  // The read may have shown an earlier state, so apply makes all attempts again a minute later.
  expect(count()).toBeLessThanOrEqual(2 * 6);
  expect(world.deadLetters).toMatchObject([{ code: 'platform_rejected' }]);
  writes(world, () => false);
  world.advance(3_600_000);
  await deliver({ upsert: 'g' });
  expect(await state('g')).toMatchObject({ settled: 'in_sync', counts: { applied: 4 } });
});

it.each([503, 403, 302])(
  'an outage of two days causes few calls and no failed group, and afterwards every change is written (status %i)',
  async (status) => {
    const { deliver, emit, work, world, state, shown } = await company();
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    let tries = 0;
    world.platform.refusal = () => {
      tries += 1;
      return status;
    };
    emit({ add: ['c'], to: 'g' }, { take: ['a'], from: 'g' }, { snapshot: 'new', of: ['a'] });
    for (let hour = 0; hour < 48; hour += 1) {
      if (hour === 24) tries = 0;
      await work(12);
      world.advance(HOUR_MS);
    }
    // A wait is at most an hour, and jitter may halve it. So each of two groups has at most 48 attempts in 24 hours.
    expect(tries).toBeGreaterThanOrEqual(2 * 12);
    expect(tries).toBeLessThanOrEqual(2 * 48);
    for (const group of ['g', 'new']) {
      const waiting = await state(group);
      expect(waiting).toMatchObject({
        dirtySinceMs: expect.any(Number),
        lastError: { message: expect.any(String) },
      });
      expect(waiting?.failedAtMs).toBeUndefined();
    }
    expect(world.deadLetters).toEqual([]);

    world.platform.refusal = () => undefined;
    await deliver();
    expect(shown('g')).toEqual([['u-b', 'u-c']]);
    expect(shown('new')).toEqual([['u-a']]);
  },
);

it.each(['unavailable_before', 'lost_before'] as const)(
  'a group causes at most twelve calls per hour during an outage (%s)',
  async (fault) => {
    const { deliver, emit, work, world, troubles, shown } = await company();
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    const callsMs: number[] = [];
    troubles.platform = (call) => {
      if (call === 'me' || call === 'list') return 'none';
      callsMs.push(world.nowMs());
      return fault;
    };
    emit({ add: ['c'], to: 'g' });
    for (let minute = 0; minute < 6 * 60; minute += 1) {
      await work(2);
      world.advance(60_000);
    }
    const most = Math.max(
      ...callsMs.map((fromMs) => callsMs.filter((ms) => ms >= fromMs && ms < fromMs + HOUR_MS).length),
    );
    expect(most).toBeGreaterThan(4);
    expect(most).toBeLessThanOrEqual(12);
    troubles.platform = NO_FAULTS.platform;
    await deliver();
    expect(shown('g')).toEqual([['u-a', 'u-b', 'u-c']]);
  },
);

it.each([
  [[], 10, 10],
  [[0, 1, 2, 3, 4, 5], 10, 10],
  [[0, 1, 2, 3, 4, 5, 6], 10, HOUR_MS],
  [[0, 1, 2, 3, 4, 5, 6], 2 * HOUR_MS, 2 * HOUR_MS],
  [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 10, HOUR_MS + 3],
])(
  'a failed group with earlier calls at %j is tried when it is due and within the hourly limit of calls',
  (callsMs, dueMs, atMs) => {
    expect(affordableAtMs(dueMs, callsMs)).toBe(atMs);
  },
);

it('a creation that is answered with a redirect may have succeeded, so apply creates no second group', async () => {
  const { deliver, emit, work, world, shown } = await company();
  const { groups } = world.platform;
  world.platform.refusal = (spokeId) => {
    if (spokeId !== 'g') return undefined;
    world.platform.refusal = () => undefined;
    world.platform.addOurs({ name: 'Group g', spokeId: 'g', users: ['u-a'] });
    return 302;
  };
  emit({ snapshot: 'g', of: ['a'] });
  await work(5);
  await deliver();
  expect(groups.size).toBe(1);
  expect(shown('g')).toEqual([['u-a']]);
});

it('after a write and a failed read, the write stays in effect and the guard counts its removals', async () => {
  const guard = { minSize: 1, maxRemovedShare: 1, maxRemovedCount: 9, perHourCount: 2 };
  const { world, troubles, hire, deliver, emit, ref, state, shown } = await createTestEngine({
    settings: { guard },
    platform: { echoSpokeId: false },
  });
  await hire('a', 'b', 'c');
  await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] });
  // After the PATCH, apply lists the groups to learn whether the platform shows spokeIds.
  troubles.platform = (call) => (call === 'list' ? 'throttled' : 'none');
  emit({ take: ['a', 'b'], from: 'g' });
  await ingest(takeEvents(world), world.toolPorts);
  expect(await applyGroup(ref('g'), world.portsFor())).toMatchObject({ outcome: 'gate_closed' });
  expect(shown('g')).toEqual([['u-c']]);
  expect((await state('g'))?.intent).toMatchObject({ action: 'patch' });

  troubles.platform = NO_FAULTS.platform;
  await deliver();
  expect(await state('g')).not.toHaveProperty('intent');
  await deliver({ take: ['c'], from: 'g' });
  expect(shown('g')).toEqual([['u-c']]);
  expect(await state('g')).toMatchObject({ settled: 'held', hold: { rule: 'per_hour' } });
});

it.each([409, 412, 400])(
  'apply limits its attempts and keeps added users if another client writes before each attempt (status %i)',
  async (staleStatus) => {
    const engine = await createTestEngine({
      platform: { staleStatus: staleStatus as 409 },
      settings: { mode: 'additive' },
    });
    const { deliver, emit, work, world, state, ref, shown, troubles, hire } = engine;
    await hire('a', 'b');
    await deliver({ snapshot: 'g', of: ['a'] });
    world.advance(60_000);
    const { platform } = world;
    let guests = 0;
    troubles.platform = (call) => {
      if (call === 'patch' || call === 'put') {
        guests += 1;
        const [group] = platform.groups.values();
        platform.changeAsOther(group?.id ?? '', { users: [...(group?.users ?? []), `guest-${guests}`] });
      }
      return 'none';
    };
    emit({ add: ['b'], to: 'g' });
    await work(4);
    const tries = guests;
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThan(10);
    expect(await state('g')).toMatchObject({ attempts: 1, lastError: { code: 'conflicts' } });
    troubles.platform = NO_FAULTS.platform;
    world.advance(3_600_000);
    await deliver();
    const everybody = Array.from({ length: tries }, (_, index) => `guest-${index + 1}`);
    expect(shown('g')).toEqual([[...everybody, 'u-a', 'u-b'].sort()]);
    expect(await applyGroup(ref('g'), world.toolPorts)).toMatchObject({ outcome: 'nothing_to_do' });
  },
);

it('after groupsync writes a value twice, a later write of the same value by another client counts as external', async () => {
  const { world, troubles, deliver, shown, findChanges, driftKinds } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  const faults = [true];
  troubles.platform = (call) => (call === 'patch' && faults.pop() ? 'lost_before' : 'none');
  await deliver({ add: ['b'], to: 'g' });
  expect([shown('g'), faults]).toEqual([[['u-a', 'u-b']], []]);
  world.advance(2 * HOUR_MS);
  await deliver({ take: ['b'], from: 'g' });
  world.platform.changeAsOther([...world.platform.groups.keys()][0] ?? '', { users: ['u-a', 'u-b'] });
  await findChanges();
  expect(await driftKinds()).toEqual(['members_added']);
});

it('a change by another client during a long outage counts as external after failed writes of the same value', async () => {
  const { world, troubles, emit, work, pass, deliver, shown, findChanges, driftKinds } = await company();
  await deliver({ snapshot: 'g', of: ['a'] });
  troubles.platform = (call) => (call === 'patch' ? 'lost_before' : 'none');
  emit({ add: ['b'], to: 'g' });
  await work(12);
  emit({ take: ['b'], from: 'g' }, { add: ['c'], to: 'g' });
  await pass(6 * HOUR_MS);
  troubles.platform = NO_FAULTS.platform;
  world.platform.changeAsOther([...world.platform.groups.keys()][0] ?? '', { users: ['u-a', 'u-b'] });
  await findChanges();
  expect(shown('g')).toEqual([['u-a', 'u-c']]);
  expect(await driftKinds()).toEqual(['members_added']);
});
