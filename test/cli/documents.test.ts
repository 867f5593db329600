import { expect, it } from 'vitest';
import { OUTPUT_SCHEMAS } from '../../scripts/output-schemas.ts';
import { createReaderStore } from '../../shared/directory/store/reader-store.ts';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { commandNames, runCli } from '../support/cli/io.ts';
import { temporaryFile } from '../support/folder.ts';
import { added, group, removed, sixInSync } from '../support/operate/world.ts';

const GOOGLE = { kind: 'google', administrator: 'admin@acme.test' };

/** Creates a group of six members, in sync with the platform. */
async function worldOf(settings = {}) {
  const world = await sixInSync(settings);
  const document = (args: readonly string[], env: Record<string, string> = {}) =>
    runCli([...args, '--yes', '--json'], { ports: world.ports, env });
  return { ...world, document };
}

it('every command has a schema of its document', () => {
  const commands = commandNames()
    .filter((name) => name !== 'console')
    .map((name) => name.replace(/^(holds|platform-groups) list$/, '$1'));
  const names = [...commands, 'status GROUP', 'evidence'];
  expect(Object.keys(OUTPUT_SCHEMAS).sort()).toEqual(names.sort());
});

it.each([
  [
    'connections set default mode=report',
    {
      changed: [{ key: 'mode', before: '"authoritative"', after: '"report"' }],
      requested: [],
      replanned: 1,
    },
  ],
  ['connections set default mode=authoritative', { changed: [], requested: [], replanned: 0 }],
  ['connections confirm default', { outcome: 'none', requests: [], replanned: 0 }],
  ['connections remove default', { removed: 'default', erased: null, secretRemoved: true }],
  ['release g', { group: 'g', released: true }],
  ['rebind m-ann r-bob', { member: 'm-ann', role: 'r-bob', outcome: 'rebound', groups: ['g'] }],
  ['rebind m-ann r-no', { member: 'm-ann', role: 'r-no', outcome: 'unknown_person', groups: [] }],
  ['unblock m-ann', { outcome: 'not_blocked', block: null }],
  ['deliveries', { deliveries: [], complete: true }],
  ['pause --reason why', { paused: 'default', reason: 'why' }],
  ['pause g', { paused: 'g', reason: null }],
  ['resume', { resumed: 'default', wasPaused: false, backlog: 0 }],
  ['resume g', { resumed: 'g', wasPaused: false, backlog: null }],
  ['restated --all', { restated: 'default', groups: 0 }],
])('%s prints its result as a document', async (line, expected) => {
  const { document } = await worldOf();
  expect((await document(line.split(' '))).json).toEqual(expected);
});

it('console sessions lists and ends the sessions of people with a role for the connection, and the audit records the end', async () => {
  const { document, ports, clock, audit } = await worldOf();
  const since = new Date(clock.ms).toISOString();
  const expiresAt = new Date(clock.ms + 60_000).toISOString();
  const add = (hash: string, person: string, roles: object, expiresMs = clock.ms + 60_000) =>
    ports.sessions.add(hash.repeat(64), { person, roles, sinceMs: clock.ms, expiresMs } as never);
  await add('a', 'ann@acme.test', { '*': 'viewer', default: 'approver' });
  await add('b', 'ann@acme.test', { '*': 'viewer' });
  await add('c', 'bob@acme.test', { '*': 'operator' });
  await add('d', 'eve@acme.test', { other: 'administrator' });
  await add('e', 'old@acme.test', { '*': 'administrator' }, clock.ms);
  const list = async () => (await document(['console', 'sessions'])).json.sessions;
  const of = (id: string, person: string, role: string) => ({
    ...{ id: id.repeat(12), person, role, since, expiresAt },
  });
  expect(await list()).toEqual([
    of('a', 'ann@acme.test', 'approver'),
    of('b', 'ann@acme.test', 'viewer'),
    of('c', 'bob@acme.test', 'operator'),
  ]);
  const end = (whose: string) => document(['console', 'sessions', 'end', whose, '--yes']);
  for (const whose of ['eve@acme.test', 'd'.repeat(12), 'old@acme.test', 'c'])
    expect(await end(whose)).toMatchObject({ code: 1, json: { ended: 0 } });
  expect((await end('c'.repeat(12))).json).toEqual({ ended: 1 });
  expect((await end('ann@acme.test')).json).toEqual({ ended: 2 });
  expect(await list()).toEqual([]);
  expect(await ports.sessions.find('d'.repeat(64))).toBeDefined();
  const ended = (before: string, reason: string) => ({ kind: 'end_session', before, after: null, reason });
  expect(await audit('')).toMatchObject([
    {
      action: 'console_sessions_end',
      changes: [ended('ann@acme.test', 'approver'), ended('ann@acme.test', 'viewer')],
    },
    { action: 'console_sessions_end', changes: [ended('bob@acme.test', 'operator')] },
  ]);
});

