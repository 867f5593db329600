import { utimesSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createCommandFormatter } from '../../cli/output/hints.ts';
import { createOverview } from '../../console/server/overview.ts';
import { createSession } from '../../console/server/session.ts';
import { connectionName, memberId } from '../../shared/domain/ids.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFile } from '../support/folder.ts';
import { added, deleted, group, inSync, removed } from '../support/operate/world.ts';

interface Rows {
  readonly groups: readonly { readonly id: string; readonly state: string }[];
}

const ADA = /Ada Archer <ada@acme\.test> \([mu]-ada\)/;

async function worldOf() {
  const world = await inSync(['ada', 'bob', 'cid', 'dee', 'eve', 'fay'], {}, 'Engineering');
  const ada = { id: 'm-ada', email: 'ada@acme.test', name: 'Ada Archer' };
  await world.deliver('g', { type: 'user.upserted', data: { user: ada } });
  await world.deliver('h', group('h', 'Energy'), added('h', 'stranger'));
  return world;
}

it.each([['g'], ['Engineering'], ['ENGINEERING'], ['engi']])(
  'status finds the group Engineering (g) by the text %s',
  async (asked) => {
    const { cli } = await worldOf();
    expect((await cli('status', asked)).stdout).toContain('Engineering (g)');
  },
);

it.each([
  ['status en', /"en" matches 2 items; give the id: .*Engineering \(g\)/],
  ['status Enginering', /no group of .*; is it Engineering \(g\)/],
  ['explain g Archer', /; is it Ada Archer <ada@acme.test> \(m-ada\)/],
])('the ambiguous or wrong name in %s finds nothing, and the error has candidates', async (asked, says) => {
  const { cli } = await worldOf();
  expect(await cli(...asked.split(' '))).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
});

it.each([['m-ada'], ['ADA@acme.test'], ['ada archer'], ['ada']])(
  'commands find the member m-ada by the text %s',
  async (asked) => {
    const { cli } = await worldOf();
    expect((await cli('explain', 'g', asked, '--json')).json).toMatchObject({ member: 'm-ada' });
    expect((await cli('person', asked, '--json')).json).toMatchObject({ member: 'm-ada' });
    expect((await cli('forget', asked, '--yes', '--json')).json).toMatchObject({ member: 'm-ada' });
    expect(await cli('forget', 'm-', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching('matches'),
    });
  },
);

it.each(['person', 'forget'])(
  '%s finds a member by the employee address, the SCIM user name, or the start of an address',
  async (verb) => {
    const { cli, publish, ports, connection } = await worldOf();
    const users = ['m-bob', 'solo'].map((id) => ({ data: { user: { id, email: `${id}@new.test` } } }));
    await publish(...users.map((user) => ({ type: 'user.upserted', ...user })));
    const name = { type: 'User', attribute: 'userName', value: 'solo@new.test' } as const;
    await ports.scim.claim(connection.name, name, 'solo');
    const found = ['bob@acme.test', 'Solo@new.test', 'SOLO@N'].map((text) =>
      cli(verb, text, '--yes', '--json'),
    );
    expect((await Promise.all(found)).map(({ json }) => json.member)).toEqual(['m-bob', 'solo', 'solo']);
  },
);

it('explain prefers a member of the group, and a person of several members without attributes has them as choices', async () => {
  const { cli, publish, ports, connection, clock } = await worldOf();
  const email = 'bob@acme.test';
  const name = { type: 'User', attribute: 'userName', value: email } as const;
  await publish({
    type: 'group.member.added',
    data: { group: { id: 'h' }, members: [{ id: 'two', email }] },
  });
  await ports.scim.claim(connection.name, name, 'm-bob');
  expect((await cli('explain', 'h', email, '--json')).json.member).toBe('two');
  expect((await cli('explain', 'g', email, '--json')).json.member).toBe('m-bob');
  for (const id of ['m-bob', 'two']) await ports.users.forget(connection.name, memberId(id), clock.ms);
  const { stderr } = await cli('forget', email, '--yes');
  expect(stderr).toMatch(/matches 2 items; give the id: .*two/);
});

it('a group without a group event, but with member events, is shown as unknown and not as deleted', async () => {
  const { cli, publish, apply, ports, connection, deliver } = await worldOf();
  await publish(added('early', 'ada'), deleted('late'));
  for (const id of ['early', 'late']) await apply(id);
  const states = async () =>
    ((await cli('groups', '--json')).json as Rows).groups.map(({ id, state }) => `${id} ${state}`);
  expect((await states()).slice(0, 2)).toEqual(['early unknown', 'late deleted']);
  const session = createSession(ports);
  for (const shown of [
    (await cli('status', '--json')).json.groups,
    (await createOverview(connection.name, ports, session).home()).status.groups,
  ])
    expect(shown).toMatchObject({ unknown: 1, deleted: 1 });
  expect((await cli('groups', '--state', 'unknown', '--json')).json.groups).toMatchObject([{ id: 'early' }]);
  expect((await cli('status', 'early')).stdout).toContain('unknown');
  const { stdout } = await cli('explain', 'early', 'm-ada');
  expect(stdout).toContain('no event about the group itself has arrived yet');
  await deliver('early', group('early'));
  expect(await states()).not.toContain('early unknown');
});

