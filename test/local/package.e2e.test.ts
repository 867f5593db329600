import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pMap from 'p-map';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import type { GroupReport } from '../../local/report.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { AS_WANTED } from '../../shared/plan/waiting.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { readDirectory } from '../support/reading.ts';
import { expectedGroups, reportedGroups } from './support/expected.ts';
import { ROOT, startProcess } from './support/process.ts';

/* These tests install the tarball of `npm pack` into an empty folder, so a missing file makes a test fail. */

/** The largest size of the tarball, which consists mostly of bundled packages: the SDK and the emulators. */
const MAX_BYTES = 6_250_000;
/** The largest size of all installed packages. */
const MAX_INSTALLED_BYTES = 29_000_000;

const folder = mkdtempSync(join(tmpdir(), 'groupsync-package-'));
const home = join(folder, 'node_modules/groupsync');
const bin = join(home, packageJson.bin.groupsync);
const around = { cwd: folder, env: { ...process.env, GROUPSYNC_COALESCE_SECONDS: '1' } };
const groupsync = (...args: string[]) => startProcess(process.execPath, [bin, ...args], around);
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
let packed: { filename: string; size: number; files: { path: string }[] };
let stack: ReturnType<typeof groupsync>;
let example: ReturnType<typeof groupsync>;

function pack(...options: readonly string[]): typeof packed {
  const args = ['pack', '--json', '--silent', '--pack-destination', folder, ...options];
  const listed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(listed.slice(listed.indexOf('[')))[0];
}

beforeAll(async () => {
  packed = pack();
  // The dependencies as tarballs, so that the installation needs no network.
  const dependencies = Object.keys(packageJson.dependencies).map((name) => pack(`./node_modules/${name}`));
  const tarballs = [packed, ...dependencies].map(({ filename }) => `./${filename}`);
  // `--ignore-scripts=false` runs install scripts, as `npm install` does by default.
  const how = '--offline --no-audit --no-fund --loglevel=error --ignore-scripts=false --engine-strict';
  execFileSync('npm', ['install', ...how.split(' '), ...tarballs], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const group = { id: 'g-1', name: 'Crew 🎉' };
  const event = { specversion: '1.0', id: 'e-1', source: 'test', time: new Date().toISOString() };
  const snapshot = { ...event, type: 'directory.group.snapshot', data: { group, members: [] } };
  writeFileSync(join(folder, 'crew.jsonl'), JSON.stringify(snapshot));
  symlinkSync(join(home, 'examples'), join(folder, 'examples'));
  stack = groupsync('start', '--empty', '--people-every', '2', '--pump-every', '1');
  await vi.waitUntil(() => stack.output.stdout.includes('Ctrl-C stops.'), { timeout: PATIENCE_MS });
  // No option sets the coalescing window, so the run has the window of `--once`.
  const once = [bin, 'start', '--once', '--json', '--timeout', '280'];
  example = startProcess(process.execPath, once, { cwd: folder });
});
afterAll(async () => {
  for (const one of [stack, example]) {
    one.signal('SIGKILL');
    await one.exit;
  }
  rmSync(folder, { recursive: true, force: true });
});

function link(name: string): void {
  const target = join(folder, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), target);
}

it('the package contains only built files, and no source, test or local setting', () => {
  const paths = packed.files.map(({ path }) => path);
  const product = paths.filter((path) => !path.startsWith('examples/'));
  expect(product.filter((path) => /(?<!\.d)\.ts$|test(?!\.schema)|\.groupsync|tsconfig/.test(path))).toEqual(
    [],
  );
  expect(paths.filter((path) => /functions\/\w+\/index\.mjs$/.test(path))).toHaveLength(7);
  expect(paths).toContain('examples/company.events.jsonl');
  expect(paths).toEqual(expect.arrayContaining(['dist/cdk/package.json', 'dist/cdk/package-lock.json']));
  expect(packed.size).toBeLessThan(MAX_BYTES);
  // The type declarations need zod. All other packages are bundled in the tested versions.
  expect(Object.keys(packageJson.dependencies)).toEqual(['zod']);
  expect(read('node_modules/groupsync/dist/THIRD-PARTY.txt')).toContain('dynalite');
});

