import { expect, it } from 'vitest';
import { blockOf } from '../../shared/domain/block.ts';
import { memberId, platformUserId } from '../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { AT_WORK_MS } from '../../shared/domain/wake-up.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import { runCli } from '../support/cli/io.ts';
import { asking } from '../support/console/asking.ts';
import { added, deleted, employee, portsAs, removed, sixInSync } from '../support/operate/world.ts';

const WHY = ['--reason', 'account taken over', '--yes', '--no-wait'];

/** A company with a group of six members, with commands that block people. */
async function company(...given: Parameters<typeof sixInSync>) {
  const world = await sixInSync(...given);
  const { platform, ports, cli, apply } = world;
  const users = () =>
    [...([...platform.groups.values()][0]?.users ?? [])].map((user) => user.slice(2)).sort();
  const set = async (key: string, value: unknown) =>
    changeSettings(await planSettings(world.connection.name, [{ key, value }], ports), ports);
  return {
    ...world,
    users,
    set,
    as: (by: string, ...args: string[]) => runCli(args, { ports: portsAs(by, ports) }),
    async block(person: string) {
      const ran = await cli('block', person, ...WHY, '--json');
      await apply('g');
      return ran;
    },
    async change(...events: Parameters<typeof world.publish>) {
      world.clock.ms += 60_000;
      await world.publish(...events);
      return apply('g');
    },
  };
}

it('one id of a blocked person is enough, and the ids of another person are not blocked', () => {
  const block = { members: ['m'], roles: ['r'], users: ['u'] } as never;
  const blocked = [{ member: 'm' }, { role: 'r' }, { userId: 'u' }, { member: 'r', role: 'u', userId: 'm' }];
  expect(blocked.map((ids) => blockOf([block], ids as never))).toEqual([block, block, block, undefined]);
});

const OTHERS = ['bob', 'cid', 'dee', 'eve', 'fay'];

it.each(['m-ann', 'ann@acme.test', 'r-ann', 'u-ann'])(
  'a block takes out the person named as %s, and keeps this person out whatever the source sends',
  async (person) => {
    const { block, users, change, cli, clock, ports, connection } = await company();
    const ids = { members: ['m-ann'], roles: ['r-ann'], users: ['u-ann'] };
    expect(await block(person)).toMatchObject({
      code: 0,
      json: { outcome: 'blocked', block: ids, groups: [{ group: 'g', outcome: 'removing' }] },
    });
    expect(users()).toEqual(OTHERS);
    await change(removed('g', 'ann'), added('g', 'zed'));
    const member = { id: 'other-id', email: 'ann@acme.test' };
    await change(added('g', 'ann'), {
      type: 'group.member.added',
      data: { group: { id: 'g' }, members: [member] },
    });
    expect(users()).toEqual(OTHERS);
    clock.ms += 60_000;
    expect((await block(person)).json).toMatchObject({ outcome: 'already_blocked' });
    const twice = await cli('block', person, ...WHY);
    expect(twice.stdout).toMatch(
      /^nothing changed: already blocked by local:tester at .*: account taken over/,
    );
    for (const command of [
      'status',
      'explain g m-ann',
      'explain g other-id',
      'person m-ann',
      'explain g u-ann',
    ])
      expect((await cli(...command.split(' '))).stdout, command).toContain('blocked by local:tester at');
    expect((await asking(ports, connection.name)('home')).unmatched).toMatchObject([
      { person: { id: 'm-zed' } },
    ]);
    const { entries } = (await cli('log', '--action', 'block', '--json')).json;
    expect(entries).toMatchObject([
      { actor: { id: 'local:tester' }, reason: 'account taken over', member: 'm-ann' },
    ]);
    const write = (await cli('log', '--group', 'g', '--json')).json.entries.findLast(
      ({ action }: { action: string }) => action === 'patch',
    );
    const why = 'an operator blocked this person';
    expect(write).toMatchObject({ cause: why, changes: [{ member: 'm-ann', reason: why }] });
  },
);