it('directory status, groups and read print what the reader stored and reports', async () => {
  const { document, ports, table, clock } = await worldOf({ directory: GOOGLE });
  const store = createReaderStore(table);
  const lease = { name: 'directory', token: 1 };
  const name = connectionName('default');
  const nowMs = clock.ms;
  const known = { group: groupId('g'), address: 'g@acme.test', dueMs: nowMs + 60_000 };
  await store.begin(name, lease);
  await store.write(name, { cursor: '1', listedMs: nowMs }, lease);
  await store.putGroup(name, { ...known, readMs: nowMs, agreedMs: nowMs - 600_000, below: [] }, lease);
  const failing = {
    group: groupId('h'),
    dueMs: nowMs,
    problem: 'members.list: the directory answered 500',
  };
  await store.putGroup(name, { ...known, ...failing }, lease);
  const move = {
    from: groupId('old'),
    to: groupId('new'),
    source: 'scim',
    openSinceMs: nowMs - 240_000,
  } as const;
  await store.noteMove(name, move);
  const openMoves = '1 group to another source, open for 4 min';
  expect((await document(['status'])).json).toMatchObject({ openMoves });
  const status = await document(['directory', 'status']);
  expect([status.code, status.json]).toEqual([
    3,
    {
      connection: 'default',
      kind: 'google',
      listedAt: new Date(nowMs).toISOString(),
      groups: 2,
      states: { new: 0, confirming: 0, settled: 1, other: 0, failing: 1, missing: 0 },
      due: 1,
      otherSource: 0,
      differing: 0,
      oldestReadAt: new Date(nowMs).toISOString(),
      openMoves,
      freshness: {
        source: 'directory',
        receivedAt: null,
        receivedAgeMs: null,
        expectedEveryMs: 300_000,
        late: false,
        stopped: null,
        shortGroups: 0,
        flips: [],
      },
    },
  ]);
  const listed = await document(['directory', 'groups']);
  expect(listed.json.groups).toMatchObject([
    { group: 'h', state: 'failing', readAt: null, problem: failing.problem },
    { group: 'g', state: 'settled', problem: null },
  ]);
  const counts = { groups: 2, reported: 0, read: 2, sent: 1, deleted: [], failed: 0, waiting: 0 };
  const report = { connection: 'default', ...counts, unreadable: [] };
  const asked: unknown[] = [];
  const run = async (...given: unknown[]) => {
    asked.push(given);
    return { reports: [report] };
  };
  const args = ['directory', 'read', '--full', '--json'];
  const read = await runCli(args, { ports: { ...ports, functions: { run } } });
  expect(read.json).toEqual(report);
  expect(asked).toEqual([['directory', { connection: 'default', full: true }]]);
  const skipped = { connection: 'default', skipped: 'no directory is read' };
  const functions = { run: async () => ({ reports: [skipped] }) };
  expect(await runCli(args, { ports: { ...ports, functions } })).toMatchObject({ code: 3, json: skipped });
});

it('plan --with shows the plan with other settings, and connections set shows its effect on the plans', async () => {
  const { document } = await worldOf();
  const with_ = ['--with', 'nameTemplate=HR {name}', '--with', 'mode=additive'];
  const { json } = await document(['plan', 'g', ...with_]);
  expect(json.plans).toMatchObject([
    { group: 'g', action: 'patch', changes: [{ kind: 'rename', before: 'Group g', after: 'HR Group g' }] },
  ]);
  expect((await document(['plan', 'g'])).json.plans).toMatchObject([{ action: 'none' }]);
  const change = ['connections', 'set', 'default', 'nameTemplate=HR {name}'];
  const set = await document(change);
  expect(set.stderr).toContain('nameTemplate: "{name}" → "HR {name}"');
  expect(set.stderr).toContain("groupsync --connection default plan --with 'nameTemplate=HR {name}'");
  expect(set.stderr).toContain('after this change 1 of 1 group would change: 0 added, 0 removed, 0 held');
});

