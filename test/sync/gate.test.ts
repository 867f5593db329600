import { describe, expect, it } from 'vitest';
import { REOPENED_GATE } from '../../shared/domain/gate.ts';
import { groupId } from '../../shared/domain/ids.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import { groupKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { countSuccess, reportToGate } from '../../shared/sync/gate.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { type Platform, PlatformFailure, type Platforms } from '../../shared/sync/ports/platform.ts';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import type { CallFault } from '../support/engine/platform.ts';
import { createTestEngine, twice } from '../support/engine/test-engine.ts';
import { CONNECTION, MINUTE_MS, NO_FAULTS, type Ports, takeEvents } from '../support/engine/world.ts';

async function company() {
  const engine = await createTestEngine();
  await engine.hire('a', 'b');
  const always = (fault: CallFault) => {
    engine.troubles.platform = () => fault;
  };
  const gate = () => engine.world.toolPorts.gates.read(CONNECTION);
  /** Runs the requeue job each minute. The platform refuses groups, and answers `/me`. */
  const staysClosed = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      engine.world.advance(MINUTE_MS);
      expect((await requeueDue(CONNECTION, engine.world.portsFor())).gate).toBe('unauthorized');
    }
  };
  const staysOpen = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await engine.work(5);
      expect((await gate()).state).toBe('open');
      engine.world.advance(MINUTE_MS);
    }
  };
  return { ...engine, always, gate, staysClosed, staysOpen, heal: () => always('none') };
}

/** Returns a company with these groups, which have the user a. */
async function companyWith(...names: readonly string[]) {
  const engine = await company();
  await engine.deliver(...names.map((snapshot) => ({ snapshot, of: ['a'] })));
  return engine;
}

const withGroupCalls = (platform: Platform, call: () => Promise<never>): Platform => ({
  ...platform,
  groups: Object.fromEntries(Object.keys(platform.groups).map((name) => [name, call])) as never,
});

it('the gate closes after a 401, the group keeps its number of attempts, and the gate opens after the secret changes', async () => {
  const { emit, work, always, heal, gate, world, state, shown, audit } = await company();
  always('unauthorized');
  emit({ snapshot: 'g', of: ['a'] });
  await work(20);
  expect(await gate()).toMatchObject({ state: 'unauthorized', secretVersion: 'secret-1' });
  expect(world.applyQueue.messages).toEqual([]);
  const { platform } = world;
  const waiting = await state('g');
  expect(waiting).toMatchObject({ attempts: 0, dirtySinceMs: expect.any(Number) });
  emit({ add: ['b'], to: 'g' });
  await work(5);
  expect((await state('g'))?.rev).toBeGreaterThan(waiting?.rev ?? 0);

  heal();
  platform.secretVersion = 'secret-2';
  world.advance(MINUTE_MS);
  expect(await requeueDue(CONNECTION, world.toolPorts)).toMatchObject({ gate: 'open', reenqueued: 1 });
  await work(20);
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  const cause = expect.stringContaining('401');
  expect(await audit('')).toMatchObject([
    { action: 'gate_open', actor: { kind: 'groupsync' }, changes: [{ before: 'unauthorized' }], cause },
    { action: 'gate_close', changes: [{ before: 'open', after: 'unauthorized' }], cause },
  ]);
});

it('the record of failing calls gets the time of the next success when a group is written', async () => {
  const { world, gate, emit, work, shown } = await company();
  const endpoint = 'PATCH /platform/api/groups/{groupId}';
  const lastFailedMs = world.nowMs();
  const failing = { endpoint, sinceMs: 1, total: 1, failed: 1, lastFailedMs, reason: '500' };
  const seen = await gate();
  await world.toolPorts.gates.write(CONNECTION, seen, { ...seen, failingCalls: [failing] });
  expect((await gate()).failingCalls).toEqual([failing]);
  emit({ snapshot: 'g', of: ['a'] });
  await work(20);
  expect(shown('g')).toEqual([['u-a']]);
  const [after] = (await gate()).failingCalls ?? [];
  expect(after?.lastGoodMs).toBeGreaterThan(lastFailedMs);
});

