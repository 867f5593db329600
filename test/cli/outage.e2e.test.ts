import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { writeLocalFile } from '../../local/local-file.ts';
import { runCli } from '../support/cli/io.ts';
import { acmeOf, nativeEvent } from '../support/events.ts';
import { startLocalStack } from '../support/local-stack.ts';

/* The platform's groups fail, while `/me` and the lists succeed. Fewer groups fail than the gate needs to close. */

async function startStack() {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-outage-'));
  const localFile = join(folder, 'local.json');
  const local = await startLocalStack({ world: acmeOf(['ann', 'bob'], 'token'), pumpSeconds: 1 });
  writeLocalFile(localFile, local.stack.address);
  return { ...local, folder, cli: (...args: string[]) => runCli([...args, '--local-file', localFile]) };
}

let on: Awaited<ReturnType<typeof startStack>>;
beforeAll(async () => {
  on = await startStack();
});
afterAll(async () => {
  await on.stop();
  rmSync(on.folder, { recursive: true, force: true });
});

const named = (name: string) => nativeEvent('group.upserted', { group: { id: 'g', name } });
const faults = (list: readonly object[]) =>
  on.control('faults', {
    method: 'POST',
    body: JSON.stringify(list),
    headers: { 'content-type': 'application/json' },
  });

it('status and doctor show an outage of the platform and its end', async () => {
  await on.send([named('Blue')]);
  await on.converge();
  const healthy = await on.cli('status', '--json');
  expect(healthy).toMatchObject({ code: 0, json: { failingCalls: [] } });

  await faults([{ match: { path: '/platform/api/groups/**' }, times: 100_000, status: 500 }]);
  await on.send([named('Red')]);
  await vi.waitFor(async () => expect((await on.cli('status')).code).toBe(3), {
    timeout: 60_000,
    interval: 500,
  });
  const outage = await on.cli('status', '--json');
  const calls = { share: 1, reason: '500', since: expect.any(String) };
  expect(outage.json).toMatchObject({ gate: { state: 'open' }, failingCalls: [calls] });
  expect((await on.cli('status')).stdout).toMatch(
    /calls {7}[A-Z]+ \/platform\/api\/groups\/\{groupId\}: \d+ of \d+ calls? \(100 %\) failed since \S+Z, the last with 500/,
  );
  const doctor = await on.cli('doctor', '--faults');
  expect(doctor.code).toBe(3);
  expect(doctor.stdout).toMatch(/FAIL default: platform calls: .*failed since/);
  const group = await on.cli('status', 'g', '--json');
  expect(group.json).toMatchObject({ state: 'dirty', waiting: { code: 'unavailable' } });
  const sync = await on.cli('sync', 'g', '--yes', '--timeout', '1');
  expect(sync.code).toBe(3);

  await faults([]);
  await on.cli('sync', 'g', '--yes');
  await vi.waitFor(async () => expect((await on.cli('status')).code).toBe(0), {
    timeout: 120_000,
    interval: 1_000,
  });
  expect((await on.cli('doctor', '--json')).json.checks).toContainEqual(
    expect.objectContaining({ name: 'default: platform calls', ok: true }),
  );
}, 300_000);
