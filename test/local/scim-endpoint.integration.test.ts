import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ScimEndpoint, startScim } from '../../local/scim-endpoint.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { NAMED_USER } from '../../shared/scim/protocol/schemas/user.ts';
import { createToken, listTokens, NEW_CLIENT } from '../../shared/scim/tokens/tokens.ts';
import { createWorld } from '../scim/server/support/server.ts';

const connection = connectionName('default');
let lines: string[];
let world: ReturnType<typeof createWorld>;
let endpoint: ScimEndpoint;

beforeEach(async () => {
  lines = [];
  world = createWorld();
  const write = (line: string) => void lines.push(line);
  const logger = createLogger({ level: 'info', clock: world.ports.clock, write });
  const ports = { ...world.ports, sleep: (ms: number) => sleep(ms) };
  endpoint = await startScim({ port: 0, connection }, { ports, logger, config: {} } as never);
});
afterEach(() => endpoint.stop());

const ANN = { schemas: [NAMED_USER.id], userName: 'ann@acme.test' };

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${endpoint.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${endpoint.token}`, 'content-type': 'application/scim+json' },
  });

it('the local SCIM endpoint answers with locations that begin with its own address', async () => {
  expect(endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/scim\/v2$/);
  const made = await ask('/Users', { method: 'POST', body: JSON.stringify(ANN) });
  expect(made.status).toBe(201);
  expect(made.headers.get('content-type')).toBe('application/scim+json');
  const location = made.headers.get('location') ?? '';
  expect(location).toMatch(`${endpoint.url}/Users/`);
  const found = await ask(`/Users?filter=${encodeURIComponent('userName eq "ann@acme.test"')}`);
  expect(await found.json()).toMatchObject({ totalResults: 1 });
  const gone = await fetch(location, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${endpoint.token}` },
  });
  expect([gone.status, await gone.text()]).toEqual([204, '']);
});

it('the local SCIM endpoint gives an OAuth client an access token, and logs neither the token nor the secret', async () => {
  const { token: secret, kept } = await createToken(connection, world.ports, { client: NEW_CLIENT });
  const authorization = `Basic ${Buffer.from(`${kept.client}:${secret}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const given = await fetch(`${endpoint.url}/oauth/token`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  expect(given.status).toBe(200);
  const { access_token: access } = (await given.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access}` };
  expect((await fetch(`${endpoint.url}/Users`, { headers })).status).toBe(200);
  const logged = lines.join('\n');
  for (const text of [secret.slice(22), access.slice(22), authorization]) expect(logged).not.toContain(text);
  expect(logged).toContain('"endpoint":"oauth"');
});

it('the local SCIM endpoint refuses a request with a body of more than 5 MB', async () => {
  const long = await ask('/Users', { method: 'POST', body: 'x'.repeat(7 * 1024 * 1024) });
  expect(long.status).toBe(413);
});

it('the local SCIM endpoint logs endpoint, status and connection, but no name, address, id or token', async () => {
  await ask('/Users', { method: 'POST', body: JSON.stringify(ANN) });
  await ask(`/Groups/some-id?filter=${encodeURIComponent('displayName eq "Secret"')}`);
  const logged = lines.join('\n');
  for (const text of ['ann', 'Secret', 'some-id', endpoint.token.slice(20)])
    expect(logged).not.toContain(text);
  const answers = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'answered');
  expect(answers).toMatchObject([
    { connection: 'default', method: 'POST', endpoint: 'Users', status: 201 },
    { connection: 'default', method: 'GET', endpoint: 'Groups', status: 404 },
  ]);
});

it('the token of the local SCIM endpoint is revoked when the endpoint stops', async () => {
  await endpoint.stop();
  expect(await listTokens(connection, world.ports)).toMatchObject([{ state: 'revoked' }]);
});
