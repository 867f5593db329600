import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { added, employee, group, inSync, removed, savedWorld, sixInSync } from '../support/operate/world.ts';

it('members --at and diff show who was in a group, since when it is known, and who is uncertain', async () => {
  const world = await savedWorld();
  await world.hire('ann', 'bob', 'eve');
  const { cli } = world;
  const later = async (...events: Parameters<typeof world.publish>) => {
    world.clock.ms += 3_600_000;
    await world.deliver('g', ...events);
    return new Date(world.clock.ms + 60_000).toISOString();
  };
  const first = await later(group('g', 'Blue'), added('g', 'ann'), added('g', 'bob'));
  const second = await later(removed('g', 'ann'));
  const users = async (at: string) =>
    (await cli('members', 'g', '--at', at, '--json')).json.members.map(
      ({ user, states }: { user: string; states: string[] }) => `${user} ${states.join()}`,
    );
  expect(await users(first)).toEqual(['u-ann in', 'u-bob in']);
  expect(await users('1h ago')).toEqual(['u-ann in', 'u-bob in']);
  world.clock.ms += 7_200_000;
  await world.changeAsOther('g', { users: ['u-bob', 'u-eve'] });
  world.clock.ms += 3_600_000;
  await cli('sync', 'g', '--yes', '--timeout', '1');
  expect(await users('0s ago')).toEqual(['u-bob uncertain']);
  await world.apply('g');
  expect(await users(second)).toEqual(['u-bob in', 'u-eve uncertain']);
  const between = await cli('diff', 'Blue', '--from', first, '--to', second);
  expect(between.stdout).toMatch(/ann.*in → out/);
  for (const bad of ['soon', '2026-13-40', '2026-11-31']) {
    const { code, stderr } = await cli('members', 'g', '--at', bad);
    expect([code, stderr]).toEqual([2, expect.stringContaining('expected a time such as')]);
  }
  const future = await cli('members', 'g', '--at', '2099-01-01');
  expect([future.code, future.stderr]).toEqual([3, expect.stringContaining('expected a past time')]);
  for (const item of [...world.table.items.values()])
    if (item.sk.startsWith('A#')) await world.table.delete(item);
  const unknown = await cli('members', 'g', '--at', first);
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('not known')]);
});

it('members --at names the member of an employee who got a user id after the match', async () => {
  const world = await savedWorld();
  const { ports, connection, clock, cli } = world;
  const { userId, ...early } = employee('ann', 'ann@acme.test');
  await ports.people.save(connection.name, early, undefined);
  await world.deliver('g', group('g'), added('g', 'ann'));
  clock.ms += 3_600_000;
  const seen = (await ports.people.read(connection.name, [early.role])).get(early.role);
  await ports.people.save(connection.name, { ...early, userId }, seen);
  await cli('sync', 'g', '--yes', '--timeout', '1');
  await world.apply('g');
  clock.ms += 3_600_000;
  const { members } = (await cli('members', 'g', '--at', '1m ago', '--json')).json;
  expect(members).toMatchObject([{ user: userId, member: 'm-ann' }]);
});

it('members --at is uncertain since the last write if a change of another client is suspected, also before an entry whose worker died', async () => {
  const world = await inSync(['ann', 'bob']);
  const { cli } = world;
  world.clock.ms += 3_600_000;
  await world.changeAsOther('g', { users: ['u-bob'] });
  world.clock.ms += 3_600_000;
  const [entry] = await world.audit('g');
  const step = { before: 'x', after: 'y', sinceMs: world.clock.ms, users: [] };
  await world.ports.audit.record(world.refOf('g'), { ...entry, atMs: world.clock.ms, step } as never);
  world.clock.ms += 3_600_000;
  await cli('sync', 'g', '--yes', '--timeout', '1');
  const { json } = await cli('members', 'g', '--at', '90m ago', '--json');
  expect(json.members.map(({ states: [at] }: { states: string[] }) => at)).toEqual([
    'uncertain',
    'uncertain',
  ]);
});