it('the gate stays open if the table is so slow that apply sends no call', async () => {
  const { emit, work, world, ref, gate, state } = await company();
  emit(...[...'ghijk'].map((snapshot) => ({ snapshot, of: ['a'] })));
  await work(1);
  const effect = async (kind: string) => kind === 'update GROUP' && world.advance(6_000);
  for (const group of 'ghijk') await applyGroup(ref(group), world.portsFor({ effect } as never));
  expect([await gate(), await state('k')]).toMatchObject([{ state: 'open' }, { attempts: 1 }]);
});

it.each([403, 504] as const)('the gate stays open if just one group gets the answer %i', async (status) => {
  const { world, deliver, work, emit, gate, state, shown } = await companyWith('g', 'h');
  world.platform.refusal = (spokeId) => (spokeId === 'g' ? status : undefined);
  emit({ add: ['b'], to: 'g' }, { add: ['b'], to: 'h' });
  await work(30);
  expect((await gate()).state).toBe('open');
  expect(shown('h')).toEqual([['u-a', 'u-b']]);
  expect((await state('g'))?.attempts).toBeGreaterThan(0);
  world.platform.refusal = () => undefined;
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
});

it('the gate closes if every group answers 404 and the list answers 401, although /me succeeds', async () => {
  const { world, emit, work, gate, troubles } = await companyWith('g', 'h');
  world.advance(60 * MINUTE_MS);
  world.platform.hidden = () => true;
  troubles.platform = (call) => (call === 'list' ? 'unauthorized' : 'none');
  emit({ add: ['b'], to: 'g' });
  await work(5);
  expect(await gate()).toMatchObject({ state: 'unauthorized' });
});

it.each([
  ['another managed group too', false],
  ['all groups, even if a stored item is invalid', true],
])(
  'the gate closes if the platform answers 403 for %s, and opens when a group is readable',
  async (_, isInvalid) => {
    const { world, deliver, work, emit, gate, staysClosed, shown, troubles, ref } = await companyWith(
      'a1',
      'g',
      'h',
    );
    if (isInvalid) await world.table.update(groupKey(ref('a1')), { set: { attempts: 'many' } });
    troubles.platform = (call) => (call === 'me' ? 'none' : 'forbidden');
    emit({ add: ['b'], to: 'g' });
    await work(3);
    expect(await gate()).toMatchObject({ state: 'unauthorized' });
    await staysClosed(30);
    troubles.platform = NO_FAULTS.platform;
    await deliver();
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    expect((await gate()).state).toBe('open');
  },
);

it.each([
  ['two of three groups answer 403, even if the probe reads one of these two groups', 'gh', 'none', []],
  ['one group and the list answer 403, because another managed group is readable', 'g', 'forbidden', []],
  ['only the list answers 403, and groups that do not need the list are written', '', 'forbidden', ['new']],
] as const)('the gate stays open if %s', async (_, refused, list, created) => {
  const { world, deliver, emit, staysOpen, shown, troubles } = await companyWith('g', 'h', 'i');
  world.platform.forbidden = (id) => refused.includes(world.platform.groups.get(id)?.spokeId ?? 'none');
  troubles.platform = (call) => (call === 'list' ? list : 'none');
  emit(
    ...['g', 'h', 'i'].map((to) => ({ add: ['b'], to })),
    ...created.map((snapshot) => ({ snapshot, of: ['a'] })),
  );
  await staysOpen(10);
  expect(shown('i')).toEqual([['u-a', 'u-b']]);
  expect(shown('new')).toEqual([]);
  world.platform.forbidden = () => false;
  troubles.platform = NO_FAULTS.platform;
  await deliver();
  expect(['g', 'h'].map(shown)).toEqual([[['u-a', 'u-b']], [['u-a', 'u-b']]]);
  expect(created.map(shown)).toEqual(created.map(() => [['u-a']]));
});

