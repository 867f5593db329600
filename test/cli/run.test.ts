import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { renderTable } from '../../cli/output/table.ts';
import { createProgram } from '../../cli/program.ts';
import { PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFile, temporaryFolder } from '../support/folder.ts';
import { removed, savedWorld, sixInSync } from '../support/operate/world.ts';

const commands = (command: Command, path: readonly string[] = []): string[][] => [
  [...path],
  ...command.commands.flatMap((child) => commands(child, [...path, child.name()])),
];
const ALL = commands(createProgram(() => async () => {})).filter((path) => path.length > 0);

const BIN = fileURLToPath(new URL('../../cli/groupsync.mjs', import.meta.url));
const ARGUMENTS: Readonly<Record<string, string>> = {
  ...{ code: 'too_old', queue: 'apply', verb: 'reject', given: '--as-of now', source: 'scim' },
  'connectOptionsOf(setting)': 'google --administrator a@acme.test --key k.json',
  options: 'google --administrator a@acme.test --key k.json',
};
const set = (change: string) => ['connections', 'set', 'default', change, '--yes'];

/** Returns whether the words are a complete command of known subcommands and options. */
function parses(words: readonly string[]): boolean {
  const program = createProgram(() => async () => {});
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const command of all(program))
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  try {
    program.parse(words, { from: 'user' });
    return true;
  } catch {
    return false;
  }
}

it.each(ALL.map((path) => [path.join(' '), path] as const))(
  '%s has help with two examples that can be run',
  async (_, path) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'mine.jsonl'), '{}\n');
    writeFileSync(join(cwd, 'members.csv'), 'Team,Work e-mail\nEngineering,ann@acme.test\n');
    const world = await sixInSync();
    await runCli(['connections', 'export', 'settings', '--yes'], { ports: world.ports, cwd });
    const { code, stdout } = await runCli([...path, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`groupsync ${path[0]}`);
    const examples = [...stdout.matchAll(/^ {2}groupsync (.*?)(?: {3,}.*| [<>|] .*)?$/gm)].map(
      ([, line]) => line ?? '',
    );
    expect(examples.length).toBeGreaterThanOrEqual(2);
    const skipped = { connection: 'default', skipped: 'another run does not end' };
    const functions = {
      run: async (_: string, event: object) => ({ reports: 'silent' in event ? [] : [skipped] }),
    };
    const ports = { ...world.ports, functions };
    const around = { ports, cwd, env: { EDITOR: 'true' }, signal: AbortSignal.abort() };
    for (const example of examples) {
      const words =
        example.match(/'[^']*'|"[^"]*"|\S+/g)?.map((word) => word.replace(/^['"]|['"]$/g, '')) ?? [];
      const asCsv = await runCli([...words, '--yes', '-o', 'csv'], around);
      if (asCsv.code === 0 || asCsv.code === 3) expect(asCsv.stdout, example).toMatch(/^"/);
      // These examples need a real deployment, or ask questions that only a person can answer.
      if (
        /^(connect|--local|--profile|directory takeover|directory groups --compare)/.test(example) &&
        !example.startsWith('connections')
      )
        continue;
      const asDocument = /^console(?! )|--(?:json|follow|watch|output)|-o /.test(example) ? [] : [['--json']];
      for (const more of [[], ...asDocument]) {
        const { code, stderr } = await runCli([...words, '--yes', ...more], around);
        expect([0, 1, 3], `${example}: ${stderr}`).toContain(code);
        expect(stderr, example).not.toMatch(/unknown|\n\s+at /);
      }
    }
  },
);

it('the help groups the commands by task', async () => {
  const { stdout } = await runCli(['--help']);
  const headings = stdout.match(/^[A-Z]\w+(?=:$)/gm);
  expect(headings).toEqual([
    'Options',
    'Watch',
    'Decide',
    'Change',
    'Publish',
    'Administer',
    'Commands',
    'Examples',
  ]);
});

it('hints and errors name commands only in a form that can be pasted', () => {
  const names = ALL.flatMap(([name, ...more]) => (more.length === 0 ? name : []));
  const command = new RegExp(
    `(?<!")groupsync (?:--connection \\S+ )?(?:${names.join('|')})\\b[^'\`"\\\\]*`,
    'g',
  );
  const files = ['cli', 'shared/operate', 'shared/plan'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const wrong: string[] = [];
  // Help texts are not pasted, and the name of the group of `probe` is no command. So both are not checked.
  for (const file of files.filter((one) => /(?<!program|hints)\.ts$/.test(one)))
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (/^\s*(?:\/?\*|\/\/)|Examples:|^ {2}groupsync|randomHex/.test(line)) continue;
      for (const [hint] of line.matchAll(command)) {
        const words = hint
          .trim()
          .replace(/\$\{shellWords\((.*?)\)\}/g, (_, ids: string) =>
            ids.replace(/[^,]+/g, 'x').replaceAll(',', ' '),
          )
          .replace(/\$\{([^}]*)\}/g, (_, name) => ARGUMENTS[name] ?? 'x');
        if (!parses(words.split(/\s+/).slice(1))) wrong.push(`${file}: ${hint}`);
      }
    }
  expect(wrong).toEqual([]);
});