it('a block passes the guard for the blocked person only, also if a hold already contains the person', async () => {
  const { block, users, change, cli } = await company();
  await change(removed('g', 'ann', 'bob', 'cid', 'dee'));
  expect(users()).toHaveLength(6);
  await block('ann@acme.test');
  expect(users()).toEqual(OTHERS);
  expect((await cli('log', '--group', 'g', '--json')).json.entries.at(-1)).toMatchObject({
    cause: 'an operator blocked this person',
    changes: [{ member: 'm-ann' }],
  });
  expect((await cli('holds', '--json')).json.holds).toMatchObject([{ group: 'g' }]);
  await cli('holds', 'reject', 'g', '--reason', 'a mistake', '--yes');
  await block('bob@acme.test');
  expect(users()).toEqual(['cid', 'dee', 'eve', 'fay']);
});

const DELETE = { onGroupDeleted: 'delete', guard: { deletedGroups: 0, deletedGroupsShare: 0 } };
it.each([
  ['the directory never wanted the person, in the mode additive', { mode: 'additive' }, 'zed', []],
  ['the deletion of the group is held', DELETE, 'ann', [deleted('g')]],
  ['the release of the group is held', { onGroupDeleted: 'release' }, 'ann', [deleted('g')]],
] as const)('a block removes the person if %s', async (_, settings, person, events) => {
  const { block, users, change, platform, cli, apply, clock, hire } = await company(settings as never);
  await hire('zed');
  const [id = '', { users: shown = [] } = {}] = [...platform.groups][0] ?? [];
  platform.changeAsOther(id, { users: [...new Set([...shown, platformUserId(`u-${person}`)])] });
  clock.ms += 61_000;
  await cli('sync', 'g', '--timeout', '1', '--yes');
  await apply('g');
  await change(...events);
  expect(users()).toContain(person);
  await block(`r-${person}`);
  expect(users()).toEqual(['ann', ...OTHERS].filter((one) => one !== person));
});

it.each([
  ['pause g --no-wait --yes', 'the group is paused'],
  ['pause --reason r --no-wait --yes', 'nothing is written while the gate is paused'],
  ['connections set default groups.policies=[{"match":"*","mode":"report"}] --yes', 'mode report'],
  ['release g --no-wait --yes', 'released'],
])('after %s, a block shows the removal as waiting and exits with 3', async (command, because) => {
  const { block, users, cli } = await company();
  await cli(...command.split(' '));
  const waiting = { group: 'g', outcome: 'waiting', because: expect.stringContaining(because) };
  expect(await block('ann@acme.test')).toMatchObject({ code: 3, json: { groups: [waiting] } });
  expect(users()).toHaveLength(6);
  if (!command.startsWith('release'))
    expect((await cli('explain', 'g', 'm-ann', '--json')).json.decision).toMatchObject({
      outcome: 'waiting',
    });
});

it('a block stays after rebind, an erasure and a new binding, and blocks an id that appears before its employee', async () => {
  const { block, users, change, cli, clock, platform, connection, ports, apply, hire } = await company();
  await change(added('g', 'zoe'));
  await block('m-zoe');
  const member = { id: 'second-id', email: 'zoe@acme.test' };
  await change({ type: 'group.member.added', data: { group: { id: 'g' }, members: [member] } });
  platform.employees = ['zoe', 'ann', ...OTHERS].map((name) => ({
    role: `r-${name}`,
    userId: `u-${name}`,
    email: `${name}@acme.test`,
  }));
  const current = async () => (await ports.connections.current(connection.name)) ?? connection;
  await refreshPeople(await current(), ports as never);
  const extended = await current();
  clock.ms += 60_000;
  await refreshPeople(extended, ports as never);
  expect(await current()).toEqual(extended);
  await apply('g');
  expect(users()).toHaveLength(6);
  await block('ann@acme.test');
  await hire('new');
  await cli('rebind', 'm-ann', 'r-new', '--yes');
  const forgotten = await cli('forget', 'm-ann', '--yes');
  expect(forgotten.stdout).toMatch(/^forgotten: m-ann\n {2}attributes: \d+\n {2}scim resources: 0\n/);
  await change(added('g', 'ann'));
  expect(users()).toEqual(OTHERS);
  await cli('rebind', 'm-ann', 'r-ann', '--yes');
  await cli('unblock', 'm-ann', '--yes');
  await change(added('g', 'ann'));
  expect(users()).toHaveLength(6);
});

