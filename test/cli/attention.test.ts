import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { heldIn } from '../support/engine/test-engine.ts';
import { nativeEvent } from '../support/events.ts';
import { temporaryFile } from '../support/folder.ts';
import { added, group, removed, savedWorld, sixInSync } from '../support/operate/world.ts';

const LEAVERS = ['bob', 'cid', 'dee', 'eve'];

async function heldWorld() {
  const world = await sixInSync();
  await world.deliver('g', removed('g', ...LEAVERS));
  return world;
}

it('status exits with 0 if all is well, and with 3 if a hold waits for a decision', async () => {
  const well = await sixInSync();
  expect((await well.cli('status')).code).toBe(0);
  expect((await well.cli('status', 'g')).code).toBe(0);
  const queue = async () => ({ visible: 3, inFlight: 2, delayed: 1 }) as never;
  const ports = { ...well.ports, deployment: { ...well.ports.deployment, queue } };
  expect((await runCli(['status', '--json'], { ports })).json).toMatchObject({ queues: { events: 6 } });
  const held = await heldWorld();
  expect(await held.cli('status')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('next: groupsync holds'),
  });
  expect((await held.cli('status', 'g')).code).toBe(3);
});

it('holds show and plan name the limit that the removals exceed, and holds reject their share', async () => {
  const { cli } = await heldWorld();
  const limit = '67 % of the members; the limit is 50 % (guard.maxRemovedShare)';
  expect((await cli('holds', 'show', 'g')).stdout).toContain(`4 removals, 2 members would stay\n${limit}\n`);
  expect((await cli('plan', 'g')).stdout).toContain(
    `held by the guard until an operator approves: ${limit}\n`,
  );
  const { stderr } = await cli('holds', 'reject', 'g', '--reason', 'r', '--yes');
  expect(stderr).toContain(': 4 held removals (67 % of 6 members)');
  expect(stderr).not.toContain('would stay');
});

it('holds approve --member approves only the removals of the given members, and all other removals stay held', async () => {
  const { cli, ports, refOf } = await heldWorld();
  const approve = (...members: string[]) =>
    cli('holds', 'approve', 'g', ...members.flatMap((one) => ['--member', one]), '--reason', 'left', '--yes');
  const { code, stdout, stderr } = await approve('bob@acme.test', 'm-cid');
  expect({ code, stdout, stderr }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('approved'),
    stderr: expect.stringMatching(
      /: 2 of the 4 held removals \(33 % of 6 members\)\n[\s\S]*2 other removals stay held/,
    ),
  });
  expect(heldIn(await ports.groups.read(refOf('g')))).toMatchObject({
    hold: { removes: 2, decision: { kind: 'waiting' } },
    approval: { removes: 2, decision: { kind: 'approved' } },
  });
  expect((await cli('holds')).stderr.match(/next:/g)).toHaveLength(1);
  expect(await approve('unknown')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no removal of "unknown"'),
  });
});

const file = () => {
  const events = [{}, { connection: 'umbrella' }].map((more) =>
    nativeEvent(
      'group.upserted',
      { group: { id: 'n', name: 'New' } },
      { time: '2026-11-20T09:00:00Z', ...more },
    ),
  );
  return temporaryFile('e.jsonl', events.join('\n'));
};

it('events validate reports that connections were not checked if no deployment can be read', async () => {
  const validate = ['events', 'validate', file(), '--local-file', '/nowhere/local.json'];
  expect((await runCli(validate)).code).toBe(2);
  const { ports } = await savedWorld();
  const checked = await runCli(['events', 'validate', file()], { ports });
  expect(checked).toMatchObject({ code: 1, stdout: expect.stringContaining('umbrella') });
  const failing = {
    ...ports,
    connections: { ...ports.connections, find: () => Promise.reject(new Error('no')) },
  };
  const ran = await runCli(['events', 'validate', file()], { ports: failing });
  expect(ran.stderr).toContain('connection names were not checked');
});

it.each([
  ['gaurd', 'guard'],
  ['gaurd.minSize', 'guard.minSize'],
  ['minsize', 'guard.minSize'],
  ['memberidfield', 'memberIdField'],
])('for the unknown setting %s, the error suggests %s', async (typed, meant) => {
  const { cli } = await sixInSync();
  const { code, stderr } = await cli('connections', 'set', 'default', `${typed}=5`, '--yes');
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`; is it ${meant}?`) });
  expect(stderr).not.toContain('expected one of');
});

it('the preview of a setting counts only the changes that the setting causes', async () => {
  const { publish, cli } = await sixInSync();
  await publish(removed('g', 'bob'), group('h'), added('h', 'ann'));
  const set = (change: string) => cli('connections', 'set', 'default', change);
  expect((await set('mode=additive')).stderr).toContain(
    'after this change 0 of 2 groups would change: 0 added, 0 removed, 0 held',
  );
  expect((await set('includeStates=["HIRED"]')).stderr).toMatch(
    /Group g \(g\): .*\n {2}waits: ann@acme.test/,
  );
  const other = ['--connection', 'other', 'connections', 'set', 'default', 'includeStates=["HIRED"]'];
  expect((await cli(...other)).stderr).toMatch(/Group g \(g\): .*\n {2}waits: ann@acme.test/);
  expect((await set('groups.exclude=["g"]')).stderr).toContain(
    'after this change 1 of 2 groups would change: 0 added, 0 removed, 0 held; 1 planned change would not be made',
  );
});

it('an excluded member also leaves an additive group, and status counts the membership', async () => {
  const { apply, cli, clock, platform } = await sixInSync({ mode: 'additive' });
  await cli('connections', 'set', 'default', 'people.exclude=["email=bob@acme.test "]', '--yes');
  clock.ms += 60_000;
  await apply('g');
  const [{ users = [] } = {}] = platform.groups.values();
  expect([...users].sort()).toEqual(['u-ann', 'u-cid', 'u-dee', 'u-eve', 'u-fay']);
  expect((await cli('status')).stdout).toContain('excluded    1 membership (people.exclude)');
});

it('a table that is too wide for a pipe is printed as paragraphs and never cut', async () => {
  const world = await savedWorld();
  await world.hire('ann');
  const name = 'A group with a very long name, '.repeat(8).trim();
  await world.deliver('long', group('long', name), added('long', 'ann', 'zoe'));
  const { stdout } = await world.cli('members', 'long');
  const lines = stdout.split('\n').filter((line) => line.includes('─'));
  expect(Math.max(0, ...lines.map(({ length }) => length))).toBeLessThanOrEqual(200);
  expect(stdout).toContain(name);
});
