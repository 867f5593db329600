import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runPlatform } from '../../../local/platform/command.ts';
import { temporaryFile, temporaryFolder } from '../../support/folder.ts';
import { listening, startProcess } from '../support/process.ts';
import { WORLD } from './fixture.ts';

const run = (...args: string[]) =>
  startProcess(process.execPath, ['--import', 'tsx', 'local/platform.ts', ...args]);

const BROKEN = '{"companies":[{"groups":[{"id":"g"}]}]}';

/** Returns a spy that captures the printed text. */
function printed(stream: 'stdout' | 'stderr') {
  const spy = vi.spyOn(process[stream], 'write').mockReturnValue(true);
  onTestFinished(() => spy.mockRestore());
  return spy;
}

test('the platform command prints its address and tokens, keeps its state after kill -9 with --data, and stops on SIGTERM', async () => {
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

test.each([
  ['a wrong world', () => ['--world', temporaryFile('broken.json', BROKEN)], 'companies[0].groups[0].name'],
  ['a world that is not JSON', () => ['--world', temporaryFile('not.json', 'companies:')], 'JSON'],
  ['a missing world', () => ['--world', join(temporaryFolder(), 'absent.json')], 'absent.json'],
  ['an invalid data file', () => ['--data', temporaryFile('other.jsonl', '{"a":1}\n')], 'other.jsonl'],
  ['an invalid number', () => ['--people', 'many'], '--people'],
  ['an unknown option', () => ['--colour', 'red'], '--colour'],
])('the platform command answers %s with one line on stderr and exit code 2', async (_, args, named) => {
  const stdout = printed('stdout');
  const stderr = printed('stderr');
  expect(await runPlatform(args())).toBe(2);
  expect(stdout).not.toHaveBeenCalled();
  expect(stderr).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^[^\n]+\n$/));
  expect(stderr).toHaveBeenCalledWith(expect.stringContaining(named));
});
