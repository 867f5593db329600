import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { STAMP_ZERO } from '../../shared/domain/stamp.ts';
import { journalOf } from '../../shared/operate/journal.ts';
import { groupKey } from '../../shared/store/keys.ts';
import type { Item } from '../../shared/store/table.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFile, temporaryFolder } from '../support/folder.ts';
import { added, group, portsAs, removed, savedWorld } from '../support/operate/world.ts';

const PEOPLE = ['ann', 'bob', 'cid', 'dee', 'eve'];

/** Creates the group g, whose directory members were replaced by `now` an hour after `to`. */
async function company(
  settings: Partial<ConnectionSettings>,
  then: readonly string[],
  now: readonly string[],
) {
  const world = await savedWorld(settings);
  await world.hire(...PEOPLE);
  const cliOf =
    (name: string) =>
    (...args: string[]) =>
      runCli([...args, '--yes'], { ports: portsAs(name, world.ports) });
  const takeSent = async () => {
    const messages = world.sent.splice(0);
    const received = messages.map((one, place) => ({
      ...one,
      messageId: `m${place}`,
      sentAtMs: world.clock.ms,
      sentBy: 'Ann',
    }));
    await ingest(received, world.ports);
    await world.apply('g');
    world.clock.ms += 60_000;
  };
  await world.deliver('g', group('g', 'Blue'), ...then.map((member) => added('g', member)));
  world.clock.ms += 3_600_000;
  const to = new Date(world.clock.ms).toISOString();
  world.clock.ms += 3_600_000;
  const events = [
    ...then.filter((one) => !now.includes(one)).map((member) => removed('g', member)),
    ...now.filter((one) => !then.includes(one)).map((member) => added('g', member)),
  ];
  await world.deliver('g', ...events);
  world.clock.ms += 60_000;
  const users = () => [...world.platform.groups.values()].flatMap((one) => [...one.users].sort());
  /** Imports these people as members of g. @returns the id of the import */
  const wronglyImport = async (people: readonly string[], ...flags: readonly string[]) => {
    const { json } = await cliOf('Ann')('import', fileOf(people), ...flags, '--as-of', 'now', '--json');
    await takeSent();
    return String(json.importId);
  };
  return { ...world, cliOf, cli: cliOf('Ann'), takeSent, wronglyImport, to, users };
}

it('the guard holds the removals of an undo, and under four eyes another person must approve them', async () => {
  const { cliOf, cli, takeSent, to, users, apply } = await company({ fourEyes: true }, ['ann'], PEOPLE);
  expect((await cli('undo', 'g', '--to', to)).code).toBe(0);
  await takeSent();
  expect(users()).toHaveLength(5);
  const [hold] = (await cli('holds', '--json')).json.holds;
  expect(hold).toMatchObject({ group: 'g', removes: 4 });
  const approve = (name: string) => cliOf(name)('holds', 'approve', 'g', '--reason', 'r');
  expect((await approve('Ann')).code).not.toBe(0);
  expect((await approve('Bob')).code).toBe(0);
  await apply('g');
  expect(users()).toEqual(['u-ann']);
});

it('an undo of a paused group is written after resume', async () => {
  const { cli, takeSent, to, users, apply } = await company({ guard: null }, ['ann', 'bob'], ['bob']);
  await cli('pause', 'g', '--reason', 'r', '--no-wait');
  expect((await cli('undo', 'g', '--to', to)).code).toBe(0);
  await takeSent();
  expect(users()).toEqual(['u-bob']);
  await cli('resume', 'g', '--no-wait');
  await apply('g');
  expect(users()).toEqual(['u-ann', 'u-bob']);
});

it('an undo removes a person who joined since, also if it is uncertain whether they are in the group now', async () => {
  const world = await company({ guard: null }, ['ann'], ['ann', 'dee']);
  const { cli, takeSent, to, users } = world;
  await world.changeAsOther('g', { users: ['u-dee'] });
  world.clock.ms += 3_600_000;
  await cli('sync', 'g', '--timeout', '1');
  expect((await cli('members', 'g', '--at', '0s ago')).stdout).toMatch(/dee.*uncertain/);
  await cli('undo', 'g', '--to', to);
  await takeSent();
  expect(users()).toEqual(['u-ann']);
});

