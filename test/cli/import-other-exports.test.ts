import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { ACTIVE_ATTRIBUTE } from '../../shared/domain/active.ts';
import { memberId } from '../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { type Bytes, importing, snapshot } from '../support/cli/importing.ts';
import { added, group } from '../support/operate/world.ts';

const HEADER = 'group id,group name,member id,email';
const ONE = [snapshot('c1', 'One', ['m1', 'eva@acme.test'])];
const EVA = [snapshot('00g1', 'Sales', ['eva@acme.test', 'eva@acme.test'])];

it.each<[string, Bytes, ReturnType<typeof snapshot>[]]>([
  [
    'JumpCloud, where users have a name next to their address',
    'group_name,group_id,username,email\nSales,5f1b,eek,eva@acme.test\n',
    [snapshot('5f1b', 'Sales', ['eva@acme.test', 'eva@acme.test'])],
  ],
  ['OneLogin, whose column of users has names', 'Group,User,Email\nSales,Eva Ek,eva@acme.test\n', EVA],
  [
    'PingOne',
    'user.id,user.username,user.email,group.id,group.name\nu-1,eek,eva@acme.test,g-1,Ops\n',
    [snapshot('g-1', 'Ops', ['u-1', 'eva@acme.test'])],
  ],
  ['Google with the address of an account', 'Group Name,Primary Email Address\nSales,eva@acme.test\n', EVA],
  ['Workday, with the address for work', 'Group Name,Email - Primary Work\nSales,eva@acme.test\n', EVA],
  ['Outlook, with names before addresses', 'Group,Email\nSales,Eva Ek <eva@acme.test>\n', EVA],
  ['a page with invisible signs around addresses', 'Group,Email\nSales,\u200beva@acme.test\u200f\n', EVA],
  ['a page with links for addresses', 'Group,Email\nSales,mailto:eva@acme.test\n', EVA],
  [
    'a program that puts spaces before quotes',
    '"group id", "group name", "member id"\n"c1", "One", "m1"\n',
    [snapshot('c1', 'One', ['m1'])],
  ],
  ['multi-line notes', `${HEADER},note\r\nc1,One,m1,eva@acme.test,"first\r\nsecond, ""third"""\r\n`, ONE],
])('import reads the file of %s', async (_, content, expected) => {
  const { snapshots } = await importing();
  expect(await snapshots(content)).toEqual(expected);
});

it('spellings of a name or an unknown address that differ only in case and spaces count as one', async () => {
  const { snapshots } = await importing();
  const csv =
    'Group,Email\nNew one,Eva@acme.test\nSALES,Eva@acme.test\nSales,eva@ACME.test\nnew  ONE ,eva@acme.test\n';
  expect(await snapshots(csv)).toEqual([
    snapshot('00g1', 'Sales', ['Eva@acme.test', 'Eva@acme.test']),
    snapshot('New one', 'New one', ['Eva@acme.test', 'Eva@acme.test']),
  ]);
  expect(await snapshots(csv, '--group', 'NEW one')).toContainEqual(
    snapshot('NEW one', 'NEW one', ['Eva@acme.test', 'Eva@acme.test']),
  );
});

it.each([
  ['a workbook', Buffer.from('504b0304140006000800', 'hex'), /expected CSV, got an Excel workbook/],
  ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /expected CSV, got an Excel workbook/],
  ['a compressed file', Buffer.from('1f8b0800', 'hex'), /expected CSV, got a compressed file/],
  ['JSON', '[{"group":"Sales","member":"eva"}]\n', /expected CSV, got JSON/],
  ['a web page', '<!DOCTYPE html>\n<html></html>\n', /expected CSV, got a web page/],
  ['addresses in one field', 'Group,Member\nSales,"eva@acme.test;ann@acme.test"\n', /line 2: expected/],
  [
    'names of people where ids or addresses should be',
    'Group,Member\nSales,Eva Ek\n',
    /line 2: .*"Eva Ek", .*a name/,
  ],
  ['no person', 'Group,Type,Email\nSales,Group,eva@acme.test\n', /expected rows of people, got 1 row/],
  ['a total at the end', 'Group,Email\nSales,eva@acme.test\nTotal: 1,\n', /line 3: .*member, got nothing/],
  ['columns below a title, where more are needed', 'Report\n\nTeam,Person\na,b\n', /--skip-lines/],
])('import refuses %s, and names the expected content', async (_, content, expected) => {
  const { cli } = await importing();
  const { code, stdout, stderr } = await cli(content, '--dry-run');
  expect(code).toBeGreaterThan(0);
  expect(stdout + stderr).toMatch(expected);
});