it('npm install brings two packages, at most 29 MB and no install script', () => {
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' });
  const paths = files.map((path) => join('node_modules', path));
  const bytes = paths.map((path) => statSync(join(folder, path))).filter((file) => file.isFile());
  expect(bytes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(MAX_INSTALLED_BYTES);
  const { packages } = JSON.parse(read('node_modules/.package-lock.json'));
  expect(Object.keys(packages)).toEqual(['node_modules/groupsync', 'node_modules/zod']);
  // npm also runs an install script for a package with a file binding.gyp.
  expect(paths.filter((path) => path.endsWith('binding.gyp'))).toEqual([]);
  const scripts = Object.keys(packages).flatMap((path) =>
    Object.keys(JSON.parse(read(`${path}/package.json`)).scripts ?? {}).filter((name) =>
      /install$/.test(name),
    ),
  );
  expect(scripts).toEqual([]);
  expect(JSON.stringify(packages)).not.toContain('hasInstallScript');
});

it('the packaged app builds the CloudFormation stack in a folder that contains only settings', async () => {
  const cwd = mkdtempSync(join(folder, 'settings-'));
  const settings = {
    logLevel: 'warn',
    stages: { production: { prefix: 'acme' }, staging: { prefix: 'acme-2' } },
  };
  writeFileSync(join(cwd, 'groupsync.json'), JSON.stringify(settings));
  const out = join(cwd, 'out');
  const context = JSON.stringify({ stage: 'staging', scim: 'true' });
  const env = {
    ...process.env,
    NODE_PATH: join(ROOT, 'node_modules'),
    CDK_OUTDIR: out,
    CDK_CONTEXT_JSON: context,
  };
  const { code, stderr } = await startProcess(process.execPath, [join(home, 'dist/app.cjs')], { cwd, env })
    .exit;
  expect(code, stderr).toBe(0);
  const template = readFileSync(join(out, 'acme-2.template.json'), 'utf8');
  expect(template).toContain('"acme-2-scim"');
  expect(template).toContain('"GROUPSYNC_LOG_LEVEL":"warn"'.replace(':', ': '));
});

it('the example CDK app and a program with the platform client compile against the types of the package without skipLibCheck', async () => {
  const cwd = join(folder, 'cdk-app');
  cpSync(join(home, 'examples/cdk-app'), cwd, { recursive: true });
  for (const name of ['aws-cdk-lib', 'constructs', '@types/node', 'undici-types']) link(name);
  const client = "createClient({ baseUrl: 'https://a.test', token: 't' })";
  writeFileSync(
    join(cwd, 'client.ts'),
    `import { createClient } from 'groupsync/platform';
    export const name: string = (await ${client}.groups.get('g')).name;`,
  );
  // Several checkers repeat work, and the garbage collector takes a third of the time.
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', cwd, '--checkers', '1'];
  const env = { ...process.env, GOGC: '400' };
  const compiled = await startProcess(process.execPath, tsc, { cwd, env }).exit;
  expect(compiled).toMatchObject({ code: 0, stdout: '' });
});

it('the packaged command prints help for every command', async () => {
  const { code, stdout } = await groupsync('--help').exit;
  expect(code).toBe(0);
  for (const command of createProgram(() => async () => {}).commands)
    expect(stdout).toMatch(new RegExp(`^ {2}${command.name()}\\b`, 'm'));
  const start = await groupsync('start', '--help').exit;
  expect(start).toMatchObject({ code: 0, stdout: expect.stringContaining('--pump-every'), stderr: '' });
});

it('the packaged console serves its page and answers requests', async () => {
  const page = new URL('/app.js', /^console +(\S+)$/m.exec(stack.output.stdout)?.[1]);
  expect((await (await fetch(page)).text()).length).toBeGreaterThan(10_000);
  expect((await groupsync('--local', 'events', 'send', 'crew.jsonl', '--yes').exit).code).toBe(0);
  const ask = async ([words, codes]: (typeof COMMANDS)[number]) => {
    const { code, stderr } = await groupsync('--local', ...words).exit;
    expect(codes, `${words.join(' ')}: ${stderr}`).toContain(code);
    expect(stderr).not.toMatch(/\n {4}at /);
  };
  await pMap(COMMANDS, ask, { concurrency: 3 });
});

/** Commands that the walkthrough of the README does not use, with their exit codes for an empty company. */
const COMMANDS: readonly (readonly [readonly string[], readonly number[]])[] = [
  [['scim', 'token', 'list'], [0]],
  [['people', 'refresh'], [0]],
  [['explain', 'nothing', 'unknown'], [1]],
];

it('npm start ends quickly while it works, and with exit code 1 if --once has not converged', async () => {
  const localFile = join(folder, 'middle/local.json');
  const { exit, output, signal } = groupsync('start', '--once', '--json', '--local-file', localFile);
  onTestFinished(() => void signal('SIGKILL'));
  await vi.waitUntil(() => output.stderr.includes('waiting'), { timeout: PATIENCE_MS, interval: 20 });
  const startedMs = Date.now();
  signal('SIGTERM');
  const { code, stdout, stderr } = await exit;
  expect(Date.now() - startedMs).toBeLessThan(25_000);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ converged: false });
  expect(stderr).not.toMatch(/Error|\n {4}at /);
  expect(existsSync(localFile)).toBe(false);
});