it('an undo leaves out a person that only another client added to the group', async () => {
  const world = await company({ guard: null, mode: 'additive' }, ['ann'], ['ann']);
  await world.changeAsOther('g', { users: ['u-ann', 'u-dee'] });
  world.clock.ms += 3_600_000;
  await world.cli('sync', 'g', '--timeout', '1');
  await world.apply('g');
  world.clock.ms += 3_600_000;
  const to = new Date(world.clock.ms).toISOString();
  await world.changeAsOther('g', { users: ['u-ann'] });
  world.clock.ms += 3_600_000;
  await world.cli('sync', 'g', '--timeout', '1');
  await world.apply('g');
  const ran = await world.cli('undo', 'g', '--to', to);
  expect(ran.stderr).toMatch(/left out of g: .*u-dee.*: it is uncertain/);
  expect(ran.stderr).toContain('nothing to undo');
});

it('undo refuses a group of the directory reader, where events have no effect, and an import exits with 3', async () => {
  const directory = { kind: 'google', administrator: 'admin@acme.test' } as const;
  const { ports, to, sent, connection, refOf } = await company({ directory }, ['ann', 'bob'], ['bob']);
  const { group: g } = refOf('g');
  await ports.reader.noteMove(connection.name, { from: g, to: g, source: 'directory' });
  const cli = (...args: string[]) =>
    runCli([...args, '--yes'], { ports, stdin: 'g,Blue,m-ann,ann@acme.test' });
  expect(await cli('undo', 'g', '--to', to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the directory reader owns the group g'),
  });
  expect(sent).toEqual([]);
  const ran = await cli('import', '-', '--as-of', 'now');
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('the events have no effect there')]);
});

it.each([
  ['2099-01-01', 'known until'],
  ['2020-01-01', 'known since'],
])(
  'at %s, each command exits with 3 and says what is known, without the present members',
  async (at, text) => {
    const { cli } = await company({ guard: null }, ['ann'], ['ann']);
    for (const args of [
      ['undo', 'g', '--to', at],
      ['export', 'g', '--at', at],
      ['members', 'g', '--at', at],
      ['diff', 'g', '--from', '2020-01-01', '--to', at],
      ['person', 'm-ann', '--at', at],
    ]) {
      const { code, stdout, stderr } = await cli(...args);
      expect([args, code, stdout + stderr]).toEqual([args, 3, expect.stringContaining(text)]);
      expect(stdout).not.toContain('u-ann');
    }
    expect((await cli('export', '--all', '--at', at)).code).toBe(3);
  },
);

const disabled = { type: 'user.upserted', data: { user: { id: 'm-dee', 'scim:active': 'false' } } };

it('undo brings back the members of an earlier time, and keeps pending and blocked people', async () => {
  const people = ['ann', 'bob', 'cid', 'dee'];
  const { cli, takeSent, to, users, deliver, clock } = await company({ guard: null }, people, people);
  await cli('block', 'm-cid', '--reason', 'r', '--no-wait');
  await deliver('g', removed('g', 'ann', 'dee'), added('g', 'eve', 'pat'), disabled);
  expect(users()).toEqual(['u-bob', 'u-eve']);
  clock.ms += 60_000;
  const { stderr } = await cli('undo', 'Blue', '--to', to);
  expect(stderr).toMatch(
    /left out of g: .*m-cid\): an operator blocked this person[\s\S]*m-dee\): .*account[\s\S]*the source may revert/,
  );
  await takeSent();
  expect(users()).toEqual(['u-ann', 'u-bob']);
  const { members } = (await cli('members', 'g', '--json')).json;
  const wanted = members.flatMap((row: { wanted: boolean; member: string }) =>
    row.wanted ? row.member : [],
  );
  expect(wanted).toEqual(['m-ann', 'm-bob', 'm-cid', 'm-pat']);
});

it('an undo adds no former member of a user who is in the group as another member, so the user leaves with that member', async () => {
  const world = await company({ guard: null }, ['ann', 'bob'], ['ann', 'bob']);
  const { publish, clock, deliver } = world;
  const members = [{ id: 'a-ann', email: 'ann@acme.test' }];
  await publish({ type: 'group.member.added', data: { group: { id: 'g' }, members } });
  await deliver('g', removed('g', 'ann', 'bob'));
  expect(world.users()).toEqual(['u-ann']);
  clock.ms += 60_000;
  await world.cli('undo', 'g', '--to', world.to);
  await world.takeSent();
  expect(world.users()).toEqual(['u-ann', 'u-bob']);
  clock.ms += 60_000;
  await deliver('g', { type: 'group.member.removed', data: { group: { id: 'g' }, members } });
  expect(world.users()).toEqual(['u-bob']);
});