it('import detects semicolons below a title line', async () => {
  const { snapshots } = await importing();
  const csv = '\ufeffMembers for group Sales\r\nEmail address;Nickname\r\neva@acme.test;Eva\r\n';
  expect(await snapshots(csv, '--skip-lines', '1', '--group', 'Sales')).toEqual(EVA);
});

it('the columns are read, excluded people are counted, and other columns are not read', async () => {
  const { cli, snapshots, ports, connection } = await importing();
  const settings = parseSettings({
    ...connection.settings,
    match: ['employeeNumber=employeeNumber'],
    people: { exclude: ['type=guest', 'custom.Cost centre=x'] },
  });
  await ports.connections.save({ ...connection, settings });
  const csv =
    'Group,Email,User type,Employee number,Department\nNew,a@b.test,Guest,7,Ops\nNew,c@b.test,,8,Ops\n';
  const shown = await cli(csv, '--dry-run');
  expect(shown.stdout).toContain('1 added (+), 0 removed');
  expect(shown.stdout).toContain('1 excluded (people.exclude)');
  expect(shown.stdout).toContain('columns not read: Department');
  const leaves = await cli('Group,Email,User type\nSales,ann@acme.test,Guest\n', '--dry-run');
  expect(leaves.stdout).toContain('− ann@acme.test (m-ann) in Sales (00g1)');
  expect(leaves.stdout).toMatch(/0 added \(\+\), 1 removed \(−\)\n1 excluded/);
  expect((await snapshots(csv))[0]).toMatchObject({
    members: [
      { id: 'a@b.test', type: 'Guest', employeeNumber: '7' },
      { id: 'c@b.test', type: '', employeeNumber: '8' },
    ],
  });
});

const joined = (to: string, id: string) => ({
  type: 'group.member.added',
  data: { group: { id: to }, members: [{ id, email: 'ben@acme.test' }] },
});
const csv = 'Group,Email\nEvents,ben@acme.test\nClient,ben@acme.test\nNew,ben@acme.test\nNew,eva@acme.test\n';

it('import uses the live member if another member with the address was deleted', async () => {
  const { snapshots, publish, clock, ports, connection, deliver } = await importing();
  await deliver('00g1', joined('00g1', 'm-ben'));
  await publish({ type: 'user.deleted', data: { user: { id: 'm-ben' } } });
  const stamp = makeStamp({ time: new Date(clock.ms + 1).toISOString(), id: 'erased', source: 'scim' });
  const erased = { email: { value: '', stamp }, [ACTIVE_ATTRIBUTE]: { value: 'false', stamp } };
  const change = {
    user: memberId('m-ben'),
    attributes: new Map(Object.entries(erased)),
    deleted: STAMP_ZERO,
  };
  await ports.users.join(connection.name, [change]);
  clock.ms += 1_000;
  await deliver('00g1', joined('00g1', 'm-ben-2'));
  clock.ms += 1_000;
  expect(await snapshots('Group,Email\nSales,ben@acme.test\nNew,ben@acme.test\n')).toEqual([
    snapshot('00g1', 'Sales', ['m-ben-2']),
    snapshot('New', 'New', ['m-ben-2']),
  ]);
});

