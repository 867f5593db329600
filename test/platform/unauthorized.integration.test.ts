import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { createPlatforms } from '../../shared/platform/platforms.ts';
import { createGateStore } from '../../shared/store/connection-states.ts';
import type { SecretValue } from '../../shared/sync/ports/secrets.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { type RequeuePorts, requeueDue } from '../../shared/sync/requeue.ts';
import { createWorld } from '../sync/reconcile/support/world.ts';
import { type Answer, startScriptedPlatform } from './support/scripted-platform.ts';

const MINUTE_MS = 60_000;

/** Creates a connection whose platform refuses every token. The token endpoint returns a new token for each request. */
async function refusedCompany(secret: Partial<Exclude<SecretValue, { token: string }>> = {}) {
  const world = await createWorld();
  const seen = { me: 0, groups: 0, refreshes: 0, stored: 0 };
  const state = {
    accepts: (_token: string, _path: string) => false,
    grant: (count: number): Answer => granted(count),
  };
  const platform = await startScriptedPlatform(async ({ path, headers }) => {
    if (path === '/oauth/token') return state.grant(++seen.refreshes);
    const isList = path.endsWith('/groups');
    seen[isList ? 'groups' : 'me'] += 1;
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    if (!state.accepts(token, path)) return { status: 401 };
    return { body: isList ? [] : { id: 'r1', company: 'company' } };
  });
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.close();
    await platform.close();
  });
  const credentials = { clientId: 'c', clientSecret: 's', tokenUrl: `${platform.url}/oauth/token` };
  const vault = { version: 1, value: { ...credentials, refreshToken: 'r0', ...secret } as SecretValue };
  const connection = { ...world.connection, settings: parseSettings({ baseUrl: platform.url }) };
  const worker = () =>
    createPlatforms({
      secrets: {
        read: async () => ({ value: vault.value, version: `v${vault.version}` }),
        write: async (_, value) => {
          seen.stored += 1;
          vault.version += 1;
          vault.value = value;
          return `v${vault.version}`;
        },
      },
      clock: world.ports.clock,
      random: () => 0.5,
      sleep: async () => {},
      leases: world.ports.leases,
      dispatcher,
    });
  const gates = createGateStore(world.table);
  const ports = {
    ...world.ports,
    gates,
    platforms: worker(),
    connections: { find: async () => connection, list: async () => [connection], replanned: async () => {} },
  } as RequeuePorts & { platforms: RequeuePorts['platforms'] };
  const gate = await gates.read(connection.name);
  await gates.write(connection.name, gate, { state: 'unauthorized', closings: 1 });
  return {
    seen,
    state,
    worker,
    gate: () => gates.read(connection.name),
    /** Runs a sweep by a new worker, which has no cached data. */
    sweep: () =>
      sweep(connection, { ...ports, platforms: worker() } as never).catch((error: unknown) => error),
    open: (platforms: ReturnType<typeof worker>) => platforms.open(connection).catch((error) => error),
    async pumpFor(minutes: number, between: (minute: number) => Promise<unknown> = async () => {}) {
      for (let minute = 0; minute < minutes; minute += 1) {
        world.advance(MINUTE_MS);
        await between(minute);
        await requeueDue(connection.name, ports);
      }
      return (await gates.read(connection.name)).state;
    },
    replaceWorker() {
      ports.platforms = worker();
    },
    replaceSecret(value: SecretValue = { ...credentials, refreshToken: 'from a person' }) {
      vault.version += 1;
      vault.value = value;
    },
  };
}

const granted = (count: number): Answer => ({
  body: { access_token: `a${count}`, refresh_token: `r${count}`, expires_in: 36_000 },
});

it.each([
  ['without an access token', {}],
  ['with an access token', { accessToken: 'a0' }],
])('a refused connection causes one refresh, one stored secret and few probes (%s)', async (_, secret) => {
  const { seen, pumpFor } = await refusedCompany(secret);
  expect(await pumpFor(59)).toBe('unauthorized');
  expect(seen).toMatchObject({ refreshes: 1, stored: 1 });
  expect(seen.me).toBeLessThanOrEqual(8);
});

