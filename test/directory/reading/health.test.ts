import { expect, it } from 'vitest';
import { readDirectoryStatus } from '../../../shared/directory/operate/status.ts';
import { findProblems } from '../../../shared/sync/reconcile/levels.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, openReader, type Reader, settle } from './fixture.ts';

const WORLD = company({ rowing: ['a', 'b'], chess: ['c', 'd'], tennis: ['a'] });
const ADMINISTRATOR = 'admin@acme.test';
const SETTINGS = { directory: { kind: 'google', administrator: ADMINISTRATOR } };

const started = async () => settle(await openReader({ world: WORLD, settings: SETTINGS }), 20);

const statusOf = async ({ world, ports }: Reader) =>
  readDirectoryStatus(await world.connection(), { ...world.toolPorts, ...ports });
async function findingsOf({ world, ports }: Reader): Promise<readonly string[]> {
  const all = { ...world.toolPorts, ...ports, index: world.toolPorts.index };
  const found = await findProblems(await world.connection(), all);
  return found.filter(({ count }) => count > 0).map(({ subject }) => subject);
}

it('the reader is late if the directory has not answered for ten minutes longer than expected', async () => {
  const reader = await started();
  expect((await statusOf(reader)).freshness).toMatchObject({ expectedEveryMs: 5 * MINUTE_MS, late: false });
  await reader.google.control('faults', [
    { match: { path: '*/admin/*' }, times: 200, error: 'backendError' },
  ]);
  for (let run = 0; run < 4; run += 1) {
    await expect(reader.run()).rejects.toThrow('answered 503');
    await reader.pass(5 * MINUTE_MS);
  }
  expect((await statusOf(reader)).freshness?.late).toBe(true);
  expect(await findingsOf(reader)).toEqual(['source']);
  await reader.google.control('faults', []);
  await reader.run();
  expect([await findingsOf(reader), (await statusOf(reader)).freshness?.late]).toEqual([[], false]);
});

it.each([
  [
    'the delegation has ended',
    (reader: Reader) => reader.google.control('delegation', { scopes: [] }),
    'token: the directory answered 401 (unauthorized_client)',
  ],
  [
    'the administrator has lost the permission to read',
    (reader: Reader) => reader.change({ kind: 'changeUser', user: ADMINISTRATOR, isAdmin: false }),
    'the directory answered 403',
  ],
  [
    'the administrator is suspended',
    (reader: Reader) => reader.change({ kind: 'suspendUser', user: ADMINISTRATOR }),
    'token: the directory answered 400 (invalid_grant)',
  ],
])('the reader reports the reason if it cannot read: %s', async (_, end, reason) => {
  const reader = await started();
  await end(reader);
  await reader.google.control('access-tokens/expire');
  await expect(reader.run()).rejects.toThrow(reason);
  const since = (await statusOf(reader)).freshness?.stopped?.since;
  await reader.pass(20 * MINUTE_MS);
  await expect(reader.run()).rejects.toThrow(reason);
  expect((await statusOf(reader)).freshness?.stopped).toEqual({
    since,
    reason: expect.stringContaining(reason),
  });
  expect(await findingsOf(reader)).toEqual(['source']);
});

it('the reader reports a stop because of missing groups, and later reports that it continues', async () => {
  const reader = await started();
  const short = { status: 200, body: '{"kind":"admin#directory#groups"}' };
  await reader.google.control('faults', [{ match: { path: '*/groups' }, ...short }]);
  await reader.pass(60 * MINUTE_MS);
  await expect(reader.run()).rejects.toThrow('3 of 3 known groups are missing in the directory');
  expect((await statusOf(reader)).freshness?.stopped?.reason).toContain('3 of 3 known groups are missing');
  await reader.google.control('faults', [{ match: { path: '*/admin/*' }, times: 9, error: 'authError' }]);
  const { since } = (await statusOf(reader)).freshness?.stopped ?? {};
  await reader.pass(5 * MINUTE_MS);
  await expect(reader.run()).rejects.toThrow('answered 401');
  expect((await statusOf(reader)).freshness?.stopped).toMatchObject({ since, reason: /401/ });
  await reader.google.control('faults', []);
  await reader.run();
  expect([(await statusOf(reader)).freshness?.stopped, await findingsOf(reader)]).toEqual([null, []]);
});

it('the reader reports groups whose member lists were too short three times within an hour', async () => {
  const reader = await started();
  await reader.google.control('counts', { group: 'rowing', count: 3 });
  await reader.change({ kind: 'changeGroup', group: 'rowing', description: 'Crew' });
  await reader.passMinutes(10);
  expect(await findingsOf(reader)).toEqual([]);
  await reader.passMinutes(5);
  expect(await findingsOf(reader)).toEqual(['reader_short']);
  expect((await statusOf(reader)).freshness?.shortGroups).toBe(1);
  expect(await reader.run()).toMatchObject({ unreadable: ['rowing'] });
  await reader.google.control('counts', { group: 'rowing', count: 'right' });
  await reader.passMinutes(10);
  expect(await findingsOf(reader)).toEqual([]);
});
