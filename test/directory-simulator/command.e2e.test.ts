import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runDirectory } from '../../directory-simulator/command.ts';
import { listening, startProcess } from '../local/support/process.ts';
import { temporaryFolder } from '../support/folder.ts';

const run = (...args: string[]) =>
  startProcess(process.execPath, ['--import', 'tsx', 'directory-simulator/main.ts', ...args]);

it('the directory command prints its address and credentials, answers requests, keeps the key, and stops on SIGTERM', async () => {
  const key = join(temporaryFolder(), 'key.json');
  const started = run('google', '--people', '20', '--groups', '3', '--calm', '--key', key);
  const [address = '', administrator, token = '', keyLine] = await listening(started);
  expect(address).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
  expect(administrator).toMatch(/^administrator \S+@juniper-vale\.example$/);
  expect(keyLine).toBe(`service account key ${key}`);
  expect(JSON.parse(readFileSync(key, 'utf8'))).toMatchObject({ type: 'service_account' });
  const url = `${address.replace('listening on ', '')}/admin/directory/v1/groups?customer=my_customer`;
  const headers = { authorization: `Bearer ${token.replace('access token ', '')}` };
  const answer = (await (await fetch(url, { headers })).json()) as { groups: unknown[] };
  expect(answer.groups).toHaveLength(3);
  started.signal('SIGTERM');
  expect(await started.exit).toMatchObject({ code: 0, stderr: '' });
});

it.each([
  ['no directory', [], 'google'],
  ['an unknown directory', ['yahoo'], 'yahoo'],
  ['an invalid number', ['google', '--people', 'many'], '--people'],
  ['an unknown flag', ['google', '--colour', 'red'], '--colour'],
  ['a key file without a JWK', ['okta', '--key', 'package.json'], '--key'],
  ['a key for Entra ID', ['entra', '--key', 'package.json'], '--key'],
  ['a key file without a key', ['google', '--key', 'package.json'], '--key'],
])('the directory command answers %s with one line on stderr and exit code 2', async (_, args, named) => {
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => stderr.mockRestore());
  expect(await runDirectory(args)).toBe(2);
  expect(stderr).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(named));
});