it.each([
  ['with managed groups', ['g', 'h']],
  ['before the first managed group exists', []],
])('the gate stays closed while groups answer 401, although /me succeeds (%s)', async (_, before) => {
  const { deliver, work, emit, gate, staysClosed, shown, troubles } = await companyWith(...before);
  let met = 0;
  troubles.platform = (call) => {
    if (call === 'me') return 'none' as const;
    met += 1;
    return 'unauthorized' as const;
  };
  emit({ snapshot: 'g', of: ['a', 'b'] });
  await work(3);
  expect(await gate()).toMatchObject({ state: 'unauthorized' });
  met = 0;
  await staysClosed(60);
  // Every ten minutes, the requeue job probes the platform with one fetch and one list.
  expect(met).toBeLessThanOrEqual(12);
  troubles.platform = NO_FAULTS.platform;
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect((await gate()).state).toBe('open');
});

it('the gate closes if a POST and the list answer 404, and opens when the list is readable', async () => {
  const { world, deliver, work, emit, gate, shown } = await company();
  world.platform.refusal = () => 404;
  world.platform.listing = () => 404;
  emit({ snapshot: 'g', of: ['a'] });
  await work(5);
  expect(await gate()).toMatchObject({ state: 'backoff' });
  world.advance(MINUTE_MS);
  await work(5);
  expect((await gate()).state).toBe('backoff');
  world.platform.refusal = () => undefined;
  world.platform.listing = () => undefined;
  await deliver();
  expect(shown('g')).toEqual([['u-a']]);
});

it('the gate limits Retry-After to between 1 second and 15 minutes, and doubles its own waits up to an hour', async () => {
  const { world, ref, gate, emit } = await company();
  emit({ upsert: 'g' });
  for (const [retryAfterMs, waitMs] of [
    [1_795_212_000_000, 15 * MINUTE_MS],
    [0, 1_000],
  ] as const) {
    const throttled = async () => {
      throw new PlatformFailure('throttled', 'slow down', { status: 429, retryAfterMs });
    };
    const open: Platforms['open'] = async (connection) =>
      withGroupCalls(await world.toolPorts.platforms.open(connection), throttled);
    if (waitMs > 1_000) await ingest(takeEvents(world), world.toolPorts);
    await applyGroup(ref('g'), { ...world.toolPorts, platforms: { open } });
    expect((await gate()).untilMs).toBe(world.nowMs() + waitMs);
    world.advance(waitMs - 1);
    expect((await requeueDue(CONNECTION, world.toolPorts)).gate).toBe('backoff');
    world.advance(1);
    expect((await requeueDue(CONNECTION, world.toolPorts)).gate).toBe('open');
  }
  world.platform.begin('throttles', 1, ['600']);
  for (const minutes of [10, 20, 40, 60, 60]) {
    await applyGroup(ref('g'), world.toolPorts);
    expect((await gate()).untilMs).toBe(world.nowMs() + minutes * MINUTE_MS);
    world.advance(minutes * MINUTE_MS);
    await requeueDue(CONNECTION, world.toolPorts);
  }
});

it('the gate closes if the secret belongs to another company', async () => {
  const { world, ref, deliver, gate } = await company();
  await deliver({ upsert: 'g' });
  const { toolPorts } = world;
  const connection = await world.connection();
  await toolPorts.connections.save({ ...connection, company: 'another' });
  await toolPorts.desired.markDirty(ref('g'), dirtyNow(toolPorts));
  expect(await applyGroup(ref('g'), toolPorts)).toMatchObject({ outcome: 'gate_closed' });
  const closed = await gate();
  expect(closed).toMatchObject({ state: 'unauthorized', reason: expect.stringMatching(/^wrong_company/) });
  await reportToGate(connection, new PlatformFailure('throttled', 'a late answer', {}), toolPorts);
  expect(await gate()).toEqual(closed);
  world.advance(20 * MINUTE_MS);
  await requeueDue(CONNECTION, toolPorts);
  expect(await gate()).toMatchObject({ sinceMs: closed.sinceMs, closings: closed.closings + 1 });
});