it('a group is found by its name at that time, a name of two groups asks for the id, and unfit ids are refused', async () => {
  const { cli, publish, apply, clock, to, ports, table, deliver } = await company(
    { guard: null },
    ['ann', 'bob'],
    ['bob'],
  );
  clock.ms += 60_000;
  await publish(group('g', 'Red'), group('h', 'Green'), added('h', 'bob'));
  for (const id of ['g', 'h']) await apply(id);
  expect((await cli('members', 'blue', '--at', to, '--json')).json).toMatchObject({
    group: 'g',
    name: 'Red',
  });
  expect((await cli('diff', 'Blue', '--from', to, '--json')).json.group).toBe('g');
  expect((await cli('export', 'Blue', '--at', to)).stdout).toContain('m-ann');
  expect((await cli('undo', 'Blue', '--to', to, '--dry-run')).stdout).toContain('m-ann');
  expect((await cli('members', 'Blue')).code).toBe(1);
  await deliver('h', group('h', 'Blue'));
  expect(await cli('members', 'Blue', '--at', to)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/"Blue" matches 2 items; give the id: .*Red \(g\)/),
  });
  const stopped = await runCli(['audit', '--verify', '--all'], { ports, signal: AbortSignal.abort() });
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining("--all --from ''")]);
  const rest = await cli('audit', '--verify', '--all', '--from', 'h', '--json');
  expect(rest).toMatchObject({ code: 0, json: { chains: 1, next: null } });
  const item = [...table.items.values()].find(({ pk, sk }) => pk.endsWith('#h') && sk === 'GROUP');
  await table.delete(item as Item);
  expect((await cli('person', 'm-bob', '--at', to)).stdout).toMatch(/│ h .*not known/);
  expect(await cli('import', '--undo', '--dry-run')).toMatchObject({ code: 2 });
});

it('undo names the later events that it overrides, and the history names the undo, its operator and its reason', async () => {
  const { cli, takeSent, to, users, clock } = await company(
    { guard: null, auditReads: true },
    ['ann', 'bob'],
    ['bob', 'eve'],
  );
  const dry = await cli('undo', 'g', '--to', to, '--dry-run', '--json');
  expect((await cli('log', '--action', 'read_export')).stdout).toContain('Blue (g)');
  expect(dry.json.comparison.changes).toMatchObject([
    { kind: 'removed', member: 'm-eve', overrides: { source: 'test', by: null } },
    { kind: 'added', member: 'm-ann', overrides: { id: 'e4', time: expect.any(String) } },
  ]);
  const ran = await cli('undo', 'g', '--to', to, '--reason', 'wrong sync');
  expect(ran.stderr).toMatch(/− .*m-eve.*; overrides the event .* of test, which added them at/);
  expect(ran.stderr + ran.stdout).not.toMatch(/file|row/);
  await takeSent();
  expect(users()).toEqual(['u-ann', 'u-bob']);
  const because = 'an undo took them out of the group';
  expect((await cli('explain', 'g', 'm-eve', '--json')).json.because).toBe(because);
  const details = await cli('log', '--group', 'g', '--details');
  expect(details.stdout).toMatch(/Ann {2}patch .* event id-.* of groupsync\/undo/);
  expect(details.stdout).toContain(`(u-eve): ${because}: wrong sync`);
  expect(details.stdout).toContain('an undo brought them back: wrong sync');
  const folder = temporaryFolder();
  await cli('evidence', 'g', '--file', folder);
  expect(readFileSync(join(folder, 'access.csv'), 'utf8')).toMatch(
    /Ann.*an undo took them out of the group: wrong sync/,
  );
  clock.ms += 60_000;
  const again = await cli('undo', 'g', '--to', to);
  expect([again.code, again.stdout]).toEqual([0, '']);
  expect(again.stderr).toMatch(/nothing to undo: Blue \(g\) has its members of/);
  expect(again.stderr).not.toMatch(/file|row/);
});

const MOVE = { from: 'g', to: 'h', source: 'scim', sinceMs: 1, floor: STAMP_ZERO };