it('a block does not cover another person who gets one of the two roles of the blocked person', async () => {
  const { block, users, platform, connection, ports, apply } = await company();
  const refresh = async (...roles: readonly (readonly [string, string])[]) => {
    platform.employees = [...roles, ...OTHERS.map((name) => [name, name] as const)].map(([role, name]) => ({
      role: `r-${role}`,
      userId: `u-${name}`,
      email: `${name}@acme.test`,
    }));
    const current = (await ports.connections.current(connection.name)) ?? connection;
    await refreshPeople(current, ports as never);
  };
  await refresh(['ann', 'ann'], ['second', 'ann']);
  await block('ann@acme.test');
  await refresh(['ann', 'bob'], ['second', 'ann']);
  await refresh(['ann', 'bob'], ['second', 'ann']);
  await apply('g');
  const [found] = (await ports.connections.current(connection.name))?.blocks ?? [];
  expect(found).toMatchObject({ members: ['m-ann'], users: ['u-ann'] });
  expect(users()).toEqual(OTHERS);
});

it('unblock ends the blocks of a member and of the employee that the member matches, and no other block', async () => {
  const { block, cli, hire, change, users, set, as, ports, connection } = await company();
  await change(added('g', 'zoe', 'yan'));
  await block('m-zoe');
  await block('m-yan');
  await hire('zoe');
  await block('r-zoe');
  await set('fourEyes', true);
  await as('Bob', 'unblock', 'm-zoe', '--yes');
  await as('Eve', 'connections', 'confirm', 'default', '--yes');
  const left = (await ports.connections.current(connection.name))?.blocks;
  expect(left).toMatchObject([{ members: ['m-yan'], roles: [], users: [] }]);
  expect((await cli('unblock', 'm-zoe', '--yes')).stdout).toBe(
    'nothing changed: this person is not blocked\n',
  );
  await change(added('g', 'zoe'));
  expect(users()).toHaveLength(7);
});

it('a block of an unknown or ambiguous person is refused, with the persons who may be meant', async () => {
  const { cli, connection, ports } = await company();
  const { code, stderr } = await cli('block', 'anm@acme.test', ...WHY);
  expect(code).toBe(1);
  expect(stderr).toContain('is it ann@acme.test (m-ann)');
  await ports.people.save(connection.name, employee('other', 'ann@acme.test'), undefined);
  expect((await cli('block', 'ann@acme.test', ...WHY)).stderr).toContain('r-ann (ACTIVE), r-other (ACTIVE)');
  await cli('rebind', 'm-bob', 'r-cid', '--yes');
  expect((await cli('block', 'bob@acme.test', ...WHY)).stderr).toContain('m-bob of the employee r-cid');
});

it('a reason of more than 1,000 characters, and the block of a 201st person, are refused', async () => {
  const { cli, block, ports, connection } = await company();
  const reason = 'r'.repeat(1_001);
  expect((await cli('block', 'm-ann', '--reason', reason, '--yes')).stderr).toContain('at most 1000 char');
  const others = { members: [], roles: [], by: '', atMs: 0, reason: '' };
  const blocks = Array.from({ length: 200 }, (_, index) => ({ ...others, users: [`u-${index}`] }));
  await ports.connections.save({ ...connection, blocks });
  expect((await block('m-ann')).stderr).toContain('200 blocked people, the maximum');
  const known = { ...others, users: [], members: [memberId('m-ann')], unblock: { by: 'Bob', atMs: 0 } };
  await ports.connections.save({ ...connection, blocks: [known, ...blocks.slice(1)] });
  expect(await block('m-ann')).toMatchObject({ code: 0 });
});