it('an operator can pause or resume the gate only from the state that the operator saw', async () => {
  const { audit, world, gate } = await company();
  const { toolPorts } = world;
  const resume = (seen?: Parameters<typeof resumeConnection>[2]) =>
    resumeConnection(CONNECTION, toolPorts, seen);
  const seen = { gate: await gate(), observing: false };
  await pauseConnection(CONNECTION, 'Ann: a migration', toolPorts, seen.gate);
  await expect(resume(seen)).rejects.toThrow(/another operator paused it \(.*Ann: a migration\) meanwhile/);
  await expect(pauseConnection(CONNECTION, 'Bob: no', toolPorts, seen.gate)).rejects.toThrow(
    'Ann: a migration',
  );
  expect(await gate()).toMatchObject({
    state: 'paused',
    reason: expect.stringContaining('Ann: a migration'),
  });
  const paused = { ...seen, gate: await gate() };
  await resume(paused);
  await resume(paused);
  world.advance(1);
  await pauseConnection(CONNECTION, 'Ann: a migration', toolPorts);
  await expect(resume(paused)).rejects.toThrow('another operator paused it');
  const connection = await world.connection();
  await toolPorts.connections.save({ ...connection, observing: true });
  const now = { ...seen, gate: await gate() };
  await expect(resume(now)).rejects.toThrow('set it to observe');
  expect((await requeueDue(CONNECTION, toolPorts)).gate).toBe('paused');
  expect(await resume({ ...now, observing: true })).toBe(true);
  expect(await toolPorts.connections.current(CONNECTION)).toMatchObject({ observing: false });
  expect((await audit('')).filter(({ actor }) => actor.kind === 'groupsync')).toEqual([]);
  // The platform fails in the meantime. The pause still takes effect, because no other operator has changed the gate.
  await toolPorts.gates.write(CONNECTION, await gate(), { state: 'backoff', closings: 1 });
  await pauseConnection(CONNECTION, 'Ann: again', toolPorts, seen.gate);
  expect(await gate()).toMatchObject({ state: 'paused', reason: expect.stringContaining('Ann: again') });
});

describe.each([
  ['feed', 'activity', (ports: Ports, one: Connection) => followFeed(one, ports, Number.MAX_SAFE_INTEGER)],
  ['sweep', 'list', (ports: Ports, one: Connection) => sweep(one, ports)],
  ['people', 'employees', (ports: Ports, one: Connection) => refreshPeople(one, ports)],
] as const)('gate and a job that reads the platform (%s)', (_, route, run) => {
  async function reading() {
    const engine = await company();
    const { world, troubles } = engine;
    await engine.deliver({ snapshot: 'g', of: ['a'] });
    const connection = await world.connection();
    const calls: string[] = [];
    let fault: (call: string) => CallFault = () => 'none';
    troubles.platform = (call) => {
      calls.push(call);
      return fault(call);
    };
    const outcome = async () => {
      const done = await run(world.portsFor(), connection).catch((error: unknown) => error);
      return done instanceof Error ? done : (done as { failure?: unknown }).failure;
    };
    return {
      ...engine,
      calls,
      outcome,
      meets: (at: string, what: CallFault) => {
        fault = (call) => (call === at || at === 'all' ? what : 'none');
      },
    };
  }

  it('a job that reads the platform closes the gate after a 429, and sends no call while the gate is closed', async () => {
    const { world, meets, outcome, calls, gate, emit, state, ref } = await reading();
    meets(route, 'throttled');
    expect(await outcome()).toBeInstanceOf(PlatformFailure);
    expect(await gate()).toMatchObject({ state: 'backoff', untilMs: expect.any(Number) });
    meets('all', 'none');
    calls.length = 0;
    expect(await outcome()).toMatchObject({ kind: 'throttled', message: expect.stringMatching('blocked') });
    emit({ add: ['b'], to: 'g' });
    await ingest(takeEvents(world), world.toolPorts);
    expect(await applyGroup(ref('g'), world.toolPorts)).toMatchObject({ outcome: 'gate_closed' });
    expect(calls).toEqual([]);
    expect((await state('g'))?.dirtySinceMs).toBeDefined();
    world.advance(MINUTE_MS);
    await requeueDue(CONNECTION, world.toolPorts);
    expect(await outcome()).toBeUndefined();
  });

  it('a job that reads the platform closes the gate if the read and /me answer 401, and sends no further call', async () => {
    const { meets, outcome, calls, gate } = await reading();
    meets('all', 'unauthorized');
    expect(await outcome()).toMatchObject({ kind: 'unauthorized' });
    expect(await gate()).toMatchObject({ state: 'unauthorized', secretVersion: 'secret-1' });
    calls.length = 0;
    expect(await outcome()).toMatchObject({ kind: 'unauthorized' });
    expect(calls).toEqual([]);
  });

  it('a job that reads the platform fails and blocks no write if only its own route answers 401, 403 or 503', async () => {
    const { calls, meets, outcome, gate, deliver, shown } = await reading();
    for (const fault of ['unauthorized', 'forbidden', 'unavailable_before'] as const) {
      meets(route, fault);
      expect(await outcome()).toBeInstanceOf(PlatformFailure);
      expect((await gate()).state).toBe('open');
    }
    // Only a refused call about groups causes the fetch of another group.
    expect(calls.includes('get')).toBe(route === 'list');
    await deliver({ add: ['b'], to: 'g' });
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
  });

  it('a job that reads the platform continues while an operator has paused writes, and does not open the gate', async () => {
    const { world, meets, outcome, gate } = await reading();
    await pauseConnection(CONNECTION, 'a migration', world.toolPorts);
    expect(await outcome()).toBeUndefined();
    meets(route, 'throttled');
    expect(await outcome()).toMatchObject({ kind: 'throttled' });
    expect(await gate()).toMatchObject({ state: 'paused', reason: 'operator: a migration' });
  });
});

