import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { openPlatform } from '../../local/open-platform.ts';
import { parseWorld } from '../../local/platform/state/world.ts';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { DEFAULT_CONNECTION } from '../../shared/contract/names.ts';
import { roleId } from '../../shared/domain/ids.ts';
import { createPlatforms } from '../../shared/platform/platforms.ts';
import { type Opening, PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { SecretError, type Secrets } from '../../shared/sync/ports/secrets.ts';

const WORLD = parseWorld({
  companies: [
    { id: 'acme', name: 'Acme', employees: [] },
    { id: 'other', name: 'Other', employees: [] },
  ],
  credentials: [
    { token: 'old', kind: 'oauth_app', company: 'acme' },
    { token: 'new', kind: 'oauth_app', company: 'acme' },
    { token: 'theirs', kind: 'oauth_app', company: 'other' },
  ],
});

async function start({ publicOnly = false } = {}) {
  const simulator = await openPlatform({ world: WORLD, dataFile: undefined, port: 0 });
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.close();
    await simulator.close();
  });
  const state = { nowMs: 0, reads: 0, token: 'old', isReadable: true };
  const secrets: Secrets = {
    async read() {
      state.reads += 1;
      if (!state.isReadable) throw new SecretError('the secret groupsync/connections/default cannot be read');
      return { value: { token: state.token }, version: `version of ${state.token}` };
    },
    write: () => Promise.reject(new Error('not in these tests')),
  };
  const platforms = createPlatforms({
    secrets,
    clock: () => state.nowMs,
    random: () => 0.5,
    sleep: async () => {},
    leases: { take: async () => undefined, release: async () => {} } as never,
    dispatcher,
    publicOnly,
  });
  const connection = {
    name: DEFAULT_CONNECTION,
    company: simulator.company,
    settings: parseSettings({ baseUrl: simulator.url }),
    observing: false,
  };
  const control = (path: string, body: object) =>
    fetch(`${simulator.url}/_simulator/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { state, control, open: (how?: Opening) => platforms.open(connection as never, how) };
}

it('open returns the same platform again, and reads the secret again after an hour', async () => {
  const { state, open } = await start();
  const first = await open();
  state.nowMs = 3_599_999;
  expect(await open()).toBe(first);
  expect(state.reads).toBe(1);
  state.nowMs = 3_600_000;
  expect(await open()).toBe(first);
  expect(state.reads).toBe(2);
});

it('open uses a new secret after an hour, and returns the version in use', async () => {
  const { state, open } = await start();
  expect((await open()).secretVersion).toBe('version of old');
  state.token = 'new';
  state.nowMs = 3_600_000;
  const rotated = await open();
  expect(rotated.secretVersion).toBe('version of new');
  expect(await rotated.probe()).toBeUndefined();
});

it('open reads the secret again immediately after the platform refused it', async () => {
  const { state, control, open } = await start();
  const platform = await open();
  await control('faults', [{ match: { path: '/platform/api/groups' }, status: 401 }]);
  await expect(platform.groups.list(0)).rejects.toMatchObject({ kind: 'unauthorized', status: 401 });
  state.token = 'new';
  expect((await open()).secretVersion).toBe('version of new');
});

it.each([
  { unlessSecret: 'version of old' },
  { refusedSecret: { version: 'version of old' } },
  { refusedAtGroups: { version: 'version of old' } },
])('open reads the secret again if the caller reports a refusal of this version: %j', async (how) => {
  const { state, open } = await start();
  await open();
  state.token = 'new';
  expect((await open(how)).secretVersion).toBe('version of new');
  expect((await open()).secretVersion).toBe('version of new');
});

it('a deployed function sends no credential to an address of its own machine or network', async () => {
  const { open } = await start({ publicOnly: true });
  await expect(open()).rejects.toThrow('baseUrl: expected a public address');
});

it('a secret of another company is refused before any other call', async () => {
  const { state, open } = await start();
  state.token = 'theirs';
  await expect(open()).rejects.toMatchObject({
    kind: 'unauthorized',
    message: expect.stringMatching(/^wrong_company/),
    secretVersion: 'version of theirs',
  });
  state.token = 'old';
  await expect(open()).resolves.toMatchObject({ secretVersion: 'version of old' });
});

it('an unreadable or refused secret causes an error that does not quote the secret', async () => {
  const { state, open } = await start();
  state.isReadable = false;
  await expect(open()).rejects.toMatchObject({ kind: 'unauthorized' });
  for (const [token, status] of [['wrong-token', 401], ['wrong-token\n'] as const]) {
    Object.assign(state, { isReadable: true, token });
    const error = await open().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ kind: 'unauthorized', status, secretVersion: `version of ${token}` });
    expect(String(error)).not.toContain('wrong-token');
  }
});

it('a probe calls only `/me`, and fails if `/me` names another company', async () => {
  const { control, open } = await start();
  const platform = await open();
  await control('faults', [
    { match: { path: '/platform/api/groups' }, status: 504, times: 9 },
    { match: { path: '/platform/api/me' }, body: { id: 'r1', company: 'other' } },
  ]);
  expect(await platform.probe()).toMatchObject({
    kind: 'unauthorized',
    message: expect.stringMatching(/^wrong_company/),
  });
  await expect(platform.groups.list(0)).rejects.toMatchObject({ status: 504 });
  expect(await platform.probe()).toBeUndefined();
});

it('a list of groups is reused up to the age that the caller allows, and a failed list is not reused', async () => {
  const { state, control, open } = await start();
  const { groups } = await open();
  await control('faults', [{ match: { path: '/platform/api/groups' }, status: 400 }]);
  await expect(groups.list(60_000)).rejects.toMatchObject({ kind: 'rejected' });
  expect(await groups.list(60_000)).toEqual([]);
  await groups.create({ name: 'A', spokeId: 'a', users: [] });
  expect(await groups.list(60_000)).toEqual([]);
  expect(await groups.list(0)).toHaveLength(1);
  state.nowMs = 60_001;
  expect(await groups.list(60_000)).toHaveLength(1);
});

it('for a group with the answer 404, get returns undefined and delete returns missing', async () => {
  const { open } = await start();
  const { groups } = await open();
  expect(await groups.get('unknown' as never)).toBeUndefined();
  await expect(groups.delete('unknown' as never)).resolves.toBe('missing');
});

it('employee returns a known employee, returns undefined for the answer 404, and throws a failure', async () => {
  const { open, control } = await start();
  await control('employees', { id: 'r1', userId: 'u1', workEmail: 'ann@acme.test', company: 'acme' });
  const platform = await open();
  const fields = [{ kind: 'field', name: 'workEmail' }] as const;
  expect(await platform.employee(roleId('r1'), fields)).toEqual({
    role: 'r1',
    userId: 'u1',
    state: 'ACTIVE',
    fields: new Map([[fields[0], 'ann@acme.test']]),
  });
  expect(await platform.employee(roleId('r2'), fields)).toBeUndefined();
  await control('faults', [{ match: { path: '*/employees/r2' }, status: 400 }] as never);
  await expect(platform.employee(roleId('r2'), fields)).rejects.toThrow(PlatformFailure);
});
