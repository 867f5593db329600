import { expect, it } from 'vitest';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import { PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { runCli } from '../support/cli/io.ts';
import { added, group, removed, savedWorld } from '../support/operate/world.ts';

const REASON = `GET /platform/api/me answered 401: ${'x'.repeat(300)}`;

/** A group with a change that waits, and a gate that the platform's refusal has closed. */
async function refusedWorld() {
  const world = await savedWorld({ guard: null });
  await world.hire('ann', 'bob', 'cid');
  await world.publish(group('g', 'Blue'), added('g', 'ann', 'bob'));
  await world.apply('g');
  await world.publish(removed('g', 'ann'), added('g', 'cid'));
  const { ports, connection } = world;
  const seen = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, seen, { state: 'unauthorized', reason: REASON, closings: 1 });
  return { ...world, cli: (...args: string[]) => runCli(args, { ports }) };
}

it('is what status says first, in a line that fits, with what to do, and by its exit code', async () => {
  const { stdout, stderr, code } = await (await refusedWorld()).cli('status');
  expect(stdout).toMatch(/gate {8}unauthorized: .*\(GET \/platform\/api\/me answered 401: x+…\)\n/);
  expect(stderr).toMatch(/^next: groupsync connect default\n/);
  expect(code).toBe(3);
});

it('is why sync does not wait, and that is said, with its end and what to do', async () => {
  const { cli, ports, connection, clock } = await refusedWorld();
  const ran = await cli('sync', 'g', '--yes');
  expect(ran.code).toBe(3);
  expect(ran.stdout).toMatch(/not waited for: .*unauthorized/);
  expect(ran.stderr).toMatch(/next: groupsync connect default\n$/);
  const [seen, untilMs] = [await ports.gates.read(connection.name), clock.ms + 60_000];
  await ports.gates.write(connection.name, seen, { state: 'backoff', reason: REASON, untilMs, closings: 1 });
  const later = await cli('sync', 'g', '--yes');
  expect(later.stdout).toMatch(/not waited for: the gate is backoff: .*next try at 2026-11-20T10:01:00Z/);
  expect(later.stderr).toMatch(/next: groupsync doctor --faults\n$/);
});

it.each([
  ['reconcile', 'unauthorized', 'connect default'],
  ['people refresh', 'unauthorized', 'connect default'],
  ['people refresh --quiet', 'backoff', 'doctor --faults'],
  ['reconcile --sweep', 'open', 'doctor --faults'],
] as const)(
  'is why %s fails where the gate is %s, and the next command is named',
  async (line, state, next) => {
    const { ports, connection } = await refusedWorld();
    const seen = await ports.gates.read(connection.name);
    await ports.gates.write(connection.name, seen, { state, reason: REASON, closings: 1 });
    const run = () => Promise.reject(new FunctionFailed('the function failed: the gate is closed'));
    const ran = await runCli(line.split(' '), { ports: { ...ports, functions: { run } } });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(
      `groupsync: the function failed: the gate is closed\nnext: groupsync ${next}\n`,
    );
  },
);

it('is no raw answer of the platform where a plan or a sync asks it', async () => {
  const { ports, publish } = await refusedWorld();
  await publish(group('n', 'New'), added('n', 'ann'));
  const failing = new PlatformFailure('unavailable', 'GET /x answered 503: the platform failed', {});
  const broken = { ...ports, platforms: { open: () => Promise.reject(failing) } };
  const plan = await runCli(['plan', 'n'], { ports: broken });
  expect(plan.stderr).toMatch(/^groupsync: GET [^\n]*503[^\n]*\nnext: groupsync doctor --faults\n$/);
  const person = [{ sees: 'Sync 1 group?', types: 'y\r' }];
  const sync = await runCli(['sync', 'n'], { ports: broken, person });
  expect(sync.stderr).toContain('what would change cannot be said: GET /x answered 503');
  expect(sync.stdout).toMatch(/not waited for: .*unauthorized/);
});

it('is the answer to why somebody is still in a group, or not yet', async () => {
  const { cli } = await refusedWorld();
  for (const [member, present] of [
    ['m-ann', true],
    ['m-cid', false],
  ] as const) {
    const { json } = await cli('explain', 'g', member, '--json');
    expect(json).toMatchObject({ present, decision: { outcome: 'gate_closed' } });
    expect(json.because).toContain('nothing is written while the gate is unauthorized');
  }
});

it('explains what a person can do about a member whom nobody knows', async () => {
  const { cli, publish, apply, ports, connection } = await refusedWorld();
  const gate = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, gate, { state: 'open', closings: 0 });
  await publish(added('g', 'stranger'));
  await apply('g');
  const { stdout, stderr } = await cli('explain', 'g', 'm-stranger');
  expect(stdout).toContain('decision  pending:unknown');
  expect(stderr).toContain('groupsync people refresh');
});

it('of a reconcile is waited for: it tells in words what its own run found', async () => {
  const { ports, connection, refOf } = await refusedWorld();
  const gate = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, gate, { state: 'open', closings: 0 });
  const found = { id: 'd', group: refOf('g').group, platformId: null, kind: 'members_added' } as const;
  const by = { before: null, after: ['u-eve'], initiator: 'ROLE', eventIds: [], policy: 'restore' } as const;
  const around = {
    ...ports,
    // Apply does its part after the run.
    sleep: async () => {
      await applyGroup(refOf('g'), ports);
      const times = { detectedAtMs: ports.clock(), settledAtMs: ports.clock() };
      await ports.drift.record(connection.name, { ...found, ...by, settledBy: 'restore', ...times });
    },
    functions: {
      run: async () => ({
        reports: [{ connection: 'default', eventsRead: 3, groupsTouched: 1, drift: {}, restored: 0 }],
      }),
    },
  };
  const ran = await runCli(['reconcile'], { ports: around });
  expect(ran.stdout).toBe(
    '3 events of the feed read; 1 group touched; 1 restored; by others: 1 members_added\n',
  );
  expect(ran.stderr).toMatch(/next: groupsync drift --since 10m\n$/);
  const again = await runCli(['reconcile', '--no-wait', '--json'], { ports: around });
  expect(again.json).toMatchObject({ eventsRead: 3, drift: {}, restored: 0 });
});