it('names are printed next to ids, and holds show writes both as CSV', async () => {
  const { cli, deliver, ports } = await worldOf();
  await deliver('g', removed('g', 'ada', 'bob', 'cid', 'dee'));
  for (const line of ['plan g', 'holds show g'])
    expect((await cli(...line.split(' '))).stdout, line).toMatch(ADA);
  const { stdout } = await cli('holds', 'show', 'g', '-o', 'csv');
  const [head, first, ...rest] = stdout.trim().split('\n');
  expect(head).toMatch(/^"member id","name","email"/);
  expect(first).toMatch(
    /^"m-ada","Ada Archer","ada@acme\.test","u-ada","the directory took them out of the group","e/,
  );
  expect(rest).toHaveLength(3);
  expect((await cli('pending')).stdout).toMatch(/Energy \(h\) │ stranger@acme\.test \(m-stranger\)/);
  await deliver('h', added('h', 'zoe', 'eva'));
  const { pending } = (await cli('pending', '--json')).json;
  expect(pending).toMatchObject([{ member: 'm-eva' }, { member: 'm-stranger' }, { member: 'm-zoe' }]);
  expect((await cli('groups')).stdout).toMatch(/Energy \(h\)[\s\S]*Engineering \(g\)/);
  expect((await cli('holds')).stdout).toContain('Engineering (g)');
  for (const verb of ['pause', 'release']) {
    const asked = runCli([verb, 'g'], { ports, person: [{ sees: '[y/N]', types: 'n\r' }] });
    expect((await asked).stderr, verb).toContain('Engineering (g)');
  }
  expect((await cli('log', '--action', 'nothing')).stdout).toBe('no entries match\n');
});

it.each([
  [{}, {}, 'groupsync dlq list', 'groupsync dlq list'],
  [{ npm_command: 'exec' }, { local: true }, 'groupsync dlq list', 'npx groupsync --local dlq list'],
  [
    {},
    { localFile: 'a b.json', connection: 'acme' },
    'run groupsync resume, then groupsync connect acme',
    "run groupsync --local-file 'a b.json' --connection acme resume, then groupsync --local-file 'a b.json' connect acme",
  ],
  [
    {},
    { profile: 'prod', connection: 'acme' },
    'groupsync --connection x plan',
    'groupsync --profile prod --connection x plan',
  ],
  [
    {},
    { local: true },
    'the group "groupsync dlq", groupsync probe 92e017, queue groupsync-dlq',
    'the group "groupsync dlq", groupsync probe 92e017, queue groupsync-dlq',
  ],
] as const)('with environment %j and options %j, the hint %s is %s', (env, options, text, expected) => {
  const formatCommands = createCommandFormatter(['dlq', 'probe', 'resume', 'connect', 'plan'], env, options);
  expect(formatCommands(text)).toBe(expected);
  expect(formatCommands('groupsync resume', 'b')).toMatch(/^(npx )?groupsync (.* )?--connection b resume$/);
});

it('import uses the time of the file, so it does not add a member that the directory removed later', async () => {
  const { cli, publish, sent, clock } = await worldOf();
  const rows = 'g,Engineering,m-ada,ada@acme.test\ng,Engineering,m-gus,gus@acme.test';
  const file = temporaryFile('export.csv', rows);
  const exportedMs = clock.ms + 60_000;
  clock.ms += 3_600_000;
  await publish(removed('g', 'ada'), added('g', 'hal'), group('g', 'Builders'));
  utimesSync(file, exportedMs / 1_000, exportedMs / 1_000);
  const { comparison } = (await cli('import', file, '--dry-run', '--json')).json;
  const changed = comparison.changes.map(({ kind, member }: Record<string, string>) => `${kind} ${member}`);
  expect(comparison).toMatchObject({ superseded: 3, renamed: [] });
  const gone = ['bob', 'cid', 'dee', 'eve', 'fay'].map((one) => `removed m-${one}`);
  expect(changed.sort()).toEqual(['added m-gus', ...gone, 'unmatched m-gus']);
  expect(await cli('import', file, '--yes')).toMatchObject({ code: 3 });
  expect(sent[0]?.body).toContain(`"time":"${new Date(exportedMs).toISOString()}"`);
  utimesSync(file, (clock.ms + 600_000) / 1_000, (clock.ms + 600_000) / 1_000);
  expect((await cli('import', file, '--yes')).stderr).toMatch(
    /time_in_future.*--as-of is the time at which the file was exported$/m,
  );
  expect((await cli('import', file, '--yes', '--as-of', 'noon')).code).toBe(1);
  expect(sent).toHaveLength(1);
});

it('import refuses a file from before the erasure of its connection and sends nothing', async () => {
  const { cli, ports, sent } = await worldOf();
  const name = connectionName('default');
  const erasedMs = Date.parse('2026-11-05T00:00:00Z');
  await ports.connections.keepName(name, { company: 'acme', removedMs: erasedMs, erasedMs });
  const known = await ports.connections.current(name);
  await ports.connections.remove(name);
  await ports.connections.replace(known as Connection, undefined);
  const file = temporaryFile('export.csv', 'g,Engineering,m-ada,ada@acme.test');
  const asOf = (time: string) => cli('import', file, '--as-of', time, '--yes');
  expect((await asOf('2026-11-05T01:00:00+02:00')).stderr).toContain(
    'as of: expected a time after 2026-11-05T00:00:00.000Z, when all data of default was erased',
  );
  expect(sent).toEqual([]);
  expect(await asOf('2026-11-04T23:00:00-01:00')).toMatchObject({ code: 3 });
  expect(sent).toHaveLength(1);
});