it('several workers of a refused connection cause at most four refreshes in an hour', async () => {
  const { seen, pumpFor, worker, open } = await refusedCompany();
  const other = worker();
  await pumpFor(59, async (minute) => {
    if (minute % 5 === 0) await open(other);
    if (minute % 20 === 0) await open(worker());
  });
  expect(seen.refreshes).toBe(seen.stored);
  expect(seen.stored).toBeLessThanOrEqual(4);
});

it('an invalid refresh token is sent only once', async () => {
  const { seen, state, pumpFor } = await refusedCompany();
  state.grant = () => ({ status: 400, body: { error: 'invalid_grant' } });
  expect(await pumpFor(59)).toBe('unauthorized');
  expect(seen).toEqual({ refreshes: 1, stored: 0, me: 0, groups: 0 });
});

it('no secret is stored if the token endpoint returns the same tokens again', async () => {
  const { seen, state, pumpFor } = await refusedCompany({ accessToken: 'same', refreshToken: 'same' });
  state.grant = () => ({ body: { access_token: 'same', refresh_token: 'same' } });
  expect(await pumpFor(59)).toBe('unauthorized');
  expect(seen).toMatchObject({ refreshes: 1, stored: 0 });
});

it('requeue job and sweep cause one refresh in two hours if only /me accepts the tokens', async () => {
  const { seen, state, sweep, gate, pumpFor, replaceSecret } = await refusedCompany({ accessToken: 'a0' });
  state.accepts = (_, path) => !path.endsWith('/groups');
  expect(await pumpFor(1)).toBe('open');
  await sweep();
  expect(await gate()).toMatchObject({ state: 'unauthorized', secretVersion: 'v2' });
  expect(await pumpFor(119, async (minute) => minute % 5 === 0 && sweep())).toBe('unauthorized');
  expect(seen).toMatchObject({ refreshes: 1, stored: 1 });
  // Requeue job and sweep each probe every ten minutes. A process that opens the platform also asks /me once for the
  // token's company.
  expect(seen.groups).toBeLessThanOrEqual(3 + 12);
  expect(seen.me).toBeLessThanOrEqual(2 * (2 + 12));

  state.accepts = (token, path) => !path.endsWith('/groups') || token === 'a2';
  replaceSecret();
  expect(await pumpFor(1)).toBe('open');
  expect(await sweep()).toMatchObject({ halted: false });
});

it('a refused connection is probed immediately with a new secret, and otherwise every ten minutes', async () => {
  const { state, pumpFor, replaceSecret } = await refusedCompany();
  expect(await pumpFor(13)).toBe('unauthorized');
  state.accepts = (token) => token !== 'a1';
  replaceSecret();
  expect(await pumpFor(1)).toBe('open');

  const old = await refusedCompany();
  expect(await old.pumpFor(13)).toBe('unauthorized');
  old.state.accepts = () => true;
  expect(await old.pumpFor(10)).toBe('open');
});

it('a static token that an operator stored instead of refused OAuth tokens is kept and used', async () => {
  const { seen, state, worker, open, replaceSecret } = await refusedCompany({ accessToken: 'a0' });
  state.accepts = () => true;
  const platforms = worker();
  const opened = await open(platforms);
  state.accepts = (token) => token === 'static';
  replaceSecret({ token: 'static' });
  expect(await opened.probe()).toMatchObject({ kind: 'unauthorized' });
  expect(await (await open(platforms)).probe()).toBeUndefined();
  expect(seen.stored).toBe(0);
});

it.each([
  ['if the platform does not accept the old tokens', async () => false],
  [
    'even if each worker is replaced before that',
    async (minute: number, replaceWorker: () => void) => minute % 25 === 0 && replaceWorker(),
  ],
])('a refused connection gets new tokens after an hour, %s', async (_, between) => {
  const { state, pumpFor, replaceWorker } = await refusedCompany();
  expect(await pumpFor(13)).toBe('unauthorized');
  state.accepts = (token) => token !== 'a1';
  expect(await pumpFor(61, (minute) => between(minute, replaceWorker))).toBe('open');
});