it.each([
  [{ state: 'unauthorized', closings: 1, failing: [groupId('g')] }, {}],
  [{ ...REOPENED_GATE, failing: [groupId('g')] }, { failing: undefined }],
] as const)(
  'the success of a group ends only the count of failing groups in the gate %j',
  async (seen, ended) => {
    const { world, gate } = await company();
    await world.toolPorts.gates.write(CONNECTION, await gate(), seen);
    await countSuccess(CONNECTION, seen, world.toolPorts);
    expect(await gate()).toEqual({ ...seen, ...ended, change: expect.any(Number) });
  },
);

const NAMES = Array.from({ length: 12 }, (_, index) => `g${index + 1}`);

async function companyOfTwelve() {
  const engine = await companyWith(...NAMES);
  const { platform } = engine.world;
  const tries: string[] = [];
  const refuse = (isRefused: (spokeId: string) => boolean) => {
    platform.refusal = (spokeId) => {
      tries.push(spokeId ?? '');
      return isRefused(spokeId ?? '') ? 503 : undefined;
    };
  };
  const changeAll = () => engine.emit(...NAMES.map((to) => ({ add: ['b'], to })));
  return { ...engine, tries, refuse, changeAll };
}

it('the gate closes after failures of many groups although /me succeeds, and opens after one group succeeds', async () => {
  const { world, work, deliver, gate, tries, refuse, changeAll, shown } = await companyOfTwelve();
  refuse(() => true);
  changeAll();
  await work(30);
  expect(await gate()).toMatchObject({
    state: 'backoff',
    reason: expect.stringContaining('refused with 503'),
  });
  tries.length = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    world.advance(MINUTE_MS);
    await work(3);
    expect((await gate()).state).toBe('backoff');
  }
  // apply tries different groups, one at a time, and fewer than one group per minute.
  expect(tries.length).toBeGreaterThan(5);
  expect(tries.length).toBeLessThanOrEqual(20);
  expect(new Set(tries).size).toBe(Math.min(tries.length, NAMES.length));

  refuse(() => false);
  world.advance(10 * MINUTE_MS);
  await work(40);
  expect((await gate()).state).toBe('open');
  expect(NAMES.map(shown)).toEqual(NAMES.map(() => [['u-a', 'u-b']]));
  await deliver();
  expect(await gate()).not.toHaveProperty('failing');
});

it.each([400, 409, 422])(
  'a closed gate opens if the platform refuses only the content of the next group (status %i)',
  async (status) => {
    const { world, work, gate, refuse, changeAll } = await companyOfTwelve();
    refuse(() => true);
    changeAll();
    await work(30);
    expect(await gate()).toMatchObject({ state: 'backoff' });
    world.platform.refusal = () => status;
    world.advance(10 * MINUTE_MS);
    const triedMs = world.nowMs();
    await work(10);
    const sinceMs = expect.toSatisfy((ms: number) => ms >= triedMs);
    expect(await gate()).toMatchObject({ state: 'open', sinceMs });
  },
);

