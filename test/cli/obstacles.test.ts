import { expect, it } from 'vitest';
import { groupKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import { ANSWER_PREFIX, PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { runCli } from '../support/cli/io.ts';
import { added, group, inSync, removed } from '../support/operate/world.ts';

const REASON = `GET /platform/api/me answered 401${ANSWER_PREFIX}${'x'.repeat(300)}`;

/** Creates a group with a waiting change, and a gate that closed because the platform refused calls. */
async function refusedWorld() {
  const world = await inSync(['ann', 'bob'], { guard: null });
  await world.hire('cid');
  await world.publish(removed('g', 'ann'), added('g', 'cid'));
  const { ports, connection } = world;
  const seen = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, seen, { state: 'unauthorized', reason: REASON, closings: 1 });
  return world;
}

it('status shows a closed gate first with the next step, and exits with 3', async () => {
  const { stdout, stderr, code } = await (await refusedWorld()).cli('status');
  expect(stdout).toMatch(/gate {8}unauthorized: .*\(GET \/platform\/api\/me answered 401, \w+: x+…\)\n/);
  expect(stderr).toMatch(/^next: groupsync connect default\n/);
  expect(code).toBe(3);
});

it('sync does not wait while the gate is closed, and prints the reason, the time of the next try and the next step', async () => {
  const { cli, ports, connection, clock } = await refusedWorld();
  const ran = await cli('sync', 'g', '--yes');
  expect(ran.code).toBe(3);
  expect(ran.stdout).toMatch(/stopped waiting: .*unauthorized/);
  expect(ran.stderr).toMatch(/next: groupsync connect default\n$/);
  const [seen, untilMs] = [await ports.gates.read(connection.name), clock.ms + 60_000];
  await ports.gates.write(connection.name, seen, { state: 'backoff', reason: REASON, untilMs, closings: 1 });
  const later = await cli('sync', 'g', '--yes');
  expect(later.stdout).toMatch(/stopped waiting: the gate is backoff: .*next try at 2026-11-20T10:01:00Z/);
  expect(later.stderr).toMatch(/next: groupsync doctor --faults\n$/);
});

it.each([
  ['reconcile', 'unauthorized', 'connect default'],
  ['people refresh', 'unauthorized', 'connect default'],
  ['people refresh --quiet', 'backoff', 'doctor --faults'],
  ['reconcile --sweep', 'open', 'doctor --faults'],
] as const)('%s fails if the gate is %s, and names reason and next command', async (line, state, next) => {
  const { ports, connection } = await refusedWorld();
  const seen = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, seen, { state, reason: REASON, closings: 1 });
  const run = () => Promise.reject(new FunctionFailed('the function failed: the gate is closed'));
  const ran = await runCli(line.split(' '), { ports: { ...ports, functions: { run } } });
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(`groupsync: the function failed: the gate is closed\nnext: groupsync ${next}\n`);
});

it('plan and sync report a platform failure without the body of the answer', async () => {
  const { ports, publish } = await refusedWorld();
  await publish(group('n', 'New'), added('n', 'ann'));
  const failing = new PlatformFailure('unavailable', 'GET /x answered 503: the platform failed', {});
  const broken = { ...ports, platforms: { open: () => Promise.reject(failing) } };
  const plan = await runCli(['plan', 'n'], { ports: broken });
  expect(plan.stderr).toMatch(/^groupsync: GET [^\n]*503[^\n]*\nnext: groupsync doctor --faults\n$/);
  const person = [{ sees: 'Sync 1 group?', types: 'y\r' }];
  const sync = await runCli(['sync', 'n'], { ports: broken, person });
  expect(sync.stderr).toContain('the effect cannot be planned: GET /x answered 503');
  expect(sync.stdout).toMatch(/stopped waiting: .*unauthorized/);
});

it('plan shows a change from the last known state if the platform does not answer', async () => {
  const { ports, publish } = await inSync(['ann', 'bob'], { guard: null });
  await publish(removed('g', 'ann'));
  const failing = new PlatformFailure('unavailable', 'GET /x answered 503', {});
  const broken = { ...ports, platforms: { open: () => Promise.reject(failing) } };
  const { stdout } = await runCli(['plan', 'g'], { ports: broken });
  expect(stdout).toContain('planned from the last known state: GET /x answered 503');
});

it('explain shows why a member is still in a platform group, or not in it yet, and the next step', async () => {
  const { cli, clock, deliver, ports, connection } = await refusedWorld();
  for (const [member, present] of [
    ['m-ann', true],
    ['m-cid', false],
  ] as const) {
    const { json } = await cli('explain', 'g', member, '--json');
    expect(json).toMatchObject({ present, decision: { outcome: 'gate_closed' } });
    expect(json.because).toContain('nothing is written while the gate is unauthorized');
  }
  const gate = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, gate, { state: 'open', closings: 0 });
  await deliver('g', added('g', 'stranger'));
  const { stdout, stderr } = await cli('explain', 'g', 'm-stranger');
  expect(stdout).toContain('decision  pending:unknown');
  expect(stderr).toContain('groupsync people refresh');
  const members = [{ id: 'm-bare' }];
  await deliver('g', { type: 'group.member.added', data: { group: { id: 'g' }, members } });
  clock.ms += 1_000;
  await deliver('g', { ...group('g'), actor: 'eve' });
  const bare = await cli('explain', 'g', 'm-bare');
  expect(bare.stdout).toMatch(/group\.upserted: .*\n.*, by eve\n/);
  expect(bare.stdout).toContain('no event gave the member an attribute that a match rule uses');
});

