import { expect, it } from 'vitest';
import { connectionName } from '../../../shared/domain/ids.ts';
import { handleScim } from '../../../shared/scim/server/handle.ts';
import type { HttpRequest } from '../../../shared/scim/server/http.ts';
import { confirmToken, listClients, rotateSecret } from '../../../shared/scim/tokens/clients.ts';
import { createToken, listTokens, NEW_CLIENT, revokeAllTokens } from '../../../shared/scim/tokens/tokens.ts';
import { createWorld, ORIGIN } from '../server/support/server.ts';

const DEFAULT = connectionName('default');
const OTHER = connectionName('other');
const HOUR_MS = 3_600_000;
const FORM = 'application/x-www-form-urlencoded';
const GRANT = 'grant_type=client_credentials';

type World = ReturnType<typeof createWorld>;

async function ask(world: World, body: string, request: Partial<HttpRequest> = {}) {
  const { headers, ...others } = request;
  const { reply, connection, cause } = await handleScim(
    {
      method: 'POST',
      path: '/scim/v2/oauth/token',
      query: '',
      headers: { 'content-type': FORM, ...headers },
      body,
      origin: ORIGIN,
      ...others,
    },
    world.ports,
  );
  return { ...reply, body: reply.body === '' ? undefined : JSON.parse(reply.body), connection, cause };
}

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
const inForm = (id: string, secret: string) => `${GRANT}&client_id=${id}&client_secret=${secret}`;

async function newClient(world: World, connection = DEFAULT, expiresMs?: number) {
  const { token: secret, kept } = await createToken(connection, world.ports, {
    expiresMs,
    client: NEW_CLIENT,
  });
  return { id: kept.client ?? '', secret };
}

async function accessToken(world: World, { id, secret }: { id: string; secret: string }): Promise<string> {
  const { status, body } = await ask(world, GRANT, { headers: basic(id, secret) });
  expect(status).toBe(200);
  return body.access_token;
}

const statusWith = async (world: World, token: string) =>
  (await world.anonymous(`Bearer ${token}`).get('/Users')).status;

it.each(['header', 'form'] as const)(
  'the token endpoint issues an access token for one hour to a client that sends its secret in the %s',
  async (where) => {
    const world = createWorld();
    const { id, secret } = await newClient(world);
    const { status, headers, body, connection } =
      where === 'header'
        ? await ask(world, GRANT, { headers: basic(id, secret) })
        : await ask(world, inForm(id, secret));
    expect(status).toBe(200);
    expect(connection).toBe('default');
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(body).toMatchObject({
      token_type: 'Bearer',
      access_token: expect.stringMatching(/^gsync_access_/),
    });
    expect(body.expires_in).toBeGreaterThan(3_590);
    expect(body.expires_in).toBeLessThanOrEqual(3_600);
    expect(await statusWith(world, body.access_token)).toBe(200);
    world.time.nowMs += HOUR_MS;
    expect(await statusWith(world, body.access_token)).toBe(401);
  },
);

it('client secrets and access tokens are stored only as hashes, and DynamoDB deletes an expired access token', async () => {
  const world = createWorld();
  const client = await newClient(world);
  const token = await accessToken(world, client);
  const stored = JSON.stringify([...world.table.items.values()]);
  for (const text of [client.secret, token]) expect(stored).not.toContain(text);
  const [access] = [...world.table.items.values()].filter(({ sk }) => sk.startsWith('ACCESS#'));
  expect(access?.['expiresAt']).toBe((world.time.nowMs + HOUR_MS) / 1_000);
});

