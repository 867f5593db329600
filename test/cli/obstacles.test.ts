import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { added, createWorld, group, removed } from '../support/operate/world.ts';

const REASON = `GET /platform/api/me answered 401: ${'x'.repeat(300)}`;

/** A group with a change that waits, and a gate that the platform's refusal has closed. */
async function refusedWorld() {
  const world = createWorld({ guard: null });
  await world.save();
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

it('is why sync does not wait, and that is said', async () => {
  const ran = await (await refusedWorld()).cli('sync', 'g', '--yes');
  expect(ran.code).toBe(3);
  expect(ran.stdout).toMatch(/not waited for: .*unauthorized/);
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
