import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { GroupId } from '../../shared/domain/ids.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { guardLimits } from '../support/guard-limits.ts';
import { added, deleted, group, removed, savedWorld } from '../support/operate/world.ts';

let world: Awaited<ReturnType<typeof savedWorld>>;
let cwd: string;
const cli = (...args: string[]) => runCli(args, { ports: world.ports, cwd });
const read = (name: string) => readFileSync(join(cwd, 'out', name), 'utf8');
const linesOf = (name: string) => read(name).split('\n').slice(0, -1);
const accesses = () => linesOf('access.jsonl').map((line) => JSON.parse(line));

async function later(...events: Parameters<typeof world.publish>) {
  world.clock.ms += 3_600_000;
  await world.publish(...events);
  for (const id of ['g', 'h']) if (await world.ports.groups.read(world.refOf(id))) await world.apply(id);
}

beforeEach(async () => {
  world = await savedWorld();
  cwd = temporaryFolder();
  await world.hire('ann', 'bob', 'eve');
  await later(group('g', 'Blue'), added('g', 'ann'), added('g', 'bob'), group('h', 'Red'), added('h', 'eve'));
  await later(removed('g', 'ann'));
  world.clock.ms += 3_600_000;
});

it('evidence names each stay with its times, actors and reasons, and verify finds nothing to report', async () => {
  const made = await cli('evidence', '--all', '--since', '30d ago', '--file', 'out');
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('groupsync evidence verify out')]);
  expect(
    accesses().map(({ group: of, user, joined, left }) => [of, user, joined?.action, left?.action]),
  ).toEqual([
    ['g', 'u-ann', 'create', 'patch'],
    ['g', 'u-bob', 'create', undefined],
    ['h', 'u-eve', 'create', undefined],
  ]);
  const [ann] = accesses();
  expect(ann.left.because).toContain('the directory took them out of the group');
  expect(ann.left.because.split('; ')).not.toContain('');
  expect(Date.parse(ann.left.notBefore)).toBeLessThanOrEqual(Date.parse(ann.left.notAfter));
  expect(linesOf('access.csv')).toHaveLength(4);
  const checked = await cli('evidence', 'verify', 'out');
  expect([checked.code, checked.stdout]).toEqual([
    0,
    expect.stringContaining('no file and no entry was changed'),
  ]);
  expect(checked.stderr).toContain('proves nothing against');
});

it('verify names the file and the line of one changed byte, and an entry that is gone', async () => {
  await cli('evidence', 'g', '--file', 'out');
  for (const name of ['access.csv', 'access.jsonl', 'actions.csv', 'items.jsonl']) {
    const whole = read(name);
    if (whole === '') continue;
    const at = Math.floor(whole.length / 2);
    const line = whole.slice(0, at).split('\n').length;
    writeFileSync(join(cwd, 'out', name), `${whole.slice(0, at)}#${whole.slice(at + 1)}`);
    const { code, json } = await cli('evidence', 'verify', 'out', '--json');
    expect([code, json.changed]).toEqual([3, [{ file: name, line }]]);
    writeFileSync(join(cwd, 'out', name), whole);
  }
  writeFileSync(
    join(cwd, 'out', 'manifest.json'),
    read('manifest.json').replace('"until": "2', '"until": "1'),
  );
  const { json } = await cli('evidence', 'verify', 'out', '--json');
  expect(json.changed).toEqual([{ file: 'manifest.json', line: null }]);
  rmSync(join(cwd, 'out'), { recursive: true });
  const entries = world.table.under('G#default#g', 'A#');
  // Only the group's item names the latest entry.
  for (const item of [entries[0], entries.at(-1)]) {
    if (item !== undefined) await world.table.delete(item);
    await cli('evidence', 'g', '--file', 'out');
    const { code, stdout } = await cli('evidence', 'verify', 'out');
    expect([code, stdout]).toEqual([3, expect.stringMatching(/g: the entry of .* is missing/)]);
    rmSync(join(cwd, 'out'), { recursive: true });
    if (item !== undefined) await world.table.put(item);
  }
});