it('no option that takes a value is named after a token, secret or password', () => {
  const flags = ALL.flatMap((path) => {
    let command = createProgram(() => async () => {});
    for (const name of path) command = command.commands.find((child) => child.name() === name) as Command;
    return command.options.filter(({ required, optional }) => required || optional).map(({ long }) => long);
  });
  expect(flags.filter((flag) => /token|secret|password/.test(flag ?? ''))).toEqual([]);
});

it.each([
  [
    'an unknown command',
    ['frobnicate'],
    /unknown command 'frobnicate'; list the commands: groupsync --help$/m,
  ],
  ['a misspelt command', ['holds', 'aprove', 'g'], /try list, show, approve, reject$/m],
  ['an unknown option', ['status', '--frob'], /unknown option/],
  ['a missing argument', ['explain', 'g'], /missing required argument/],
  ['an invalid connection name', ['status', '--connection', 'Not A Name'], /connection name/],
  ['an unknown state', ['groups', '--state', 'purple'], /in_sync/],
  ['a replay without a selection', ['dlq', 'replay'], /--all/],
  ['a sync without a group', ['sync'], /--all/],
  ['an unknown setting', set('colour=1'), /unknown setting "colour"/],
  ['an invalid value of a setting', set('mode=maybe'), /mode: expected/],
  [
    'a password in an address, without printing it',
    set('baseUrl=https://user:pw@x.test/?token=pw'),
    /^groupsync: baseUrl: expected an https URL .* password, got "…@x.test\/…"\n$/,
  ],
  ['a loopback address', set('baseUrl=http://127.0.0.1:1'), /--local/],
  ['a missing file', ['import', '/nowhere.csv', '--yes'], /no file/],
  ['a missing local stack', ['status', '--local-file', '/nowhere/local.json'], /npm start/],
  ['JSON together with CSV output', ['groups', '--json', '-o', 'csv'], /--json and --output/],
  ['JSON together with wide output', ['groups', '-o', 'wide', '--json'], /--json and --output/],
  ['JSON together with --watch', ['status', '--watch', '--json'], /--watch/],
  ['CSV together with --watch', ['holds', '--watch', '-o', 'csv'], /--watch and --output csv/],
  ['CSV together with --follow', ['deliveries', '--follow', '-o', 'csv'], /--follow and --output csv/],
  ['CSV of the log', ['log', '-o', 'csv'], /^groupsync: log has no CSV .*, or groupsync evidence --all/],
  ['CSV of a check', ['audit', 'g', '--verify', '-o', 'csv'], /audit has no CSV/],
  ['CSV of a command without a table', ['explain', 'g', 'm-ann', '-o', 'csv'], /explain has no CSV/],
  ['CSV of an action', ['pause', 'g', '--yes', '-o', 'csv'], /pause has no CSV output; use --json/],
])('the command line refuses %s with exit code 2 and at most two lines', async (_, args, says) => {
  const world = await sixInSync();
  const { code, stdout, stderr } = await world.cli(...args);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(says);
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
});

it.each<readonly [string, readonly string[], RegExp]>([
  ['an unknown group', ['status', 'nope'], /no group of connection default/],
  ['an unknown member', ['explain', 'g', 'nope'], /has no member with the id or name "nope"/],
  ['a missing dead-lettered message', ['dlq', 'show', 'nope'], /dlq list/],
  ...['status', 'holds', 'pending', 'person x', 'forget x --yes'].map((line) => {
    const args = [...line.split(' '), '--connection', 'other'];
    return [`a connection that is not there: ${line}`, args, /connect other\n.* connections/] as const;
  }),
])('for %s, the command line exits with code 1 and prints the next step', async (_, args, says) => {
  const world = await sixInSync();
  const { code, stderr } = await world.cli(...args);
  expect(code).toBe(1);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/\n\s+at /);
});

it.each([
  ['no region', new Error('Region is missing'), /--region/],
  ['no credentials', Object.assign(new Error('x'), { name: 'CredentialsProviderError' }), /--profile/],
  ['no answer', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), /npm start/],
  ['no permission', Object.assign(new Error('x'), { name: 'AccessDeniedException' }), /permissions/],
  ['a refusal', new PlatformFailure('unauthorized', 'the credential was not accepted', {}), /not accepted/],
])('the command line reports %s as a message and not as a stack trace', async (_, error, says) => {
  const world = await sixInSync();
  const ports = {
    ...world.ports,
    connections: { ...world.ports.connections, find: () => Promise.reject(error) },
  };
  const { code, stderr } = await runCli(['status'], { ports: ports as never });
  expect(code).toBe(1);
  expect(stderr).toMatch(says);
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
});

