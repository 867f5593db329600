import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../console/support/browser.ts';
import { runCli } from '../support/cli/io.ts';

/* These tests run `npm start` as a new user does, and do what it suggests. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 300_000;
const localFile = join(mkdtempSync(join(tmpdir(), 'groupsync-')), 'local.json');
let stack: ChildProcess;
let browser: Browser;
let output = '';
/** Each task with the arguments of its command and the address of its page. */
let tasks: readonly { readonly args: readonly string[]; readonly address: string }[] = [];

/** Runs a command in this process. test/local/package.e2e.test.ts runs commands as processes. */
async function groupsync(...args: readonly string[]): Promise<string> {
  const ran = await runCli(['--local-file', localFile, ...args]);
  expect(ran.stderr).not.toMatch(/error/i);
  return ran.stdout;
}
const json = async (...args: readonly string[]) => JSON.parse(await groupsync('--json', ...args));

beforeAll(async () => {
  const args = ['scripts/start.mjs', '--local-file', localFile];
  stack = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    stack.stdout?.on('data', (chunk) => {
      output += chunk;
      if (/\n3\. .*\n.*\n.*\n/.test(output)) resolve();
    });
    stack.once('exit', () => reject(new Error(output)));
  });
  tasks = [...output.matchAll(/^\d\. .*\n {3}.*--local-file \S+ (.*)\n {3}(http.*)$/gm)].map(
    ([, command = '', address = '']) => ({ args: command.split(' '), address }),
  );
  browser = await openBrowser();
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  stack.kill();
  await once(stack, 'exit');
  rmSync(dirname(localFile), { recursive: true, force: true });
});

describe('npm start with the example company', { timeout: TIMEOUT_MS }, () => {
  it('npm start prints the address of the console first', () => {
    expect(output).toMatch(/^console {5}http:\/\/127\.0\.0\.1:\d+\/c\/default#/);
  });

  it('each of the three things to try has a command and a page that show the problem', async () => {
    expect(tasks).toHaveLength(3);
    const expected = [
      /a later snapshot of the group does not list them/,
      /matches no employee/,
      /invalid_event/,
    ];
    const titles = ['Hold of Acme choir', 'Ines Okafor', 'Dead-lettered messages'];
    for (const [index, { args, address }] of tasks.entries()) {
      expect(await groupsync(...args)).toMatch(expected[index] as RegExp);
      const page = await browser.newPage();
      await page.goto(address);
      await page.getByRole('heading', { level: 1, name: titles[index] as string }).waitFor();
      await page.close();
    }
  });

  it('status, explain and audit agree about the day, and no entry of the audit is missing or changed', async () => {
    expect(await json('status')).toMatchObject({
      groups: { in_sync: 39, held: 1, deleted: 2 },
      pendingMembers: 2,
      holds: 1,
      gate: { state: 'open' },
      backlog: 0,
      queues: { eventsDlq: 1 },
    });
    expect(await groupsync('audit', '--verify')).toMatch(/none was changed or removed/);
    const { entries } = await json('log', '--limit', '500');
    const actions = new Set(entries.map(({ action }: { action: string }) => action));
    for (const action of ['drift_members_removed', 'holds_approve', 'gate_close', 'gate_open', 'hold'])
      expect(actions).toContain(action);
    const hours = new Set(entries.map(({ at }: { at: string }) => at.slice(0, 13)));
    expect(hours.size).toBeGreaterThan(15);
    expect(Math.max(...entries.map(({ at }: { at: string }) => Date.parse(at)))).toBeLessThan(Date.now());
  });
});
