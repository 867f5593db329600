import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readJournal } from '../../../local/platform/state/journal.ts';
import { worldFromState } from '../../../local/platform/state/to-world.ts';
import type { WorldInput } from '../../../local/platform/state/world.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { APP, LEAVE, startSimulator } from './fixture.ts';

let dataFile: string;
beforeEach(() => {
  dataFile = join(temporaryFolder(), 'platform.jsonl');
});

const world = (simulator: ReturnType<typeof startSimulator>['simulator']) =>
  JSON.parse(JSON.stringify(simulator.world()));

/** Makes one request of every kind that changes data. */
async function changeEverything({ call }: ReturnType<typeof startSimulator>) {
  const { id } = (await call('POST /groups', { body: { name: 'G', users: ['u1', 'ü “2”\n'] } })).json;
  await call(`PATCH /groups/${id}`, { body: { users: ['u1'] } });
  await call(`DELETE /groups/g1`);
  await call('POST /leave_requests', { body: LEAVE });
  await call('POST /ats_candidates/push_candidate', { body: { name: 'K', email: 'k@mail.test' } });
  await call('POST /_simulator/employees', { body: { name: 'New Hire' } });
}

test('every answered change survives a restart, even without a clean stop', async () => {
  const first = startSimulator({ dataFile });
  await changeEverything(first);
  const second = startSimulator({ dataFile });
  expect(world(second.simulator)).toEqual(world(first.simulator));
  expect((await second.call('GET /company_activity')).json).toEqual(
    (await first.call('GET /company_activity')).json,
  );
});

test('the data file has priority over the world, and only its owner can read it', async () => {
  await startSimulator({ dataFile }).call('DELETE /groups/g1');
  const { call } = startSimulator({ dataFile });
  expect((await call('GET /groups')).json).toEqual([]);
  expect(statSync(dataFile).mode & 0o777).toBe(0o600);
});

test('a kill at any byte of the last record leaves the state before or after that record', async () => {
  const small: WorldInput = {
    companies: [{ id: 'acme', groups: [{ id: 'g1', name: 'Admins', users: ['u1'], version: 'v1' }] }],
    credentials: [{ token: APP, kind: 'oauth_app' }],
  };
  const first = startSimulator({ dataFile, world: small });
  await first.call('GET /groups');
  const before = world(first.simulator);
  const bytesBefore = statSync(dataFile).size;
  await first.call('PATCH /groups/g1', { body: { name: 'Zoë', users: ['u2'], version: 'v1' } });
  const after = world(first.simulator);
  const whole = readFileSync(dataFile);
  expect(after).not.toEqual(before);
  for (let bytes = bytesBefore; bytes <= whole.length; bytes += 1) {
    writeFileSync(dataFile, whole.subarray(0, bytes));
    const kept = readJournal(dataFile, () => 'unused');
    if (kept === undefined) throw new Error('the first line is whole');
    expect(worldFromState(kept), `${bytes} bytes`).toEqual(bytes === whole.length ? after : before);
  }
});

test('a damaged complete line gives an error that names the line', async () => {
  const { call } = startSimulator({ dataFile });
  await call('GET /groups');
  const intact = readFileSync(dataFile, 'utf8');
  writeFileSync(dataFile, `${intact}[{"kind":"group"}]\n`);
  expect(() => startSimulator({ dataFile })).toThrow(/line 3/);
  writeFileSync(dataFile, '{"my":"own file"}\n');
  expect(() => startSimulator({ dataFile })).toThrow(/line 1/);
  expect(readFileSync(dataFile, 'utf8')).toBe('{"my":"own file"}\n');
});