it('the command line changes nothing without --yes if it cannot ask the operator', async () => {
  const world = await sixInSync();
  const before = JSON.stringify([...world.table.items]);
  const changing = [
    ['sync', 'g'],
    ['pause'],
    ['resume', 'g'],
    ['release', 'g'],
    ['rebind', 'm-ann', 'r-bob'],
    ['forget', 'm-ann'],
    ['connections', 'set', 'default', 'mode=report'],
    ['connections', 'remove', 'default'],
  ];
  const refused = { code: 2, stderr: expect.stringContaining('--yes') };
  for (const args of changing) expect(await world.cli(...args), args.join(' ')).toMatchObject(refused);
  expect(JSON.stringify([...world.table.items])).toBe(before);
});

it.each([
  ['standard output', 'stdout', ['status', '--help'], 0],
  ['standard output, and the result was an error', 'stdout', ['events', 'validate', '-'], 1],
  ['standard error', 'stderr', ['status', '--local-file', '/nowhere/local.json'], 2],
  ['standard error, and still prints its result', 'stderr', ['events', 'validate', '-'], 1],
] as const)('a command ends with its own code if the reader closes %s', async (_, closed, args, code) => {
  const child = spawn(process.execPath, [BIN, ...args]);
  child[closed].destroy();
  const other = text(child[closed === 'stdout' ? 'stderr' : 'stdout']);
  child.stdin.end('no event\n');
  expect(await once(child, 'close')).toEqual([code, null]);
  expect(await other).not.toMatch(/\n\s+at |EPIPE/);
  if (closed === 'stderr' && code === 1) expect(await other).toContain('line 1: invalid_json');
});

it('the installed command runs in any folder', () => {
  const version = execFileSync(process.execPath, [BIN, '--version'], { cwd: tmpdir(), encoding: 'utf8' });
  expect(version.trim()).toMatch(/^\d+\.\d+\.\d+$/);
});

it('a table fits 80 columns and shows ids and other copied values in full', () => {
  const id = 'eed36494-26f1-4ca5-ba61-a22245199f46';
  const rows = [{ id, text: 'a very long text '.repeat(20), evil: 'x\u001b[2Jy\u202e' }];
  const table = renderTable(
    rows,
    [
      { title: 'id', of: (row) => row.id, whole: true },
      { title: 'text', of: (row) => row.text },
      { title: 'evil', of: (row) => row.evil },
    ],
    80,
  );
  for (const line of table.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  expect(table).toContain(id);
  expect(table).toContain('…');
  expect(table).toContain('x\\u001b[2Jy\\u202e');
});

it('holds and plan show the same digest of a hold, and holds approve refuses a different digest', async () => {
  const world = await sixInSync();
  await world.deliver('g', removed('g', 'ann', 'bob', 'cid', 'dee'));
  const { json } = await world.cli('holds', '--json');
  expect(json.holds).toMatchObject([{ group: 'g', removes: 4, keeps: 2, decision: 'waiting' }]);
  const plan = (await world.cli('plan', 'g', '--json')).json.plans[0];
  expect(plan).toMatchObject({ action: 'hold', digest: json.holds[0].digest });
  expect(plan.held).toEqual(['u-ann', 'u-bob', 'u-cid', 'u-dee']);
  const approve = (group: string, digest: string) =>
    world.cli('holds', 'approve', group, '--reason', 'ticket 4711', '--digest', digest, '--yes');
  expect(await approve('g', 'ffff')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the hold has changed'),
  });
  expect((await approve('Group g', plan.digest.slice(0, 12))).code).toBe(0);
  await world.apply('g');
  expect([...world.platform.groups.values()][0]?.users).toEqual(['u-eve', 'u-fay']);
});

it('under four eyes, set stores a weaker guard as a request, which status and show name until it is rejected', async () => {
  const { cli } = await sixInSync();
  await cli('connections', 'set', 'default', 'fourEyes=true', '--yes');
  const set = await cli('connections', 'set', 'default', 'guard=null', 'mode=report', '--yes', '--json');
  expect(set.json).toMatchObject({ changed: [{ key: 'mode' }], requested: ['guard'] });
  expect(set.stderr).toContain('next, by another person: groupsync connections confirm default');
  const shown = await cli('connections', 'show', '--json');
  const request = { key: 'guard', after: 'null', by: 'local:tester' };
  expect(shown.json).toMatchObject({ requests: [request], settings: { guard: { minSize: 5 } } });
  const status = await cli('status');
  expect(status.stdout).toContain('requests    1 for settings');
  expect(status.stderr).toContain('next: groupsync connections confirm default');
  const confirm = ['connections', 'confirm', 'default', '--reject', '--yes', '--json'];
  expect((await cli(...confirm)).json).toMatchObject({ outcome: 'rejected', requests: [request] });
});