it('the token endpoint gives the same answer for an unknown client, a wrong secret and another client’s secret', async () => {
  const world = createWorld();
  const [one, two] = [await newClient(world), await newClient(world)];
  const wrong = `${one.secret.slice(0, -1)}f`;
  const attempts = [
    ['00000000', one.secret],
    [one.id, wrong],
    [one.id, two.secret],
    [one.id, 'short'],
    [one.id, await world.newToken()],
  ] as const;
  const answers = new Set<string>();
  for (const [id, secret] of attempts) {
    const refused = await ask(world, GRANT, { headers: basic(id, secret) });
    expect(refused.status).toBe(401);
    expect(refused.body).toEqual({ error: 'invalid_client', error_description: expect.any(String) });
    expect(refused.headers['www-authenticate']).toMatch(/^Basic/);
    expect(refused.headers['cache-control']).toBe('no-store');
    const inBody = await ask(world, inForm(id, secret));
    expect([inBody.status, inBody.body.error]).toEqual([400, 'invalid_client']);
    answers.add(JSON.stringify([refused.body, inBody.body]));
  }
  expect(answers.size).toBe(1);
});

it.each([
  ['no credentials', GRANT, 'invalid_client'],
  ['no grant type', 'CREDENTIALS', 'invalid_request'],
  ['a grant type that does not exist', 'grant_type=magic&CREDENTIALS', 'unsupported_grant_type'],
  ['a grant type for users', 'grant_type=password&CREDENTIALS', 'unauthorized_client'],
  ['a parameter twice', `${GRANT}&${GRANT}&CREDENTIALS`, 'invalid_request'],
  ['a body of 5 KB', `${GRANT}&CREDENTIALS&x=${'x'.repeat(5_000)}`, 'invalid_request'],
])('the token endpoint refuses a request with %s', async (_, body, error) => {
  const world = createWorld();
  const { id, secret } = await newClient(world);
  const refused = await ask(world, body.replace('CREDENTIALS', `client_id=${id}&client_secret=${secret}`));
  expect([refused.status, refused.body.error, refused.cause]).toEqual([400, error, undefined]);
});

it('the token endpoint refuses a body that is not a form, a secret in both header and form, and other methods', async () => {
  const world = createWorld();
  const { id, secret } = await newClient(world);
  const json = await ask(world, '{}', {
    headers: { ...basic(id, secret), 'content-type': 'application/json' },
  });
  expect([json.status, json.body.error]).toEqual([400, 'invalid_request']);
  const twice = await ask(world, inForm(id, secret), { headers: basic(id, secret) });
  expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request']);
  for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
    const other = await ask(world, GRANT, { method, headers: basic(id, secret) });
    expect([other.status, other.headers['allow']]).toEqual([405, 'POST']);
  }
});

it('the token endpoint limits the attempts of one IP address', async () => {
  const world = createWorld();
  const attempts = await Promise.all(
    Array.from({ length: 60 }, () => ask(world, inForm('00000000', 'x'), { source: '192.0.2.1' })),
  );
  expect(attempts.filter(({ status }) => status === 429)).toHaveLength(10);
  expect((await ask(world, inForm('00000000', 'x'), { source: '192.0.2.2' })).status).toBe(400);
});

it('the token endpoint answers 500 without details if the table fails', async () => {
  const world = createWorld();
  const client = await newClient(world);
  const addAccess = async () => Promise.reject(new Error('table gone'));
  const ports = { ...world.ports, tokens: { ...world.ports.tokens, addAccess } };
  const failed = await ask({ ...world, ports }, GRANT, { headers: basic(client.id, client.secret) });
  expect([failed.status, failed.cause]).toEqual([500, new Error('table gone')]);
  expect(JSON.stringify(failed.body)).not.toContain('table gone');
});

it('an OAuth client can read only its own connection, and its secret is no bearer token', async () => {
  const world = createWorld();
  const [mine, theirs] = [await newClient(world), await newClient(world, OTHER)];
  expect(await statusWith(world, mine.secret)).toBe(401);
  const client = world.anonymous(`Bearer ${await accessToken(world, mine)}`);
  const stranger = world.anonymous(`Bearer ${await accessToken(world, theirs)}`);
  const { id } = (await client.post('/Users', { userName: 'ann' })).body;
  expect((await client.get(`/Users/${id}`)).status).toBe(200);
  expect((await stranger.get(`/Users/${id}`)).status).toBe(404);
  expect(await world.ports.tokens.revoke(OTHER, mine.id, world.ports.clock())).toBe(false);
});