it.each([
  ['contains groups, which a snapshot of its people would remove', { containsGroups: true }],
  ['moved to another source', { movedTo: 'h' }],
  ['moves to another source', { openMove: { ...MOVE } }],
])('undo refuses a group that %s, and export without --at still writes it', async (_, state) => {
  const { cli, table, to } = await company({ guard: null }, ['ann', 'bob'], ['bob']);
  const item = [...table.items.values()].find(({ pk, sk }) => pk.endsWith('#g') && sk === 'GROUP');
  table.store({ ...item, ...state } as Item);
  expect(await cli('undo', 'g', '--to', to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing was changed: expected a group'),
  });
  expect((await cli('export', 'g')).stdout).toContain('m-bob');
});

const LATER = ['m0', 'm1', 'm2', 'm3'].map((part) => Array.from({ length: 40 }, (_, at) => `${part}-${at}`));

const fileOf = (people: readonly string[], of = 'g') => {
  const rows = people.map((one) => `${of},Blue,m-${one},${one}@acme.test`);
  return temporaryFile('wrong.csv', ['group id,group name,member id,email', ...rows, ''].join('\n'));
};

/** A wrong file has replaced ann, bob and cid by cid, dee, eve and 160 unknown people. */
async function wrongImport(settings: Partial<ConnectionSettings> = { guard: null }, ...flags: string[]) {
  const world = await company(settings, ['ann', 'bob', 'cid'], ['ann', 'bob', 'cid']);
  const file = fileOf(['cid', 'dee', 'eve', ...LATER.flat()]);
  const { json } = await world.cli('import', file, '--as-of', 'now', '--json', ...flags);
  await world.takeSent();
  const undo = (...args: string[]) => world.cli('import', '--undo', json.importId, ...args);
  return { ...world, id: json.importId as string, undo };
}

it.each(['authoritative', 'additive'] as const)(
  'import --undo changes exactly the memberships of the import back (%s), and a second undo sends nothing',
  async (mode) => {
    const { cli, undo, takeSent, users, id, ports, refOf, sent } = await wrongImport({ guard: null, mode });
    expect(users()).toEqual(['u-cid', 'u-dee', 'u-eve']);
    const folder = temporaryFolder();
    await cli('evidence', 'g', '--file', folder);
    // The memberships that an import changed may be of other groups, so they are no evidence of this group.
    expect(readFileSync(join(folder, 'items.jsonl'), 'utf8')).not.toContain('m-m3-39');
    expect((await undo('--dry-run')).stdout).toMatch(
      /\+ .*m-ann\) in Blue \(g\)[\s\S]*2 added \(\+\), 162 removed/,
    );
    const ran = await cli('import', '--undo', `${id}.2`, '--reason', 'wrong file');
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('groupsync import --undo ') });
    await takeSent();
    expect(users()).toEqual(['u-ann', 'u-bob', 'u-cid']);
    const registers = await ports.groups.members(refOf('g'));
    expect(registers.find(({ member }) => member === 'm-m3-39')?.value).toBe('absent');
    expect(await undo()).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'nothing to undo: no membership is as this import left it\n',
    });
    expect(sent).toEqual([]);
    const { entries } = (await cli('log', '--action', 'import', '--json')).json;
    expect(entries).toMatchObject([
      { changes: [{ reason: expect.stringContaining(`import --undo ${id}`) }] },
      { reason: 'wrong file' },
    ]);
    expect(await cli('import', '--undo', 'no-id')).toMatchObject({ code: 1 });
    expect(await cli('import', '--undo', id, '--add')).toMatchObject({ code: 2 });
  },
);

it('import --undo of added people removes only them, and names those that a later event added again', async () => {
  const { undo, takeSent, users, deliver } = await wrongImport({ guard: null }, '--add');
  expect(users()).toEqual(PEOPLE.map((one) => `u-${one}`));
  await deliver('g', added('g', 'dee'), removed('g', 'bob'));
  expect((await undo('--dry-run', '--json')).json.stays).toEqual([{ group: 'g', member: 'm-dee' }]);
  expect((await undo()).stderr).toMatch(/stays, because of another event or group: .*m-dee\) in Blue \(g\)/);
  await takeSent();
  expect(users()).toEqual(['u-ann', 'u-cid', 'u-dee']);
});