it('probe prints a document with its findings about the platform', async () => {
  const { cli, document, platform } = await worldOf();
  const unprobed = await document(['connections', 'show']);
  expect(unprobed.json.contract).toBeNull();
  const { json, code, stderr } = await document(['probe']);
  const whole = { connection: 'default', kept: true, stopped: null, left: [] };
  expect({ code, ...json }).toMatchObject({ code: 0, ...whole });
  expect(stderr).toMatch(/creates one group "groupsync probe .* and deletes it/);
  const { json: shown } = await document(['connections', 'show']);
  expect(shown.contract).toEqual({ at: expect.any(String), findings: json.findings });
  const inWords = async (...args: string[]) => (await cli(...args)).stdout;
  expect(await inWords('connections', 'show')).toContain('  PATCH version: honoured: a stale version');
  expect(await inWords('doctor')).toContain('platform: PATCH version: honoured');
  const [own = ''] = platform.groups.keys();
  expect([...platform.groups.keys()]).toEqual([own]);
});

it('notify test prints a result for each target, including failed targets', async () => {
  const { ports } = await worldOf();
  const notified = [
    { target: 'webhook', failure: null },
    { target: 'arn:t', failure: 'NotFoundException' },
  ];
  for (const some of [notified, notified.slice(0, 1), []]) {
    const functions = { run: async () => ({ reports: [{ notified: some }] }) };
    const { code, json } = await runCli(['notify', 'test', '--json'], { ports: { ...ports, functions } });
    expect(json).toEqual({ notified: some });
    expect(code).toBe(some.length === 1 ? 0 : 1);
    const listed = await runCli(['notify', 'list', '--json'], { ports: { ...ports, functions } });
    expect(listed.json).toEqual({ targets: some.map(({ target }) => target) });
  }
});

it('probe writes nothing if it is interrupted or not confirmed, and Ctrl-C ends its wait', async () => {
  const { ports, platform } = await worldOf();
  const before = platform.writes.length;
  expect(await runCli(['probe'], { ports })).toMatchObject({ code: 2, stdout: '' });
  expect(platform.writes).toHaveLength(before);
  const stopped = await runCli(['probe', '--yes'], { ports, signal: AbortSignal.abort() });
  expect(stopped).toMatchObject({ code: 1, stdout: '' });
  expect(platform.writes).toHaveLength(before);
  const waiting = new AbortController();
  const probe = () => {
    waiting.abort();
    return new Promise<never>(() => {});
  };
  const decisions = { ...ports.decisions, probe };
  const left = await runCli(['probe', '--yes'], { ports: { ...ports, decisions }, signal: waiting.signal });
  expect(left).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('stopped waiting; the function'),
  });
});

it.each(['status', 'connections show', 'doctor --faults', 'sync new --yes'])(
  '%s names the person to contact if the platform refuses the credential',
  async (words) => {
    const { cli, ports, connection, publish } = await worldOf();
    await publish(group('new'));
    const seen = await ports.gates.read(connection.name);
    await ports.gates.write(connection.name, seen, {
      state: 'unauthorized',
      reason: 'it answers 401',
      closings: 1,
    });
    await ports.health.write(connection.name, { holder: { user: 'u-boss' } });
    const { stdout } = await cli(...words.split(' '));
    expect(stdout).toContain('it answers 401');
    expect(stdout).toContain('Contact the person who installed the app');
    expect(stdout).toContain('the platform user is u-boss');
  },
);

it('adopt --all adopts a group that matches by name, and platform-groups --state lists the groups of one state', async () => {
  const { document, platform, publish } = await worldOf();
  const id = platform.addForeign({ name: 'night shift', users: [], spokeId: 'other' });
  platform.adopted.add(id);
  await publish(group('n', 'Night Shift'));
  const adoptable = async () => (await document(['platform-groups', '--state', 'adoptable'])).json;
  expect(await adoptable()).toMatchObject({ groups: [{ platformId: id }], totals: { managed: 1 } });
  const { json } = await document(['adopt', '--all', '--no-wait']);
  expect(json.adoptions).toMatchObject([{ group: 'n', renamedTo: 'Night Shift', outcome: 'adopted' }]);
  expect(await adoptable()).toMatchObject({ groups: [], totals: { managed: 2 } });
});