it('npm start --once syncs the example company to the groups and members that the events describe', async () => {
  const { code, stdout, stderr } = await example.exit;
  expect(code, stderr).toBe(0);
  const { converged, groups } = JSON.parse(stdout);
  expect(converged).toBe(true);
  const directory = readDirectory(read('examples/company.events.jsonl'));
  const world = JSON.parse(read('examples/company.world.json'));
  const expected = expectedGroups(directory, world);
  expect(expected).toHaveLength(40);
  expect(reportedGroups(groups)).toEqual(expected);
  const isDone = ({ state, waiting }: GroupReport) =>
    state === 'in_sync' || state === 'deleted' || waiting?.code === AS_WANTED.code;
  expect(groups.filter((group: GroupReport) => !isDone(group))).toEqual([]);

  const lines = read('.groupsync/once.log');
  expect(lines).toContain('"message":"applied"');
  for (const secret of secretsOf(world)) expect(lines.toLowerCase()).not.toContain(secret.toLowerCase());
});

/** Returns the texts that no log may contain: the names and addresses of all people, and all tokens. */
function secretsOf({ companies, credentials }: { companies: unknown[]; credentials: { token: string }[] }) {
  const people = companies.flatMap(
    (company) => (company as { employees: Record<string, string>[] }).employees,
  );
  const personal = people.flatMap(({ name, workEmail, personalEmail }) => [name, workEmail, personalEmail]);
  const secrets = [...personal, ...credentials.map(({ token }) => token)].filter(
    (text) => text !== undefined,
  );
  expect(secrets.length).toBeGreaterThan(1_000);
  return secrets;
}

/** All sh blocks of the README. The first block installs and starts the stack. The other blocks use this stack. */
const [SET_UP = '', ...WALK] = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].map(([, block = '']) => block);

/** Runs the package for `npx` and `npm`, and records exit codes. `until_there` repeats a search. */
const PRELUDE = `
npx() { shift; local code=0; node '${bin}' "$@" || code=$?; echo "$2 $code" >> codes; }
npm() { shift 3; node '${bin}' start --empty "$@"; }
until_there() { local end=$((SECONDS + 60)); until "$@" > there; do [ $SECONDS -lt $end ] || return 1; sleep 0.2; done; cat there; }
set -e -o pipefail
`;
const scriptOf = (block: string, place: number) =>
  block.includes('grep -o')
    ? `block_${place}() {\n${block}\n}\nuntil_there block_${place}`
    : `${block}\necho "block ${place} done"`;

/** A machine without curl skips the test. The command of the AWS CLI is not in an sh block. */
const hasCurl = spawnSync('curl', ['--version']).status === 0;

it.skipIf(!hasCurl)(
  'the walkthrough of the README runs from its first command to its last',
  async () => {
    expect(SET_UP).toBe('npm ci && npm start\n');
    const script = PRELUDE + WALK.map(scriptOf).join('\n');
    const { code, stdout, stderr } = await startProcess('bash', ['-c', script], around).exit;
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    // The command sync exits with 3 because the platform refuses the credential. The command doctor exits with 3 if the
    // new stack has not read the feed yet.
    expect(read('codes').trim().replace('doctor 3', 'doctor 0').split('\n'), stderr).toEqual([
      ...['events 0', 'status 0', 'explain 0', 'import 0', 'dlq 0', 'doctor 0'],
      ...['sync 3', 'connect 0'],
    ]);
    expect(stdout).toMatch(/"name":"Sailing".*"users":\["user_/);
  },
  120_000,
);

it('npm start ends soon after Ctrl-C with exit code 0, and removes its local file', async () => {
  const [, url = ''] = /^console +(\S+)$/m.exec(stack.output.stdout) ?? [];
  expect((await fetch(url)).headers.get('content-type')).toContain('text/html');
  const startedMs = Date.now();
  stack.signal('SIGINT');
  const { code, stderr } = await stack.exit;
  expect(Date.now() - startedMs).toBeLessThan(25_000);
  expect(code).toBe(0);
  // Scheduled functions can run while the platform refuses the credential, so their 401 errors are allowed.
  expect(stderr).not.toMatch(/^(?!groupsync-\w+ .* 401: ).*(Error|has failed)|^ {4}at /m);
  expect(existsSync(join(folder, '.groupsync/local.json'))).toBe(false);
  await expect(fetch(url)).rejects.toThrow();
});
