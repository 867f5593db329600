import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import packageJson from '../../package.json' with { type: 'json' };

/*
 * What `npm pack` makes, unpacked into an empty folder beside what it declares as its dependencies and nothing else:
 * what it has forgotten to declare or to carry is missing here too. One stack of it is up; it is asked by every kind of
 * command, and by the walk that the README invites to.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Of the tarball. Most of it are the functions and the SDK, bundled; docs/deploy.md states the size. */
const MAX_BYTES = 3_000_000;

const folder = mkdtempSync(join(tmpdir(), 'groupsync-package-'));
const home = join(folder, 'node_modules/groupsync');
const bin = join(home, packageJson.bin.groupsync);
const environment = { ...process.env, GROUPSYNC_COALESCE_SECONDS: '1' };
let stack: ChildProcess;
let told = '';
let packed: { filename: string; size: number; files: { path: string }[] };

beforeAll(async () => {
  const listed = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  [packed] = JSON.parse(listed.slice(listed.indexOf('[')));
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', home, '--strip-components=1']);
  for (const name of Object.keys(packageJson.dependencies)) link(name);
  const group = { id: 'g-1', name: 'Crew' };
  const event = { specversion: '1.0', id: 'e-1', source: 'test', time: new Date().toISOString() };
  const snapshot = { ...event, type: 'directory.group.snapshot', data: { group, members: [] } };
  writeFileSync(join(folder, 'crew.jsonl'), JSON.stringify(snapshot));
  symlinkSync(join(home, 'examples'), join(folder, 'examples'));
  const often = ['--people-every', '2', '--pump-every', '1'];
  stack = spawn(process.execPath, [bin, 'start', '--empty', ...often], { cwd: folder, env: environment });
  for await (const chunk of stack.stdout?.setEncoding('utf8') ?? []) {
    told += chunk;
    if (told.includes('Ctrl-C')) break;
  }
}, 120_000);
afterAll(async () => {
  const exited = once(stack, 'exit');
  stack.kill('SIGTERM');
  await exited;
  rmSync(folder, { recursive: true, force: true });
});

function link(name: string): void {
  const target = join(folder, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), target);
}

const run = (file: string, args: readonly string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: folder, env: environment, maxBuffer: 2 ** 26 };
    execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
const groupsync = (...args: string[]) => run(process.execPath, [bin, ...args]);

it('carries what was built, and no source, test or setting of ours', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => /(?<!\.d)\.ts$|test(?!\.schema)|\.groupsync|tsconfig/.test(path))).toEqual(
    [],
  );
  expect(paths.filter((path) => /functions\/\w+\/index\.mjs$/.test(path))).toHaveLength(5);
  expect(paths).toContain('examples/company.events.jsonl');
  expect(packed.size).toBeLessThan(MAX_BYTES);
});

it('does the main job', async () => {
  const done = await groupsync('start', '--once', '--json', '--events', 'crew.jsonl');
  expect(done.code, done.stderr).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ converged: true, groups: [{ name: 'Crew' }] });
}, 120_000);

it('has the help of every command', async () => {
  const helped = await pMap(everyCommand(), async (words) => [words, await groupsync(...words, '--help')], {
    concurrency: 4,
  });
  for (const [words, { code, stdout }] of helped as [string[], Awaited<ReturnType<typeof groupsync>>][]) {
    expect(code, words.join(' ')).toBe(0);
    expect(stdout).toContain(`Usage: groupsync ${words.join(' ')}`);
  }
}, 120_000);

it('serves its page, and answers', async () => {
  const page = new URL('/app.js', /^console +(\S+)$/m.exec(told)?.[1]);
  expect((await (await fetch(page)).text()).length).toBeGreaterThan(10_000);
  for (const [words, codes] of ASKED) {
    const { code, stderr } = await groupsync('--local', ...words);
    expect(codes, `${words.join(' ')}: ${stderr}`).toContain(code);
    expect(stderr).not.toMatch(/\n {4}at /);
  }
}, 120_000);

/** With the exit codes that fit: what needs attention in an empty company, or is not there, is no mistake of ours. */
const ASKED: readonly (readonly [readonly string[], readonly number[]])[] = [
  [['events', 'send', 'crew.jsonl', '--yes'], [0]],
  [['status'], [0, 3]],
  [['doctor'], [0, 1, 3]],
  [['holds'], [0]],
  [['dlq', 'list'], [0]],
  [['connections'], [0]],
  [['scim', 'token', 'list'], [0]],
  [['people', 'refresh'], [0]],
  [['reconcile', '--sweep'], [0]],
  [['explain', 'nothing', 'nobody'], [1]],
];

/** Every command without commands of its own, as it is typed. */
function everyCommand(): string[][] {
  const walk = (command: ReturnType<typeof createProgram>, words: string[]): string[][] =>
    command.commands.length === 0
      ? [words]
      : command.commands.flatMap((child) => walk(child, [...words, child.name()]));
  return walk(
    createProgram(() => async () => {}),
    [],
  ).filter(([first]) => first !== 'help');
}

/** Every sh block of the README, as it stands there; the first installs, and starts the stack that the others ask. */
const [SET_UP = '', ...WALK] = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].map(([, block = '']) => block);

/**
 * `npx` and `npm` run the package, which this folder has; how each command ended is kept. A block that looks for what
 * comes by itself a little later is repeated until it is there.
 */
const PRELUDE = `
npx() { shift; local code=0; node '${bin}' "$@" || code=$?; echo "$2 $code" >> codes; }
npm() { shift 3; node '${bin}' start --empty "$@"; }
until_there() { local end=$((SECONDS + 60)); until "$@" > there; do [ $SECONDS -lt $end ] || return 1; sleep 0.5; done; cat there; }
set -e -o pipefail
`;
const scriptOf = (block: string, place: number) =>
  block.includes('grep -o')
    ? `block_${place}() {\n${block}\n}\nuntil_there block_${place}`
    : `${block}\necho "block ${place} done"`;

/** The README says that its walk takes them; nothing but Node may be asked of who runs the tests. */
const hasTools = ['aws', 'jq', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

it.skipIf(!hasTools)(
  "the README's walk can be gone from its first command to its last",
  async () => {
    expect(SET_UP).toBe('npm ci\nnpm start\n');
    const script = PRELUDE + WALK.map(scriptOf).join('\n');
    const { code, stdout, stderr } = await run('bash', ['-c', script]);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    // The dead letter is a fault to doctor; sync meets the refused credential.
    expect(readFileSync(join(folder, 'codes'), 'utf8').trim().split('\n'), stderr).toEqual([
      ...['status 0', 'explain 0', 'import 0', 'dlq 0', 'doctor 3'],
      ...['sync 3', 'connect 0'],
    ]);
    expect(stdout).toMatch(/"name":"Sailing".*"users":\["user_/);
    expect(stdout).toContain('"code": "invalid_json"');
  },
  120_000,
);
