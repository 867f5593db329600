import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import packageJson from '../../package.json' with { type: 'json' };

/*
 * What `npm pack` makes, unpacked into an empty folder beside what it declares as its dependencies and nothing else:
 * what it has forgotten to declare or to carry is missing here too.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Of the tarball. Most of it are the functions and the SDK, bundled; docs/deploy.md states the size. */
const MAX_BYTES = 3_000_000;

const folder = mkdtempSync(join(tmpdir(), 'groupsync-package-'));
const home = join(folder, 'node_modules/groupsync');
const bin = join(home, packageJson.bin.groupsync);
let packed: { filename: string; size: number; files: { path: string }[] };

beforeAll(() => {
  const told = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  [packed] = JSON.parse(told.slice(told.indexOf('[')));
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', home, '--strip-components=1']);
  for (const name of Object.keys(packageJson.dependencies)) link(name);
  const group = { id: 'g-1', name: 'Crew' };
  const event = { specversion: '1.0', id: 'e-1', source: 'test', time: new Date().toISOString() };
  const snapshot = { ...event, type: 'directory.group.snapshot', data: { group, members: [] } };
  writeFileSync(join(folder, 'crew.jsonl'), JSON.stringify(snapshot));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function link(name: string): void {
  const target = join(folder, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), target);
}

const groupsync = (...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [bin, ...args], { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });

it('carries what was built, and no source, test or setting of ours', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => /(?<!\.d)\.ts$|test|\.groupsync|tsconfig/.test(path))).toEqual([]);
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

it('asks a stack that is up', async () => {
  const child = spawn(process.execPath, [bin, 'start', '--empty'], { cwd: folder });
  const exited = once(child, 'exit');
  let told = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    told += chunk;
    if (told.includes('Ctrl-C')) break;
  }
  const page = new URL('/app.js', /^console +(\S+)$/m.exec(told)?.[1]);
  expect((await (await fetch(page)).text()).length).toBeGreaterThan(10_000);
  for (const [words, codes] of ASKED) {
    const { code, stderr } = await groupsync('--local', ...words);
    expect(codes, `${words.join(' ')}: ${stderr}`).toContain(code);
    expect(stderr).not.toMatch(/\n {4}at /);
  }
  child.kill('SIGTERM');
  await exited;
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
