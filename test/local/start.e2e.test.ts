import { describe, expect, it } from 'vitest';
import { start } from './support/start.ts';

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
