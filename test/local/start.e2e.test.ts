import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readDirectory } from '../support/reading.ts';
import { expectedGroups, reportedGroups } from './support/expected.ts';
import { start } from './support/start.ts';
import { companyOf, storyOf } from './support/story.ts';

const EXAMPLES = new URL('../../examples/', import.meta.url);
const readExample = (name: string) => readFileSync(new URL(name, EXAMPLES), 'utf8');

function folder() {
  const path = mkdtempSync(join(tmpdir(), 'groupsync-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const world = join(path, 'world.json');
  writeFileSync(world, JSON.stringify(companyOf(3)));
  /** A stack of few people starts faster. */
  const small = ['--empty', '--world', world];
  return { path, world, small, localFile: join(path, 'local.json'), log: join(path, 'local.log') };
}

describe('npm start -- --once --json', () => {
  it('brings the example company into step, as a naive reading of its events says', async () => {
    const { localFile, log } = folder();
    const args = ['--once', '--json', '--timeout', '280', '--local-file', localFile];
    // With the usual window of some seconds most of this test would be waiting.
    const { code, stdout } = await start(args, { GROUPSYNC_COALESCE_SECONDS: '1' }).exit;
    expect(code).toBe(0);
    const { converged, groups } = JSON.parse(stdout);
    expect(converged).toBe(true);
    const directory = readDirectory(readExample('company.events.jsonl'));
    const world = JSON.parse(readExample('company.world.json'));
    const expected = expectedGroups(directory, world);
    expect(expected).toHaveLength(40);
    expect(reportedGroups(groups)).toEqual(expected);
    expect(new Set(groups.map(({ state }: { state: string }) => state))).toEqual(
      new Set(['in_sync', 'deleted']),
    );

    const lines = readFileSync(log, 'utf8');
    expect(lines).toContain('"message":"applied"');
    for (const secret of secretsOf(world)) expect(lines.toLowerCase()).not.toContain(secret.toLowerCase());
  }, 300_000);
});

/** What no log may show: every person's name and addresses, and every token. */
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

describe('npm start -- --once beside a running npm start', () => {
  it('leaves it its local file and its log, and leaves no file behind', async () => {
    const { path, small } = folder();
    const stays = start(['--empty', '--json'], {}, path);
    const localFile = join(path, '.groupsync/local.json');
    await vi.waitUntil(() => stays.output.stdout !== '', { timeout: 20_000, interval: 20 });
    const written = readFileSync(localFile, 'utf8');
    const log = readFileSync(join(path, '.groupsync/local.log'), 'utf8');
    const { code } = await start(['--once', '--json', ...small], {}, path).exit;
    expect(code).toBe(0);
    expect(readFileSync(localFile, 'utf8')).toBe(written);
    expect(readFileSync(join(path, '.groupsync/local.log'), 'utf8').startsWith(log)).toBe(true);
    expect(readdirSync(join(path, '.groupsync')).sort()).toEqual(['local.json', 'local.log', 'once.log']);
    stays.signal('SIGTERM');
    await stays.exit;
    expect(existsSync(localFile)).toBe(false);
  }, 60_000);
});

describe('the end of npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'comes within 5 s of %s, with exit code 0 and no local file',
    async (name) => {
      const { small, localFile } = folder();
      const { exit, signal } = start([...small, '--json', '--local-file', localFile]);
      await vi.waitUntil(() => existsSync(localFile), { timeout: 20_000, interval: 20 });
      const startedMs = Date.now();
      signal(name);
      const { code, stderr } = await exit;
      expect(Date.now() - startedMs).toBeLessThan(5_000);
      expect(code).toBe(0);
      expect(stderr).toMatch(/^(0 groups settled\n)?$/);
      expect(existsSync(localFile)).toBe(false);
    },
  );

  it('comes in the middle of the work as quietly, and with 1 where --once has not converged', async () => {
    const { localFile } = folder();
    const { exit, output, signal } = start(['--once', '--json', '--local-file', localFile]);
    await vi.waitUntil(() => output.stderr.includes('waiting'), { timeout: 30_000, interval: 20 });
    const startedMs = Date.now();
    signal('SIGTERM');
    const { code, stdout, stderr } = await exit;
    expect(Date.now() - startedMs).toBeLessThan(5_000);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ converged: false });
    expect(stderr).not.toMatch(/Error|\n {4}at /);
    expect(existsSync(localFile)).toBe(false);
  });

  it('ends the console too, whose address it has printed', async () => {
    const { small, localFile } = folder();
    const { exit, output, signal } = start([...small, '--local-file', localFile]);
    await vi.waitUntil(() => output.stdout.includes('Ctrl-C stops.'), { timeout: 30_000, interval: 50 });
    const [, url = ''] = /^console +(\S+)$/m.exec(output.stdout) ?? [];
    expect((await fetch(url)).headers.get('content-type')).toContain('text/html');
    signal('SIGTERM');
    await exit;
    await vi.waitUntil(
      () =>
        fetch(url).then(
          () => false,
          () => true,
        ),
      { timeout: 5_000, interval: 50 },
    );
  }, 60_000);

  it('is 1 where the time is up', async () => {
    const { path, world, localFile } = folder();
    const events = join(path, 'events.jsonl');
    const story = storyOf({ seed: 'late', groups: 1, people: 3, changes: 3, endMs: Date.now() });
    writeFileSync(events, story.map((event) => JSON.stringify(event)).join('\n'));
    const args = ['--once', '--json', '--timeout', '0.1', '--world', world, '--events', events];
    const { code, stdout } = await start([...args, '--local-file', localFile]).exit;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ converged: false });
  });
});

describe('the command line of npm start', () => {
  it.each([
    ['an unknown flag', ['--onc'], /^npm start: unknown option '--onc' \(Did you mean --once\?\).*\n$/],
    [
      'a missing file',
      ['--events', '/nowhere.jsonl'],
      /^npm start: --events \/nowhere\.jsonl: .*no such file\n$/,
    ],
  ])('ends with 2 and one line on stderr for %s', async (_, args, says) => {
    const { code, stdout, stderr } = await start([...args, '--local-file', '/tmp/groupsync-none/local.json'])
      .exit;
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(says);
  });

  it('shows its flags on stdout', async () => {
    const { code, stdout, stderr } = await start(['--help']).exit;
    expect(code).toBe(0);
    expect(stdout).toContain('--pump-every');
    expect(stderr).toBe('');
  });
});