const NOTHING_FOUND = {
  ...{
    connection: 'default',
    eventsRead: 0,
    groupsTouched: 0,
    echoes: 0,
    drift: {},
    restored: 0,
    reported: 0,
  },
  ...{ adopted: 0, orphans: 0, missing: 0, unsearchedUsers: 0, reenqueued: 0, cursor: null, durationMs: 1 },
};

it('the command reconcile waits for the end of the run and reports its result', async () => {
  const { ports, connection, refOf } = await refusedWorld();
  const gate = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, gate, { state: 'open', closings: 0 });
  const found = { id: 'd', group: refOf('g').group, platformId: null, kind: 'members_added' } as const;
  const by = { before: null, after: ['u-eve'], initiator: 'ROLE', eventIds: [] } as const;
  const around = {
    ...ports,
    // The run only marks the group. Then apply writes the group, and the drift is recorded.
    sleep: async () => {
      await applyGroup(refOf('g'), ports);
      const times = { detectedAtMs: ports.clock(), settledAtMs: ports.clock() };
      await ports.drift.record(connection.name, { ...found, ...by, settledBy: 'restore', ...times });
    },
    functions: { run: async () => ({ reports: [{ ...NOTHING_FOUND, eventsRead: 3, groupsTouched: 1 }] }) },
  };
  const ran = await runCli(['reconcile'], { ports: around });
  expect(ran.stdout).toBe(
    '3 events of the feed read; 1 group checked; 1 restored; by others: 1 members_added\n',
  );
  expect(ran.stderr).toMatch(/next: groupsync log --action drift --since 10m\n$/);
  const again = await runCli(['reconcile', '--no-wait', '--json'], { ports: around });
  expect(again.json).toMatchObject({ eventsRead: 3, drift: {}, restored: 0 });
});

/** Creates a group whose write got no answer and may still take effect. The directory has reverted the change. */
async function uncertainWorld() {
  const world = await inSync(['ann'], { guard: null });
  await world.hire('bob');
  await world.publish(added('g', 'bob'));
  const { ports, refOf } = world;
  const state = await ports.groups.read(refOf('g'));
  if (state?.link === undefined) throw new Error('expected a linked group');
  const { id: platformId, version: versionBefore } = state.link;
  const intent = { id: 'i', action: 'patch', atMs: world.clock.ms, name: 'Group g', spokeId: 'g' } as const;
  const untilMs = world.clock.ms + 900_000;
  await world.publish(removed('g', 'bob'));
  const write = { ...intent, platformId, versionBefore };
  const uncertain = { write, sent: { name: ['Group g'], spokeId: ['g'] }, untilMs };
  await world.table.update(groupKey(refOf('g')), { set: { uncertain } });
  await world.apply('g');
  return { ...world, untilMs };
}

const WAITS = /waiting until \d\d:\d\d: the group is as wanted, but an earlier write may still change it/;

it('every command that shows a waiting group shows the reason and the end of the wait', async () => {
  const { cli, untilMs } = await uncertainWorld();
  for (const args of [
    ['status', 'g'],
    ['plan', 'g'],
    ['explain', 'g', 'm-ann'],
  ])
    expect((await cli(...args)).stdout, args[0]).toMatch(WAITS);
  expect((await cli('groups', '-o', 'wide')).stdout).toMatch(WAITS);
  const waiting = { until: new Date(untilMs).toISOString(), code: 'as_wanted' };
  expect((await cli('status', 'g', '--json')).json).toMatchObject({ state: 'dirty', waiting });
  expect((await cli('groups', '--json')).json.groups).toMatchObject([{ waiting }]);
  expect((await cli('plan', 'g', '--json')).json.plans).toMatchObject([{ action: 'none', waiting }]);
  expect((await cli('explain', 'g', 'm-ann', '--json')).json).toMatchObject({ waiting });
});

it('sync ends early with exit code 3 if the group waits longer than the timeout', async () => {
  const { cli, ports, clock, apply } = await uncertainWorld();
  const sleep = async (ms: number) => {
    clock.ms += ms;
    await apply('g');
  };
  const startMs = clock.ms;
  const ran = await runCli(['sync', 'g', '--yes', '--json'], { ports: { ...ports, sleep } });
  expect(ran).toMatchObject({ code: 3, json: { stopped: expect.stringMatching(WAITS) } });
  expect(clock.ms - startMs).toBeLessThan(10_000);
  expect((await cli('status')).code).toBe(0);
});

it('status shows the share of failing calls and their start, and exits with 3', async () => {
  const { cli, ports, connection, clock } = await refusedWorld();
  const endpoint = 'PATCH /platform/api/groups/{groupId}';
  const counts = { total: 4, failed: 3, sinceMs: clock.ms - 60_000, lastFailedMs: clock.ms };
  const failingCalls = [{ endpoint, ...counts, reason: '500' }];
  const seen = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, seen, { state: 'open', closings: 0, failingCalls });
  const { stdout, stderr, code } = await cli('status');
  expect(stdout).toContain(
    `calls       ${endpoint}: 3 of 4 calls (75 %) failed since 2026-11-20T09:59:00Z, the last with 500\n`,
  );
  expect(stderr).toContain('next: groupsync doctor --faults\n');
  expect(code).toBe(3);
  const since = '2026-11-20T09:59:00.000Z';
  expect((await cli('status', '--json')).json.failingCalls).toMatchObject([{ share: 0.75, since }]);
  clock.ms += 2 * 3_600_000;
  expect(await cli('status', '--json')).toMatchObject({ code: 0, json: { failingCalls: [] } });
});