it('import --undo changes the own memberships of a group, and not those by a group within it', async () => {
  const { cli, publish, takeSent, users, ports, refOf, deliver } = await company(
    { guard: null },
    ['ann', 'cid'],
    ['ann', 'cid'],
  );
  await publish(group('n', 'Inner'), added('n', 'bob'), added('n', 'dee'));
  await ports.desired.noteNesting(refOf('g'), [refOf('n').group]);
  const inner = { group: { id: 'g' }, members: [{ id: 'urn:groupsync:group:n' }] };
  await deliver('g', { type: 'group.member.added', data: inner });
  for (const [flag, people] of [
    ['--add', ['bob']],
    ['--remove', ['cid', 'dee']],
  ] as const) {
    const { json } = await cli('import', fileOf(people), flag, '--as-of', 'now', '--json');
    await takeSent();
    expect((await cli('import', '--undo', json.importId, '--json')).json.rows).toBe(1);
    await takeSent();
  }
  expect(users()).toEqual(['u-ann', 'u-bob', 'u-cid', 'u-dee']);
  await deliver('g', removed('n', 'bob'), removed('n', 'dee'));
  expect(users()).toEqual(['u-ann', 'u-cid']);
});

it.each(['g', 'h'])(
  'import --undo prevents events of the import that arrive later (group %s)',
  async (id) => {
    const { cli, sent, takeSent, users, clock, apply } = await company({ guard: null }, ['ann'], ['ann']);
    const { json } = await cli('import', fileOf(['dee'], id), '--as-of', 'now', '--json');
    const late = sent.splice(0);
    clock.ms += 1_000;
    const ran = await cli('import', '--undo', json.importId);
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('without effect yet') });
    await takeSent();
    sent.push(...late);
    await takeSent();
    await apply('h');
    expect(users()).toEqual(['u-ann']);
  },
);

it.each([
  [0, 1],
  [1, 0],
])(
  'the undos %i and %i of an interrupted import and its repetition leave nothing of it',
  async (...order) => {
    const { cli, sent, takeSent, users } = await company({ guard: null }, ['ann'], ['ann']);
    const file = fileOf(['bob', ...LATER.flat(), 'zoe']);
    const imports: string[] = [];
    for (const received of [1, 9]) {
      const { json } = await cli('import', file, '--add', '--as-of', 'now', '--json');
      imports.push(json.importId);
      sent.splice(received);
      await takeSent();
    }
    for (const at of order) {
      expect((await cli('import', '--undo', String(imports[at]))).code).toBe(0);
      await takeSent();
    }
    expect(users()).toEqual(['u-ann']);
  },
);

it('an import is on record before its first message, so it can be undone if the queue fails', async () => {
  const { ports, audit, connection } = await company({ guard: null }, ['ann'], ['ann']);
  const events = { send: () => Promise.reject(new Error('the queue did not answer')) };
  const ran = await runCli(['import', fileOf(['bob']), '--as-of', 'now', '--yes'], {
    ports: { ...ports, events },
  });
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('the queue did not answer') });
  expect(await audit(journalOf(connection.name).group)).toMatchObject([{ action: 'import' }]);
});

it('import --undo leaves a member that a later import of other rows lists too', async () => {
  const { cli, takeSent, users } = await company({ guard: null }, ['ann'], ['ann']);
  const ids: string[] = [];
  for (const people of [['bob', 'dee'], ['dee']]) {
    const { json } = await cli('import', fileOf(people), '--add', '--as-of', 'now', '--json');
    ids.push(json.importId);
    await takeSent();
  }
  expect((await cli('import', '--undo', String(ids[0]), '--json')).json.stays).toMatchObject([
    { member: 'm-dee' },
  ]);
  await takeSent();
  expect(users()).toEqual(['u-ann', 'u-dee']);
});

it('import --undo leaves a member that an undo of the group has added again after an event that is ahead', async () => {
  const { cli, takeSent, users, clock, deliver, wronglyImport } = await company(
    { guard: null },
    ['ann'],
    ['ann'],
  );
  const id = await wronglyImport(['ann', 'bob']);
  clock.ms += 3_600_000;
  const to = new Date(clock.ms).toISOString();
  clock.ms += 3_600_000;
  await deliver('g', { ...removed('g', 'bob'), time: new Date(clock.ms + 240_000).toISOString() });
  clock.ms += 60_000;
  await cli('undo', 'g', '--to', to);
  await takeSent();
  expect((await cli('import', '--undo', id, '--json')).json.stays).toMatchObject([{ member: 'm-bob' }]);
  expect(users()).toEqual(['u-ann', 'u-bob']);
});