it('person shows each group with the decision, the event and the last write', async () => {
  const { document, publish, clock, deliver } = await worldOf({ guard: null });
  await publish({ ...group('h'), id: 'named' }, added('h', 'ann', 'zoe'));
  clock.ms += 60_000;
  await deliver('g', { ...removed('g', 'ann'), actor: '00uada' });
  await document(['rebind', 'm-ann', 'r-ann']);
  const { json } = await document(['person', 'ann@acme.test']);
  expect(json).toMatchObject({
    member: 'm-ann',
    name: 'ann@acme.test',
    bound: 'r-ann',
    person: { userId: 'u-ann', state: 'ACTIVE' },
    groups: [
      {
        ...{ group: 'g', name: 'Group g', wanted: false, present: false, outcome: 'not_wanted' },
        because: 'the directory took them out of the group',
        event: { actor: { id: '00uada' } },
        write: { action: 'patch', outcome: 'written' },
      },
      { group: 'h', wanted: true, present: false, outcome: 'waiting', write: null },
    ],
    actions: [{ action: 'rebind', before: 'r-ann', after: 'r-ann' }],
  });
  expect((await document(['person', 'm-zoe'])).json).toMatchObject({
    bound: null,
    groups: [{ group: 'h', outcome: 'pending:unknown' }],
  });
});

it('dlq edit and dlq discard print documents that match their schemas', async () => {
  const editor = temporaryFile(
    'editor.mjs',
    `import { readFileSync, writeFileSync } from 'node:fs';
       const file = process.argv[2];
       writeFileSync(file, readFileSync(file, 'utf8').replace('directory.grp', 'directory.group'));`,
  );
  const { document, mailboxes, sent } = await worldOf();
  const envelope = { specversion: '1.0', id: 'e', source: 's', time: '2026-11-20T09:00:00Z' };
  const data = { group: { id: 'n', name: 'N' } };
  const event = { ...envelope, type: 'directory.grp.upserted', data };
  mailboxes.events.add({ id: 'one', body: JSON.stringify(event), code: 'unknown_type' });
  mailboxes.events.add({ id: 'two', body: '{', code: 'invalid_json' });
  const env = { EDITOR: `'${process.execPath}' '${editor}'` };
  expect((await document(['dlq', 'edit', 'one'], env)).json).toEqual({ id: 'one', sent: true });
  // The body is as compact as the original, because a large indented body may exceed the size of a message.
  expect(sent.map(({ body }) => body)).toEqual([
    JSON.stringify({ ...event, type: 'directory.group.upserted' }),
  ]);
  const discarded = await document(['dlq', 'discard', 'two', 'three', '--reason', 'a test']);
  expect(discarded).toMatchObject({ code: 3, json: { discarded: 1, missing: 1 } });
});

it('import --dry-run prints who is added, who is removed, who has no match and what would be held', async () => {
  const csv =
    'group id,group name,member id,email\ng,Group g,m-ann,ann@acme.test\ng,Group g,m-zoe,zoe@acme.test';
  const { ports, clock } = await worldOf();
  clock.ms += 60_000;
  const args = ['import', '-', '--dry-run'];
  const ran = await runCli([...args, '--json'], { ports, stdin: csv });
  expect(ran.json).toMatchObject({
    sent: false,
    comparison: { added: 1, removed: 5, unmatched: 1, held: ['g'], renamed: [] },
  });
  const nameless = { ports, stdin: csv.replace(/,(?:group name|Group g)/g, '') };
  const columns = ['--columns', 'group=group id,member=member id'];
  expect((await runCli([...args, ...columns], nameless)).stdout).not.toContain('will be renamed');
  const { stdout } = await runCli(args, { ports, stdin: csv });
  expect(stdout).toContain('− bob@acme.test (m-bob) in Group g (g)');
  expect(stdout).toContain('the guard would hold the removals of Group g (g)');
  expect(stdout).toContain('+ zoe@acme.test (m-zoe) in Group g (g)');
  const foreign = 'Team;Gruppe;Nr;E-Mail (d)\ng;Group g;m-ann;ann@acme.test';
  const headings = 'group=Team,name=Gruppe,member=Nr,email=E-Mail (d)';
  const odd = await runCli([...args, '--as-of', 'now'], { ports, stdin: foreign });
  expect(odd).toMatchObject({ code: 1, stderr: expect.stringMatching(/^column separator: semicolons,/) });
  const asked = ['import', '-', '--columns', headings, '--as-of', 'now', '--yes'];
  const sent = await runCli(asked, { ports, stdin: foreign });
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('sent 1 row') });
  expect(sent.stderr).toMatch(/− bob@acme.test \(m-bob\)[\s\S]*would hold[\s\S]*next: groupsync holds\n$/);
  const commas = await runCli([...asked, '--delimiter', ','], { ports, stdin: foreign });
  expect(commas).toMatchObject({ code: 1, stdout: expect.stringContaining("--delimiter ';'") });
  await runCli(['connections', 'set', 'default', 'guard=null', '--yes'], { ports });
  expect((await runCli([...args, '--json'], { ports, stdin: csv })).json.comparison.held).toEqual([]);
});