it('with four eyes, unblock waits for another person', async () => {
  const { block, users, set, as, apply, change } = await company();
  await set('fourEyes', true);
  await block('ann@acme.test');
  for (const by of ['Bob', 'Eve'])
    expect((await as(by, 'unblock', 'm-ann', '--yes')).stdout).toContain('Bob has asked to unblock');
  expect(await as('Bob', 'connections', 'confirm', 'default', '--yes')).toMatchObject({ code: 1 });
  await as('Eve', 'connections', 'confirm', 'default', '--reject', '--yes');
  expect((await as('Eve', 'connections', 'confirm', 'default', '--yes')).stdout).toBe(
    'no pending requests\n',
  );
  await change(added('g', 'ann'));
  expect(users()).toEqual(OTHERS);
  await as('Bob', 'unblock', 'm-ann', '--yes');
  const confirmed = await as('Eve', 'connections', 'confirm', 'default', '--yes', '--json');
  expect(confirmed.json).toMatchObject({
    outcome: 'confirmed',
    requests: [{ key: 'unblock' }],
    replanned: 1,
  });
  await apply('g');
  await change(added('g', 'ann'));
  expect(users()).toContain('ann');
});

it('with four eyes, a second block ends the request to unblock the person', async () => {
  const { block, set, as, ports, connection } = await company();
  await set('fourEyes', true);
  await block('ann@acme.test');
  await as('Bob', 'unblock', 'm-ann', '--yes');
  expect((await block('m-ann')).stdout).toContain('blocked');
  const { blocks = [] } = (await ports.connections.current(connection.name)) ?? {};
  expect(blocks).toMatchObject([{ members: ['m-ann'] }]);
  expect(rowsOf({ ...connection, blocks })).toEqual([]);
});

it('a group that the directory deleted is released without the blocked person', async () => {
  const settings = { onGroupDeleted: 'release', guard: { maxRemovedShare: 1 } } as never;
  const { block, cli, change, users, apply, ports, refOf } = await company(settings);
  await cli('pause', 'g', '--no-wait', '--yes');
  await block('m-ann');
  await change(deleted('g'));
  await cli('resume', 'g', '--no-wait', '--yes');
  await apply('g');
  await apply('g');
  expect(users()).toEqual([]);
  expect((await ports.groups.read(refOf('g')))?.link).toBeUndefined();
});

it('after a block, a group with an interrupted write, which may have added the person, is not out', async () => {
  const { cli, hire, ports, publish, refOf, users, apply, clock } = await company();
  await hire('zed');
  await publish(added('g', 'zed'));
  const record = () => Promise.reject(new Error('the worker stops'));
  const stopped = { ...ports, audit: { ...ports.audit, record } };
  await expect(applyGroup(refOf('g'), stopped)).rejects.toThrow('the worker stops');
  expect(users()).toContain('zed');
  expect((await cli('block', 'r-zed', ...WHY, '--json')).json.groups).toMatchObject([
    { group: 'g', outcome: 'removing' },
  ]);
  clock.ms += AT_WORK_MS;
  await apply('g');
  expect(users()).not.toContain('zed');
});

it('explains a block of an employee that no event names', async () => {
  const { block, cli, hire } = await company();
  await hire('gus');
  expect(await block('r-gus')).toMatchObject({ code: 0, json: { block: { members: [] }, groups: [] } });
  expect((await cli('explain', 'g', 'gus@acme.test')).stdout).toContain('blocked by local:tester');
});

it('events send names the groups of a SCIM client, and exits with 3', async () => {
  const { ports, connection } = await company();
  const times = { createdMs: 1, modifiedMs: 1, changedMs: 1, listedAt: STAMP_ZERO };
  const kept = {
    state: 'live',
    settled: true,
    version: 1,
    writes: new Map(),
    replacements: new Map(),
  } as const;
  const resource = { type: 'Group', id: 's', attributes: { displayName: 'S' }, revision: 1 } as const;
  await ports.scim.save(connection.name, { ...resource, ...times, ...kept }, undefined);
  const send = (id: string) => {
    const event = { specversion: '1.0', id: 'e', source: 'hr', time: new Date(ports.clock()).toISOString() };
    const [type, data] = ['directory.group.deleted', { group: { id } }];
    return runCli(['events', 'send', '-'], { ports, stdin: JSON.stringify({ ...event, type, data }) });
  };
  const noEffect = expect.stringMatching(/group s .*SCIM client.*no effect/);
  expect(await send('s')).toMatchObject({ code: 3, stderr: noEffect });
  expect(await send('g')).toMatchObject({ code: 0, stderr: '' });
});