it('a gate that failing groups closed lets another group in at each try, and opens if only paused groups wait', async () => {
  const { world, work, gate, refuse, changeAll, ref } = await companyOfTwelve();
  refuse(() => true);
  changeAll();
  await work(30);
  const tried: unknown[] = [];
  for (let at = 0; at < 3; at += 1) {
    world.advance(60 * MINUTE_MS);
    await requeueDue(CONNECTION, world.toolPorts);
    tried.push((await gate()).canary);
  }
  expect(new Set(tried).size).toBe(3);
  for (const name of NAMES) await pauseGroup(ref(name), world.toolPorts);
  world.advance(10 * MINUTE_MS);
  expect(await requeueDue(CONNECTION, world.toolPorts)).toMatchObject({ gate: 'open' });
});

it('failing groups do not close the gate while other groups succeed between the failures', async () => {
  const { work, gate, refuse, changeAll, shown, emit } = await companyOfTwelve();
  const broken = NAMES.slice(0, 4);
  refuse((spokeId) => broken.includes(spokeId));
  for (let day = 0; day < 3; day += 1) {
    changeAll();
    await work(40);
    emit({ take: ['b'], from: 'g12' });
    await work(10);
    expect((await gate()).state).toBe('open');
  }
  expect(shown('g5')).toEqual([['u-a', 'u-b']]);
});

it('a change of a healthy group is written within 15 minutes, although many other groups fail', async () => {
  const { world, work, gate, refuse, emit, shown, ref } = await companyOfTwelve();
  const broken = NAMES.slice(0, 11);
  refuse((spokeId) => broken.includes(spokeId));
  await pauseGroup(ref('g7'), world.toolPorts);
  emit(...broken.map((to) => ({ add: ['b'], to })));
  await work(30);
  expect((await gate()).state).toBe('backoff');
  emit({ add: ['b'], to: 'g12' });
  await work(2);
  for (let minute = 0; minute < 15; minute += 1) {
    world.advance(MINUTE_MS);
    await work(4);
  }
  expect(shown('g12')).toEqual([['u-a', 'u-b']]);
});

it('an operator can resume a group only from the pause that the operator saw, and learns of a move that prevents it', async () => {
  const { world, ref, state } = await companyWith('g');
  const groups = { ...world.toolPorts.groups, pause: async () => false };
  await expect(pauseGroup(ref('g'), { ...world.toolPorts, groups })).rejects.toThrow('nothing was changed');
  await pauseGroup(ref('g'), world.toolPorts);
  const seen = (await state('g'))?.pausedAtMs;
  await resumeGroup(ref('g'), world.toolPorts);
  world.advance(1);
  await pauseGroup(ref('g'), world.toolPorts, 'Ann');
  await expect(resumeGroup(ref('g'), world.toolPorts, seen)).rejects.toThrow('another operator');
  expect(await state('g')).toMatchObject({ pausedAtMs: expect.any(Number) });
  expect(await resumeGroup(ref('g'), world.toolPorts, (await state('g'))?.pausedAtMs)).toBe(true);
});

it('after an operator resumes a paused group, one write contains all waiting changes', async () => {
  const { world, ref, deliver, shown } = await companyWith('g');
  expect(await pauseGroup(ref('g'), world.toolPorts)).toBe(true);
  await deliver({ add: ['b'], to: 'g' });
  await deliver({ upsert: 'g', name: 'Other' });
  expect(shown('g')).toEqual([['u-a']]);
  const { groups } = world.toolPorts;
  expect(
    await resumeGroup(ref('g'), {
      ...world.toolPorts,
      groups: { ...groups, resume: twice(groups.resume) },
    }),
  ).toBe(true);
  await deliver();
  expect(shown('g')).toEqual([['u-a', 'u-b']]);
  expect(world.platform.writes.map(({ action }) => action)).toEqual(['create', 'patch']);
  expect(await resumeGroup(ref('g'), world.toolPorts)).toBe(false);
  expect(await pauseGroup(ref('unheard-of'), world.toolPorts)).toBe(false);
});