it.each(['the client', 'each token of its connection'])(
  'a revoked OAuth client and its access tokens are refused immediately (revoked: %s)',
  async (what) => {
    const world = createWorld();
    const client = await newClient(world);
    const token = await accessToken(world, client);
    expect(await statusWith(world, token)).toBe(200);
    if (what !== 'the client') await revokeAllTokens(DEFAULT, world.ports);
    else expect(await world.ports.tokens.revoke(DEFAULT, client.id, world.ports.clock())).toBe(true);
    expect(await statusWith(world, token)).toBe(401);
    const again = await ask(world, GRANT, { headers: basic(client.id, client.secret) });
    expect(again.body.error).toBe('invalid_client');
    expect((await listClients(DEFAULT, world.ports))[0]?.secrets[0]?.state).toBe('revoked');
  },
);

it('the confirmation of the first or a revoked secret of a client keeps the other secrets valid', async () => {
  const world = createWorld();
  const asked = { by: 'ann', isRequested: true };
  const first = await createToken(DEFAULT, world.ports, { ...asked, client: NEW_CLIENT });
  const { client = '' } = first.kept;
  const rotation = { ...asked, expiresMs: undefined, previousForMs: HOUR_MS };
  const second = await rotateSecret(DEFAULT, client, rotation, world.ports);
  const revoked = await rotateSecret(DEFAULT, client, rotation, world.ports);
  await world.ports.tokens.revoke(DEFAULT, revoked.kept.prefix, world.ports.clock());
  for (const { kept } of [second, first, revoked])
    await confirmToken(DEFAULT, kept.prefix, 'bob', world.ports);
  const listed = await listTokens(DEFAULT, world.ports);
  expect(listed.map(({ expiresMs }) => expiresMs)).toEqual([undefined, undefined, undefined]);
  expect((await ask(world, inForm(client, second.token))).status).toBe(200);
});

it('the confirmation of an earlier secret keeps a later secret valid that needed no confirmation', async () => {
  const world = createWorld();
  const { id } = await newClient(world);
  const rotation = { expiresMs: undefined, previousForMs: HOUR_MS };
  const asked = await rotateSecret(DEFAULT, id, { ...rotation, by: 'ann', isRequested: true }, world.ports);
  world.time.nowMs += 1_000;
  const later = await rotateSecret(DEFAULT, id, rotation, world.ports);
  await confirmToken(DEFAULT, asked.kept.prefix, 'bob', world.ports);
  world.time.nowMs += 2 * HOUR_MS;
  expect((await ask(world, inForm(id, later.token))).status).toBe(200);
});

it('a rotation keeps the id of the client, and the earlier secret is valid until the given time', async () => {
  const world = createWorld();
  const old = await newClient(world);
  const rotation = { expiresMs: undefined, previousForMs: 2 * HOUR_MS };
  const { token: secret, kept } = await rotateSecret(DEFAULT, old.id, rotation, world.ports);
  expect(kept.client).toBe(old.id);
  const both = [await accessToken(world, old), await accessToken(world, { id: old.id, secret })];
  for (const token of both) expect(await statusWith(world, token)).toBe(200);
  world.time.nowMs += 2 * HOUR_MS;
  expect((await ask(world, inForm(old.id, old.secret))).body.error).toBe('invalid_client');
  expect((await ask(world, inForm(old.id, secret))).status).toBe(200);
});

it('an access token expires with the secret of its client, and a rotation does not extend its validity', async () => {
  const world = createWorld();
  const client = await newClient(world, DEFAULT, world.time.nowMs + 60_000);
  const { body } = await ask(world, GRANT, { headers: basic(client.id, client.secret) });
  expect(body.expires_in).toBeLessThanOrEqual(60);
  const rotation = { expiresMs: undefined, previousForMs: HOUR_MS };
  await rotateSecret(DEFAULT, client.id, rotation, world.ports);
  world.time.nowMs += 60_000;
  expect(await statusWith(world, body.access_token)).toBe(401);
});