it.each([false, true])(
  'before groupsync had the group (adopted: %s), members --at and diff say since when the members are known, and evidence begins there',
  async (isAdopted) => {
    const world = await savedWorld();
    const cwd = temporaryFolder();
    const cli = (...args: string[]) => runCli(args, { ports: world.ports, cwd });
    await world.hire('ann');
    const before = new Date(world.clock.ms).toISOString();
    if (isAdopted) world.platform.addForeign({ name: 'Blue', spokeId: 'g', users: ['u-ann'] });
    world.clock.ms += 3_600_000;
    const sinceMs = world.clock.ms;
    await world.deliver('g', group('g', 'Blue'), added('g', 'ann'));
    world.clock.ms += 3_600_000;
    for (const args of [
      ['members', 'g', '--at', before],
      ['diff', 'g', '--from', before],
    ]) {
      const { code, json, stderr } = await cli(...args, '--json');
      expect([code, json.known, json.members, stderr]).toEqual([
        3,
        false,
        [],
        expect.stringContaining('known since'),
      ]);
      expect(Math.abs(Date.parse(json.knownSince) - sinceMs)).toBeLessThan(60_000);
      expect((await cli('members', 'g', '--at', json.knownSince)).code).toBe(0);
    }
    await cli('evidence', 'g', '--since', before, '--file', 'out');
    const stay = JSON.parse(readFileSync(join(cwd, 'out', 'access.jsonl'), 'utf8'));
    expect([stay.user, stay.joined?.action]).toEqual(['u-ann', isAdopted ? undefined : 'create']);
  },
);

describe.each(['userId', 'id'] as const)('after a rebind, with memberIdField %s', (memberIdField) => {
  const u = (name: string) => `${memberIdField === 'id' ? 'r' : 'u'}-${name}`;
  async function six(mode: 'authoritative' | 'additive' = 'authoritative') {
    const world = await sixInSync({ guard: null, memberIdField, mode });
    await world.hire('zed');
    const cli = (...args: string[]) => world.cli(...args, '--yes');
    const later = () => {
      world.clock.ms += 3_600_000;
      const now = new Date(world.clock.ms).toISOString();
      world.clock.ms += 3_600_000;
      return now;
    };
    const change = async (groups: readonly string[], ...events: Parameters<typeof world.publish>) => {
      await world.publish(...events);
      for (const one of groups) await world.apply(one);
      return later();
    };
    const rebind = async (member: string, role: string, groups: readonly string[]) => {
      await cli('rebind', member, role);
      await change(groups);
    };
    const person = async (member: string, at: string, ...more: string[]) =>
      (await cli('person', member, '--at', at, '--json', ...more)).json.groups
        .map(({ group: id, user, state }: Record<string, string>) => `${id} ${user} ${state}`)
        .join(', ');
    const membersOf = async (id: string, at: string) =>
      (await cli('members', id, '--at', at, '--json')).json.members.map(
        ({ user, member }: Record<string, string>) => `${user} ${member}`,
      );
    return { ...world, cli, later, change, rebind, person, membersOf };
  }

  it('undo and export do not give access to the person who is bound now', async () => {
    const { cli, later, change, rebind, sent } = await six();
    const before = later();
    await change(['g'], removed('g', 'ann'));
    await rebind('m-ann', 'r-zed', ['g']);
    const exported = await cli('export', 'g', '--at', before);
    expect(exported.stdout).not.toContain('m-ann');
    expect(exported.stderr).toContain('left out of g: ');
    await cli('undo', 'g', '--to', before);
    expect(sent).toEqual([]);
  });

  it('a rebind that was corrected does not change the past', async () => {
    const { cli, change, rebind, person, membersOf } = await six();
    const then = await change(['h'], group('h'), added('h', 'bob'));
    await change(['h'], added('h', 'ann'));
    await rebind('m-ann', 'r-bob', ['g', 'h']);
    await rebind('m-ann', 'r-ann', ['g', 'h']);
    expect(await person('m-ann', then)).toBe(`g ${u('ann')} in`);
    expect(await person('m-bob', then)).toBe(`g ${u('bob')} in, h ${u('bob')} in`);
    const { stdout } = await cli('person', 'm-ann', '--at', '90d ago');
    expect(stdout).toMatch(/: in 0 groups, 2 not known$/m);
    expect(await membersOf('h', then)).toEqual([`${u('bob')} m-bob`]);
  });

  it('a second member of a person, bound later, does not hide the person', async () => {
    const { change, rebind, person, membersOf } = await six();
    const then = await change(['g'], added('g', 'zed'));
    await rebind('m-zed', 'r-bob', ['g']);
    expect(await person('m-bob', then)).toBe(`g ${u('bob')} in`);
    expect(await membersOf('g', then)).toContain(`${u('bob')} m-bob`);
  });

  it('--thorough finds a group in which only another client put the person', async () => {
    const { change, changeAsOther, later, person } = await six('additive');
    await change(['h'], group('h'), added('h', 'bob'));
    await changeAsOther('h', { users: [u('ann'), u('bob')] });
    await change(['h'], added('h', 'cid'));
    const then = later();
    expect(await person('m-ann', then)).toBe(`g ${u('ann')} in`);
    expect(await person('m-ann', then, '--thorough')).toBe(`g ${u('ann')} in, h ${u('ann')} in`);
  });
});