it('import --undo is later than an import whose time is ahead of the clock, and a dry run names no id', async () => {
  const { cli, takeSent, users, clock } = await company({ guard: null }, ['ann', 'bob'], ['ann', 'bob']);
  const time = new Date(clock.ms + 240_000).toISOString();
  const args = ['import', fileOf(['bob', 'dee']), '--as-of', time, '--json'];
  expect((await cli(...args, '--dry-run')).json.importId).toBeUndefined();
  const { json } = await cli(...args);
  await takeSent();
  await cli('import', '--undo', json.importId);
  await takeSent();
  expect(users()).toEqual(['u-ann', 'u-bob']);
});

it('import --undo adds no member that a later snapshot of the directory leaves out', async () => {
  const { cli, takeSent, users, deliver, wronglyImport } = await company(
    { guard: null },
    ['ann', 'bob'],
    ['ann', 'bob'],
  );
  const id = await wronglyImport(['ann'], '--remove');
  await deliver('g', {
    type: 'group.snapshot',
    data: { group: { id: 'g', name: 'Blue' }, members: [{ id: 'm-bob' }] },
  });
  expect((await cli('import', '--undo', id)).stderr).toMatch(/stays, .*m-ann[\s\S]*nothing to undo/);
  await takeSent();
  expect(users()).toEqual(['u-bob']);
});

it('memberships of an import are no evidence of other groups, and import --undo and audit --verify detect their change', async () => {
  const { cli, takeSent, publish, table, users } = await company({ guard: null }, ['ann'], ['ann']);
  await publish(group('h', 'Secret'));
  const { json } = await cli('import', fileOf(['eve'], 'h'), '--as-of', 'now', '--json');
  await takeSent();
  const folder = temporaryFolder();
  await cli('evidence', 'g', '--file', folder);
  expect(readFileSync(join(folder, 'items.jsonl'), 'utf8')).not.toContain('m-eve');
  expect((await cli('evidence', 'verify', folder)).code).toBe(0);
  expect((await cli('audit', '--verify')).code).toBe(0);
  for (const item of [...table.items.values()])
    if (item.sk.startsWith('STEP#')) table.store({ ...item, text: '+-=["g","m-ann"]' } as Item);
  expect(await cli('import', '--undo', json.importId)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('were changed or removed'),
  });
  const verified = await cli('audit', '--verify');
  expect([verified.code, verified.stdout]).toEqual([3, expect.stringContaining('is changed')]);
  expect(users()).toEqual(['u-ann']);
});

it.each(['rejected', 'approved'])(
  'import --undo says that it ends %s removals, which are not written',
  async (decision) => {
    const people = ['ann', 'bob', 'cid'];
    const { cli, cliOf, takeSent, users, apply, wronglyImport } = await company({}, people, people);
    await cli('connections', 'set', 'default', 'guard.maxRemovedCount=1');
    const id = await wronglyImport(['cid']);
    await cli('pause', 'g', '--reason', 'r', '--no-wait');
    await cliOf('Bob')('holds', decision === 'approved' ? 'approve' : 'reject', 'g', '--reason', 'r');
    expect((await cli('import', '--undo', id)).stderr).toMatch(
      new RegExp(`ends the decision of .*Bob \\(${decision}\\) about removals of Blue \\(g\\)`),
    );
    await takeSent();
    await cli('resume', 'g', '--no-wait');
    await apply('g');
    expect([users(), (await cli('holds', '--json')).json.holds]).toEqual([['u-ann', 'u-bob', 'u-cid'], []]);
  },
);

type Imported = Awaited<ReturnType<typeof wrongImport>>;
it.each<[string, (imported: Imported) => Promise<unknown>]>([
  [
    'the directory reader owns now',
    ({ ports, connection: { name }, refOf }) =>
      ports.reader.noteMove(name, { from: refOf('g').group, to: refOf('g').group, source: 'directory' }),
  ],
  [
    'a takeover has released',
    ({ ports, clock: { ms }, refOf }) =>
      ports.groups.release(refOf('g'), { nowMs: ms, wakeAtMs: ms }, refOf('h').group),
  ],
  [
    'a takeover moves',
    ({ table, refOf }) => table.update(groupKey(refOf('g')), { set: { openMove: { ...MOVE } } }),
  ],
])('import --undo changes nothing in a group that %s', async (_, move) => {
  const moved = await wrongImport();
  await move(moved);
  expect((await moved.undo()).stderr).toMatch(/stays, .*m-ann[\s\S]*nothing to undo/);
  expect(moved.sent).toEqual([]);
});