it('scim token commands print documents with the SCIM address, if the address is known', async () => {
  const world = await worldOf();
  const { document, ports } = world;
  const none = await document(['scim', 'token', 'create', '--expires', '90d']);
  expect(none).toMatchObject({ json: { url: null }, stderr: expect.stringContaining('docs/scim.md') });
  const url = 'https://scim.test/scim/v2';
  Object.assign(ports.deployment, { scim: async () => ({ state: 'Active', url }) });
  const { json, stderr } = await document(['scim', 'token', 'create']);
  const expiresAt = new Date(ports.clock() + 180 * 86_400_000).toISOString();
  expect(json).toMatchObject({ url, expiresAt, token: expect.stringMatching(/^gsync_scim_/) });
  expect(stderr).toContain(url);
  const forever = await document(['scim', 'token', 'create', '--expires', 'never']);
  expect(forever.json.expiresAt).toBeNull();
  expect((await document(['scim', 'token', 'list'])).json.tokens).toHaveLength(3);
  const revoked = await document(['scim', 'token', 'revoke', json.prefix]);
  expect(revoked.json).toEqual({ prefix: json.prefix, revoked: true });
});

it('scim client commands print documents with the token URL, if the URL is known', async () => {
  const { cli, document, ports, clock } = await worldOf();
  const none = await document(['scim', 'client', 'create']);
  expect(none).toMatchObject({ json: { url: null, tokenUrl: null } });
  const url = 'https://scim.test/scim/v2';
  Object.assign(ports.deployment, { scim: async () => ({ state: 'Active', url }) });
  const { json, stderr } = await document(['scim', 'client', 'create']);
  expect(json).toMatchObject({
    clientSecret: expect.stringMatching(/^gsync_client_/),
    previousEndAt: null,
  });
  expect(json.tokenUrl).toBe(`${url}/oauth/token`);
  expect(stderr).toContain(json.tokenUrl);
  expect(stderr).toContain(json.clientId);
  const rotate = ['scim', 'client', 'rotate', json.clientId, '--expires', 'never'];
  const rotated = await document(rotate);
  const tomorrow = new Date(clock.ms + 86_400_000).toISOString();
  expect(rotated.json).toMatchObject({ clientId: json.clientId, expiresAt: null, previousEndAt: tomorrow });
  const listed = await document(['scim', 'client', 'list']);
  const [, client] = listed.json.clients;
  expect(client.secrets.map(({ expiresAt }: { expiresAt: string }) => expiresAt)).toEqual([tomorrow, null]);
  const csv = await cli('scim', 'client', 'list', '-o', 'csv');
  expect(csv.stdout, 'CSV contains full UTC times').toContain(`"${tomorrow}"`);
  expect((await document(['scim', 'token', 'list'])).json.tokens).toEqual([]);
  const immediate = await document([...rotate, '--previous', 'none', '--yes']);
  expect(immediate.json.previousEndAt).toBe(new Date(clock.ms).toISOString());
  const revoked = await document(['scim', 'client', 'revoke', json.clientId]);
  expect(revoked.json).toEqual({ clientId: json.clientId, revoked: true });
});
