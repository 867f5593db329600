import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { createOAuthServer } from '../../shared/oauth/oauth-server.ts';
import { observeConnection } from '../../shared/operate/pausing.ts';
import { randomHex } from '../../shared/runtime/clock.ts';
import { handleScim } from '../../shared/scim/server/handle.ts';
import { createRateLimiter } from '../../shared/scim/server/limiter.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { runCli } from '../support/cli/io.ts';
import { applicantOf, savedWorld } from '../support/operate/world.ts';

const NAME = connectionName('default');

/**
 * Creates a connection with SCIM tokens for the company `company`, and operators whose credentials name their company.
 */
async function servedWorld() {
  const world = await savedWorld();
  const stored: string[] = [];
  const ports: ToolPorts = {
    ...world.ports,
    randomHex,
    applicants: { present: (_, token) => applicantOf(token) },
    vault: { store: async (_, token) => `v${stored.push(token)}`, remove: async () => true },
  };
  const { clock } = world.ports;
  const remembering = createConnectionStore(world.table, { clock, rememberMs: 30_000 });
  const limiter = createRateLimiter(clock);
  const oauth = createOAuthServer();
  const scim = async (token: string) => {
    const request = {
      method: 'GET',
      path: '/scim/v2/Users',
      query: '',
      body: undefined,
      origin: 'https://x',
    };
    const headers = { authorization: `Bearer ${token}` };
    return (await handleScim({ ...request, headers }, { ...ports, connections: remembering, limiter, oauth }))
      .reply.status;
  };
  const cli = (args: string[], stdin = '', over: Partial<ToolPorts> = {}) =>
    runCli(args, { ports: { ...ports, ...over }, stdin });
  const newToken = async () => (await cli(['scim', 'token', 'create', '--json'])).json.token as string;
  const remove = (over: Partial<ToolPorts> = {}) =>
    cli(['connections', 'remove', 'default', '--yes'], '', over);
  const connect = (company: string) =>
    cli('--connection x connect default --base-url https://p.test --token-stdin -y'.split(' '), company);
  return { ports, table: world.table, stored, scim, newToken, remove, connect, cli };
}

it('a removed connection keeps its name for its company, and rejects its SCIM tokens immediately', async () => {
  const { ports, scim, stored, newToken, remove, connect } = await servedWorld();
  const tokens = [await newToken(), await newToken()];
  expect(await Promise.all(tokens.map(scim))).toEqual([200, 200]);
  expect((await remove()).code).toBe(0);
  // The server has cached the tokens.
  expect(await Promise.all(tokens.map(scim))).toEqual([401, 401]);
  const refused = await connect('another');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('the name default is reserved for the company company');
  expect(refused.stderr).toContain('under another name');
  expect(stored).toEqual([]);
  expect(await ports.connections.current(NAME)).toBeUndefined();
});

it('a removed connection can be connected again for the same company, with new tokens, and old tokens stay revoked', async () => {
  const { scim, newToken, remove, connect } = await servedWorld();
  const old = await newToken();
  for (let round = 0; round < 2; round += 1) {
    await remove();
    expect((await connect('company')).code).toBe(0);
    expect(await scim(old)).toBe(401);
    expect(await scim(await newToken())).toBe(200);
  }
  expect((await connect('another')).code).toBe(1);
});

it('a connection that observed observes after it was removed and connected again, until its data is erased', async () => {
  const { ports, connect, cli } = await servedWorld();
  const current = () => ports.connections.current(NAME);
  await observeConnection((await current()) as Connection, 'connect', ports);
  for (const [args, observing] of [
    [[], true],
    [['--erase'], false],
  ] as const) {
    await cli(['connections', 'remove', 'default', '--yes', ...args]);
    expect((await connect('company')).stdout.includes('observing only')).toBe(observing);
    expect(await current()).toMatchObject({ observing });
  }
});

it('a connection that was removed keeps its settings when it is connected again, until its data is erased', async () => {
  const { ports, connect, cli } = await servedWorld();
  const current = () => ports.connections.current(NAME);
  const directory = { kind: 'okta', orgUrl: 'https://acme.okta.com' };
  const before = (await current()) as Connection;
  const settings = parseSettings({ ...before.settings, memberIdField: 'id', mode: 'report', directory });
  await ports.connections.replace({ ...before, settings }, before);
  await cli(['connections', 'remove', 'default', '--yes']);
  expect((await connect('company')).stderr).toContain('its settings from before its removal');
  expect(await current()).toMatchObject({
    settings: { memberIdField: 'id', mode: 'report', directory, baseUrl: 'https://p.test' },
  });
  await cli(['connections', 'remove', 'default', '--yes', '--erase']);
  await connect('company');
  expect((await current())?.settings).toEqual(parseSettings({ baseUrl: 'https://p.test' }));
});

it('a token from the time of the removal is rejected after the connection is created again', async () => {
  const { ports, scim, newToken, remove: removeWith, connect } = await servedWorld();
  const made: string[] = [];
  const remove: typeof ports.connections.remove = async (name) => {
    made.push(await newToken());
    await ports.connections.remove(name);
  };
  expect((await removeWith({ connections: { ...ports.connections, remove } })).code).toBe(0);
  expect((await connect('company')).code).toBe(0);
  expect(made.length).toBe(1);
  expect(await scim(made[0] ?? '')).toBe(401);
});

const dies = () => Promise.reject(new Error('the machine went down'));
it.each<[string, (ports: ToolPorts) => Partial<ToolPorts>]>([
  ['the name is reserved', ({ connections }) => ({ connections: { ...connections, keepName: dies } })],
  ['the tokens are revoked', ({ tokens }) => ({ tokens: { ...tokens, revoke: dies } })],
  ['the credential is deleted', ({ vault }) => ({ vault: { ...vault, remove: dies } })],
  ['the connection is deleted', ({ connections }) => ({ connections: { ...connections, remove: dies } })],
])('a removal that crashes before %s keeps its name and can be repeated', async (_, dying) => {
  const { ports, scim, newToken, remove, connect } = await servedWorld();
  const token = await newToken();
  expect((await remove(dying(ports))).code).toBe(1);
  expect((await connect('another')).code).toBe(1);
  expect((await remove()).code).toBe(0);
  expect(await ports.connections.current(NAME)).toBeUndefined();
  expect((await connect('another')).code).toBe(1);
  expect((await connect('company')).code).toBe(0);
  expect(await scim(token)).toBe(401);
});