it('a stopped command goes on after the last finished group, and the result is the same', async () => {
  await cli('evidence', '--all', '--file', 'whole');
  const stop = new AbortController();
  const items = world.ports.audit.items;
  const audit = {
    ...world.ports.audit,
    items: (...args: Parameters<typeof items>) => {
      if (args[0].group === ('g' as GroupId)) stop.abort();
      return items(...args);
    },
  };
  const stopped = await runCli(['evidence', '--all', '--file', 'out'], {
    ports: { ...world.ports, audit },
    cwd,
    signal: stop.signal,
  });
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining('stopped after 2 of 3')]);
  writeFileSync(join(cwd, 'out', 'items.jsonl'), 'half a line', { flag: 'a' });
  expect((await cli('evidence', '--all', '--file', 'out')).code).toBe(0);
  expect(read('access.csv')).toBe(readFileSync(join(cwd, 'whole', 'access.csv'), 'utf8'));
  expect((await cli('evidence', 'verify', 'out')).code).toBe(0);
  const again = await cli('evidence', '--all', '--file', 'out');
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('expected an empty folder')]);
});

it('evidence shows that a person joined by another client, also in a group without a write in the period', async () => {
  const since = new Date(world.clock.ms).toISOString();
  world.clock.ms += 3_600_000;
  await world.changeAsOther('h', { users: ['u-bob', 'u-eve'] });
  world.clock.ms += 3_600_000;
  await cli('sync', 'h', '--yes', '--timeout', '1');
  await world.apply('h');
  world.clock.ms += 3_600_000;
  expect((await cli('evidence', 'h', '--since', since, '--file', 'out')).code).toBe(0);
  expect(accesses()).toMatchObject([
    { user: 'u-bob', joined: { action: 'external_change' }, left: { action: 'put' } },
    { user: 'u-eve', joined: null, left: null },
  ]);
  const [{ joined }] = accesses();
  expect([joined.notBefore < since, joined.notAfter > since]).toEqual([true, true]);
});

it('evidence names who approved each removal of very many, and the deletion of a group', async () => {
  const guard = guardLimits({ maxRemovedCount: 0, deletedGroups: 0, deletedGroupsShare: 0 });
  world = await savedWorld({ guard });
  // An entry of these removals is too large, so it does not name all of them.
  const many = Array.from({ length: 221 }, (_, n) => `${n}`.padEnd(350, 'p'));
  await world.hire(...many);
  await later(group('g', 'Blue'), added('g', ...many));
  const approve = async (...events: Parameters<typeof world.publish>) => {
    await later(...events);
    expect((await cli('holds', 'approve', 'g', '--reason', 'closed', '--yes')).code).toBe(0);
    await world.apply('g');
  };
  await approve(removed('g', ...many.slice(1)));
  await approve(deleted('g'));
  await cli('evidence', 'g', '--file', 'out');
  expect(accesses().map(({ left }) => `${left.actor} ${left.approvedBy}`)).toEqual(
    many.map(() => 'test local:tester'),
  );
  expect(accesses().at(-1).left.because).toContain('the directory deleted this group');
});

it('evidence of one person has only their stays, names who approved, and shows an erased person as erased', async () => {
  await world.hire('zed');
  await later(
    { type: 'group.member.added', data: { group: { id: 'h' }, members: [{ id: 'm-zed' }] } },
    { type: 'user.upserted', data: { user: { id: 'm-eve', 'scim:active': 'true' } } },
  );
  await cli('rebind', 'm-zed', 'r-zed', '--yes');
  await world.apply('h');
  await cli('forget', 'eve', '--yes');
  const made = await cli('evidence', '--member', 'bob', '--file', 'out');
  expect(made.code).toBe(0);
  expect(accesses().map(({ user }) => user)).toEqual(['u-bob']);
  rmSync(join(cwd, 'out'), { recursive: true });
  await cli('evidence', 'h', '--file', 'out');
  expect(accesses().map(({ user, name }) => [user, name])).toEqual([
    ['u-eve', 'erased'],
    ['u-zed', null],
  ]);
  for (const [args, message] of [
    [['evidence', '--file', 'x'], 'expected a group, --member or --all'],
    [['evidence', 'g', '--since', '2099-01-01', '--file', 'x'], 'expected a past time'],
  ] as const) {
    const { code, stderr } = await cli(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  const { code, stderr } = await cli('evidence', 'verify', 'nowhere');
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/with evidence of groupsync; .*nowhere.manifest.json does not exist/),
  ]);
});