it('events send validates each line, sends the valid events, and reports the invalid ones', async () => {
  const envelope = { specversion: '1.0', id: '1', source: 's', time: '2026-11-20T10:00:00Z' };
  const data = { group: { id: 'n', name: 'N\u2028N' } };
  const good = JSON.stringify({ ...envelope, type: 'directory.group.upserted', data });
  const file = temporaryFile('events.jsonl', `${good}\n\nnot json\n`);
  const world = await sixInSync();
  const sent = await world.cli('events', 'send', file, '--json');
  expect(sent).toMatchObject({ code: 3, json: { events: 1, messages: 1, errors: [{ line: 3 }] } });
  expect(world.sent).toHaveLength(1);
  const ports = { ...world.ports, events: { send: async () => [{ refused: 'too much at once' }] } };
  const refused = await runCli(['events', 'send', '-', '--json'], { ports, stdin: good });
  expect(refused).toMatchObject({ code: 3, json: { events: 0, messages: 0, errors: [{ line: 1 }] } });
  const piped = await runCli(['events', 'validate', '-', '--json'], { stdin: 'nope\n' });
  expect(piped).toMatchObject({ code: 1, json: { messages: 0, errorCount: 1 } });
  const latin = await world.cli('events', 'send', temporaryFile('e.jsonl', Buffer.from([0xfc])));
  expect(latin).toMatchObject({ code: 2, stderr: expect.stringContaining('save it as UTF-8 first') });
});

/** Stops the command after the queue has accepted this many messages, as Ctrl-C does. */
async function stoppedAfter(messages: number) {
  const world = await savedWorld();
  const stopping = new AbortController();
  const taken: string[] = [];
  const send = async (given: readonly { readonly body: string }[]) => {
    taken.push(...given.map(({ body }) => body));
    if (taken.length >= messages) stopping.abort();
    return given.map((_, at) => ({ messageId: `m${at}` }));
  };
  const around = { ports: { ...world.ports, events: { send } }, signal: stopping.signal };
  return { taken, cli: (args: readonly string[]) => runCli(args, around), stopping };
}
const line = (at: number) =>
  JSON.stringify({
    ...{ specversion: '1.0', id: `e${at}`, source: 's', time: '2026-11-20T10:00:00Z' },
    ...{ type: 'directory.group.upserted', data: { group: { id: `g${at}`, name: 'N' } } },
  });
const lines = (count: number) => Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('');
const rows = (count: number) => Array.from({ length: count }, (_, at) => `g${at},N,m,\n`).join('');
const importing = (file: string) => ['import', file, '--yes', '--as-of', '2026-11-20T09:00:00Z'];
const STOPPED = 'groupsync: stopped; nothing was changed\n';
const MESSAGE = 'stopped: this line and all later lines were not sent';

it('after Ctrl-C, events send reports the first line that was not sent, and exits with 3', async () => {
  const { cli, taken } = await stoppedAfter(100);
  const { code, json } = await cli(['events', 'send', temporaryFile('e.jsonl', lines(250)), '--json']);
  expect(taken).toHaveLength(100);
  expect({ code, ...json }).toMatchObject({ code: 3, events: 100, messages: 100 });
  expect(json.errors[0]).toEqual({ line: 101, message: MESSAGE });
});

it('after Ctrl-C, events send, events validate and import process no further lines', async () => {
  const { cli, taken, stopping } = await stoppedAfter(1);
  stopping.abort();
  const file = temporaryFile('e.jsonl', lines(3));
  expect((await cli(['events', 'send', file])).stdout).toMatch(
    /^line 1: stopped: .*\n0 events in 0 messages/,
  );
  expect(await cli(['events', 'validate', file])).toMatchObject({ code: 1, stderr: STOPPED });
  expect(await cli(importing(temporaryFile('m.csv', rows(3))))).toMatchObject({
    code: 1,
    stderr: STOPPED,
  });
  expect(taken).toEqual([]);
});

it('after Ctrl-C, events send and import stop waiting for standard input', async () => {
  for (const args of [['events', 'send', '-'], importing('-')]) {
    const { ports } = await savedWorld();
    const ran = await runCli(args, { ports, person: [], signal: AbortSignal.timeout(50) });
    expect(ran, args.join(' ')).toMatchObject({ code: args[0] === 'import' ? 1 : 3 });
  }
});
