import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { added, deleted, group, removed, sixInSync } from '../support/operate/world.ts';

/** Creates a group `g` of six members in sync. A seventh member is unknown to the platform. */
async function mixedWorld() {
  const world = await sixInSync({ mode: 'additive' });
  await world.deliver('g', added('g', 'zoe'));
  world.clock.ms += 60_000;
  return world;
}

it('members shows whether each member is on the platform, with the user id and the reason', async () => {
  const { cli } = await mixedWorld();
  const { json, code } = await cli('members', 'Group g', '--json');
  expect(code).toBe(0);
  const rowOf = (member: string) => json.members.find((one: { member: string }) => one.member === member);
  expect(json.members).toHaveLength(7);
  expect(rowOf('m-ann')).toMatchObject({ user: 'u-ann', wanted: true, present: true, outcome: 'in_sync' });
  expect(rowOf('m-zoe')).toMatchObject({
    email: 'zoe@acme.test',
    user: null,
    wanted: true,
    present: false,
    outcome: 'pending:unknown',
    because: expect.stringContaining('no employee has this value'),
  });
  const { stdout, stderr } = await cli('members', 'g');
  expect(stdout).toContain('Group g (g): 7 people, 6 on the platform');
  expect(stderr).toContain('next: groupsync explain g m-zoe');
});

it('import --group restores one group from a file of all groups', async () => {
  const { publish, ports, clock, sent } = await sixInSync({ guard: null });
  await publish(group('h', 'Other'), added('h', 'ann'));
  const cwd = temporaryFolder();
  const run = (...args: string[]) => runCli(args, { ports, cwd });
  await run('export', '--all', '--file', 'all.csv');
  clock.ms += 60_000;
  await publish(removed('g', 'bob', 'cid'), removed('h', 'ann'));
  clock.ms += 60_000;
  const restored = await run('import', 'all.csv', '--group', 'group g', '--as-of', 'now', '--yes');
  expect(restored).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('1 row of other groups skipped'),
  });
  expect(sent.map(({ body }) => JSON.parse(body).data.group)).toEqual([{ id: 'g', name: 'Group g' }]);
});

it('export writes groups without members and groups whose name looks like a spreadsheet formula', async () => {
  const { publish, ports, clock } = await sixInSync();
  await publish(group('e', '=1+1'), group('q', 'A "b", c'), group('x'), deleted('x'));
  clock.ms += 60_000;
  const cwd = temporaryFolder();
  const run = (...args: string[]) => runCli(args, { ports, cwd });
  const exported = await run('export', '--all', '--file', 'all.csv');
  expect(exported.stderr).toContain('1 group skipped');
  expect(readFileSync(join(cwd, 'all.csv'), 'utf8')).toContain(`\n"e","'=1+1","",""\n`);
  const { json } = await run('import', 'all.csv', '--as-of', 'now', '--dry-run', '--json');
  expect(json).toMatchObject({
    groups: 3,
    comparison: { added: 0, removed: 0, renamed: [], changedSince: [] },
  });
});

it('export refuses a missing group argument and a deleted group', async () => {
  const { cli, publish } = await sixInSync();
  await publish(group('x'), deleted('x'));
  expect((await cli('export')).code).toBe(2);
  expect((await cli('export', 'g', '--all')).code).toBe(2);
  expect(await cli('export', 'x')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing to export'),
  });
});
