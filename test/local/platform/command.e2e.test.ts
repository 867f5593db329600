import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFile, temporaryFolder } from '../../support/folder.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { startProcess } from '../support/process.ts';
import { WORLD } from './fixture.ts';

const run = (...args: string[]) =>
  startProcess(process.execPath, ['--import', 'tsx', 'local/platform.ts', ...args]);

/** Returns the lines that the command has printed when it begins to listen. */
async function listening({ output }: ReturnType<typeof run>): Promise<string[]> {
  await vi.waitUntil(() => output.stdout !== '', { timeout: PATIENCE_MS, interval: 20 });
  return output.stdout.split('\n');
}

test('the platform command prints address and tokens, survives kill -9 with --data, and stops on SIGTERM', async () => {
  const world = temporaryFile('world.json', JSON.stringify(WORLD));
  const data = join(temporaryFolder(), 'data.jsonl');
  const first = run('--world', world, '--data', data);
  const [address = '', ...tokens] = await listening(first);
  expect(address).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
  expect(tokens[0]).toMatch(/^acme-app {2}oauth_app admin of acme/);
  const headers = { authorization: 'Bearer acme-app', 'content-type': 'application/json' };
  const groups = `${address.replace('listening on ', '')}/platform/api/groups`;
  const created = await fetch(groups, { method: 'POST', headers, body: '{"name":"Kept"}' });
  const group = (await created.json()) as { id: string };
  first.signal('SIGKILL');
  await first.exit;
  const second = run('--data', data);
  const [again = ''] = await listening(second);
  const read = await fetch(`${again.replace('listening on ', '')}/platform/api/groups/${group.id}`, {
    headers,
  });
  expect(await read.json()).toEqual(group);
  second.signal('SIGTERM');
  expect(await second.exit).toMatchObject({ code: 0, stderr: '' });
});

test('an invalid file or option leads to one line on stderr and exit code 2', async () => {
  const broken = temporaryFile('broken.json', '{"companies":[{"groups":[{"id":"g"}]}]}');
  const outcomes = await Promise.all(
    [
      ['--world', broken],
      ['--world', temporaryFile('not.json', 'companies:')],
      ['--world', join(temporaryFolder(), 'absent.json')],
      ['--data', temporaryFile('other.jsonl', '{"a":1}\n')],
      ['--people', 'many'],
      ['--colour', 'red'],
    ].map((args) => run(...args).exit),
  );
  for (const { code, stdout, stderr } of outcomes) {
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 });
  }
  expect(outcomes[0]?.stderr).toContain('companies[0].groups[0].name');
  expect(outcomes[4]?.stderr).toContain('--people');
});

test('--help explains the options', async () => {
  const { code, stdout } = await run('--help').exit;
  expect(code).toBe(0);
  for (const flag of ['--port', '--world', '--data', '--people', '--groups', '--seed']) {
    expect(stdout).toContain(flag);
  }
});