it('import uses the member of the source of the group, and otherwise refuses only the line', async () => {
  const { cli, sent, publish, apply, ports, connection } = await importing();
  await publish(group('g-events', 'Events'), group('g-client', 'Client'));
  await publish(joined('00g1', 'm-ben'), joined('00g1', 's-ben'));
  const times = { createdMs: 1, modifiedMs: 1, changedMs: 1 };
  const state = { state: 'live', settled: true, revision: 1, version: 1, listedAt: STAMP_ZERO } as const;
  const none = { attributes: {}, writes: new Map(), replacements: new Map() };
  for (const [type, id] of [
    ['Group', 'g-client'],
    ['User', 's-ben'],
  ] as const)
    await ports.scim.save(connection.name, { type, id, ...times, ...state, ...none }, undefined);
  await apply('00g1');
  const { code, stderr } = await cli(csv, '--yes');
  expect(code).toBe(3);
  expect(stderr).toMatch(/^1 line refused; .*\n {2}line 4: .*"ben@acme.test", which matches m-ben, s-ben;/m);
  expect(
    sent.map(({ body }) => JSON.parse(body).data).map(({ group: { id }, members }) => [id, members]),
  ).toEqual([
    ['New', [{ id: 'eva@acme.test', email: 'eva@acme.test' }]],
    ['g-client', [{ id: 's-ben' }]],
    ['g-events', [{ id: 'm-ben' }]],
  ]);
  const { json } = await cli(csv, '--dry-run', '--json');
  expect(json).toMatchObject({ rows: 3, errorCount: 0, refusedCount: 1, refused: [{ line: 4 }] });
});

it('the members of a refused line stay in their group', async () => {
  const { cli, sent, deliver } = await importing();
  await deliver('00g1', joined('00g1', 'm-ben'), joined('00g1', 'm-ben-2'));
  const { json } = await cli('Group,Email\nSales,ben@acme.test\nSales,ann@acme.test\n', '--yes', '--json');
  expect(json).toMatchObject({ rows: 1, refusedCount: 1, comparison: { removed: 0, added: 0 } });
  expect(JSON.parse(sent[0]?.body ?? '').data.members).toEqual([
    { id: 'm-ann' },
    { id: 'm-ben' },
    { id: 'm-ben-2' },
  ]);
  await cli('Group,Email\nSales,ben@acme.test\nSales,ann@acme.test\n', '--add', '--yes');
  expect(JSON.parse(sent[1]?.body ?? '').data.members).toEqual([{ id: 'm-ann' }]);
  const only = await cli('Group,Email\nSales,ben@acme.test\n', '--add', '--yes');
  expect(only).toMatchObject({ code: 1, stdout: expect.stringContaining('matches m-ben, m-ben-2') });
});

const foreign = 'group,email,id\nSales,ann@acme.test,111\n';

it('import warns if the directory knows a member of the file under another id', async () => {
  const { cli, apply } = await importing();
  await apply('00g1');
  const { json } = await cli(foreign, '--dry-run', '--json');
  expect(json.comparison.otherIds).toEqual([{ member: '111', known: 'm-ann' }]);
  const { stdout } = await cli(foreign, '--dry-run');
  expect(stdout).toContain('1 person of the file is known under another id: 111 is ');
  expect(stdout).toContain('--columns member=email');
});

it('import with --columns member=ADDRESS finds the known member by address, but first by id, and prints no warning', async () => {
  const { cli, snapshots, deliver, publish, clock } = await importing();
  await deliver('00g1', group('00g1', 'Sales'), added('00g1', 'ben'));
  clock.ms += 60_000;
  const { json } = await cli(foreign, '--columns', 'member=email', '--dry-run', '--json');
  expect(json.comparison).toMatchObject({ removed: 1, added: 0, otherIds: [] });
  expect(await snapshots(foreign, '--columns', 'member=email')).toEqual([
    snapshot('00g1', 'Sales', ['m-ann']),
  ]);
  await publish({
    type: 'group.member.added',
    data: { group: { id: '00g2' }, members: [{ id: 'ann@acme.test', email: 'x@acme.test' }] },
  });
  expect((await snapshots(foreign, '--columns', 'member=email')).at(-1)).toEqual(
    snapshot('00g1', 'Sales', ['ann@acme.test', 'ann@acme.test']),
  );
});
