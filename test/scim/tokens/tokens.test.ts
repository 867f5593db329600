import { expect, it, vi } from 'vitest';
import { connectionName } from '../../../shared/domain/ids.ts';
import { forgetMember, forgetScimUser } from '../../../shared/operate/forget.ts';
import { createToken, listTokens } from '../../../shared/scim/tokens/tokens.ts';
import { createAuditLog } from '../../../shared/store/logs.ts';
import { allStoresOver } from '../../../simulate/engine.ts';
import { calledBy } from '../../support/engine/test-engine.ts';
import { replace } from '../../support/scim-operations.ts';
import { expectError } from '../server/support/expect-error.ts';
import { createWorld, ENTERPRISE, USER } from '../server/support/server.ts';

const DEFAULT = connectionName('default');

it('bearer tokens are stored only as hashes', async () => {
  const { ports, table, randomHex } = createWorld();
  const { token } = await createToken(DEFAULT, { ...ports, randomHex });
  expect(token).toMatch(/^gsync_scim_[0-9a-f]{8}_[0-9a-f]{64}$/);
  const stored = JSON.stringify([...table.items.values()]);
  expect(stored).not.toContain(token.slice(20));
  expect(stored).toContain(token.slice(11, 19));
});

it('the list of tokens shows their expiry and a time of last use, which is updated at most once an hour', async () => {
  const world = createWorld();
  const token = await world.newToken('default', world.time.nowMs + 7_200_000);
  await world.newToken('other');
  const client = world.anonymous(`Bearer ${token}`);
  const noteUse = vi.spyOn(world.ports.tokens, 'noteUse');
  const firstUseMs = world.time.nowMs;
  await client.get('/Users');
  world.time.nowMs += 60_000;
  await client.get('/Users');
  expect(noteUse).toHaveBeenCalledOnce();
  const [listed, ...more] = await listTokens(DEFAULT, world.ports);
  expect(more).toEqual([]);
  expect(listed).toMatchObject({ prefix: token.slice(11, 19), state: 'active', lastUsedMs: firstUseMs });
  expect(listed?.expiresMs).toBe(firstUseMs + 7_200_000);
  expect(listed).not.toHaveProperty('hash');
  world.time.nowMs += 3_600_000;
  await client.get('/Users');
  expect((await listTokens(DEFAULT, world.ports))[0]?.lastUsedMs).toBe(world.time.nowMs);
  world.time.nowMs += 3_600_000;
  expect((await client.get('/Users')).status).toBe(401);
  expect((await listTokens(DEFAULT, world.ports))[0]?.state).toBe('expired');
});

it('a server remembers at most 10,000 tokens', () => {
  const { limiter } = createWorld().ports;
  for (let made = 0; made <= 10_000; made += 1) limiter.noteToken(String(made), DEFAULT);
  expect(['0', '1'].map(limiter.cachedConnection)).toEqual([undefined, DEFAULT]);
});

it('a token whose prefix another connection already uses gets another prefix, and replaces and lists nothing', async () => {
  const world = createWorld();
  const theirs = await world.newToken('other');
  const prefixes = [theirs.slice(11, 19), 'abcdef01'];
  const randomHex = (bytes: number) => (bytes === 4 ? (prefixes.shift() ?? '') : world.randomHex(bytes));
  const { kept } = await createToken(DEFAULT, { ...world.ports, randomHex });
  expect(kept.prefix).toBe('abcdef01');
  expect((await world.anonymous(`Bearer ${theirs}`).get('/Users')).status).toBe(200);
  expect((await listTokens(DEFAULT, world.ports)).map(({ prefix }) => prefix)).toEqual(['abcdef01']);
});

it('a request directly after the revocation of its token is refused and changes nothing', async () => {
  const world = createWorld();
  const token = await world.newToken();
  const client = world.anonymous(`Bearer ${token}`);
  const user = `/Users/${(await client.post('/Users', { userName: 'ann' })).body.id}`;
  const group = `/Groups/${(await client.post('/Groups', { displayName: 'A' })).body.id}`;
  await world.ports.tokens.revoke(DEFAULT, token.slice(11, 19), world.ports.clock());
  const before = structuredClone(world.table.items);
  for (const [method, path, body] of [
    ...[user, group, '/Users', '/Users/none', '/Users?filter=x'].map((path) => ['GET', path] as const),
    ['POST', '/Users', { userName: 'bob' }],
    ['PATCH', group, { Operations: [{ op: 'add', path: 'members', value: [{ value: 'm' }] }] }],
    ['PUT', user, { userName: 'eve' }],
    ['DELETE', user],
  ] as const) {
    // Another process has cached the token as valid.
    world.ports.limiter.noteToken(token, DEFAULT);
    const answer = await client.send(method, path, body);
    expectError(answer, 401);
    expect(JSON.stringify(answer.body)).not.toContain('ann');
  }
  expect(world.table.items).toEqual(before);
});

it('the tokens of a removed connection are refused', async () => {
  const world = createWorld({ connections: [] });
  expect((await (await world.client()).get('/Users')).status).toBe(401);
});

it('simultaneous requests of two connections never mix their data, and answers have the URL of the request', async () => {
  const world = createWorld();
  const a = await world.client('default', 'https://one.test');
  const b = await world.client('other', 'https://two.test');
  const made = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const client = n % 2 === 0 ? a : b;
      const user = await client.post('/Users', {
        schemas: [USER],
        userName: `user-${Math.floor(n / 2)}`,
        externalId: 'e',
      });
      const group = await client.post('/Groups', {
        displayName: `g${Math.floor(n / 2)}`,
        members: [{ value: user.body.id }],
      });
      expect([user.status, group.status]).toEqual([201, 201]);
      const origin = client === a ? 'https://one.test' : 'https://two.test';
      const [member] = group.body.members;
      for (const url of [user.body.meta.location, group.headers['location'], member.$ref])
        expect(url.startsWith(`${origin}/scim/v2/`)).toBe(true);
      return { client, user: user.body.id as string, group: group.body.id as string };
    }),
  );
  for (const { client, user, group } of made) {
    const stranger = client === a ? b : a;
    for (const path of [`/Users/${user}`, `/Groups/${group}`]) {
      expect((await client.get(path)).status).toBe(200);
      for (const method of ['GET', 'DELETE']) expect((await stranger.send(method, path)).status).toBe(404);
      expect((await stranger.put(path, { userName: 'x', displayName: 'x' })).status).toBe(404);
    }
    expect((await stranger.get(`/Groups?filter=members eq "${user}"`)).body.totalResults).toBe(0);
  }
  for (const client of [a, b]) {
    expect((await client.get('/Users?filter=externalId eq "e"')).body.totalResults).toBe(20);
    expect((await client.get('/Groups?count=0')).body.totalResults).toBe(20);
  }
});

const ann = {
  schemas: [USER, ENTERPRISE],
  userName: 'ann@acme.test',
  name: { givenName: 'Annabel', familyName: 'Archer' },
  displayName: 'Annabel Archer',
  phoneNumbers: [{ value: '+31 20 5550123', type: 'work' }],
  emails: [
    { value: 'ann.home@acme.test', type: 'home', display: 'Home' },
    { value: 'ann@acme.test', type: 'work' },
  ],
  [ENTERPRISE]: { employeeNumber: '42', department: 'Secret Projects' },
};
const storedText = (world: ReturnType<typeof createWorld>) => JSON.stringify([...world.table.items]);

it('the server stores only attributes that matching needs, even if the client sends others', async () => {
  const world = createWorld();
  const client = await world.client();
  const { body } = await client.post('/Users', ann);
  expect(body).toMatchObject({ userName: 'ann@acme.test', [ENTERPRISE]: { employeeNumber: '42' } });
  const patched = await client.patch(`/Users/${body.id}`, [
    replace('name.familyName', 'Archer-Smith'),
    replace('phoneNumbers[type eq "work"].value', '+31 20 5550199'),
  ]);
  expect(patched.status).toBe(200);
  for (const text of ['Annabel', 'Archer', '5550', 'Secret Projects'])
    expect(storedText(world)).not.toContain(text);
  const names = ['active', 'emails', 'id', 'meta', 'schemas', ENTERPRISE, 'userName'];
  expect(Object.keys(patched.body).sort()).toEqual(names);
});

it('the server stores the type and department of users only while people.exclude names them', async () => {
  const world = createWorld({ settings: { people: { exclude: ['type=guest', 'department=robots'] } } });
  const client = await world.client();
  const { id } = (await client.post('/Users', { ...ann, userType: 'Guest' })).body;
  const values = [...((await world.ports.users.read(DEFAULT, [id])).get(id)?.attributes ?? [])];
  expect(Object.fromEntries(values.map(([name, { value }]) => [name, value]))).toMatchObject({
    type: 'Guest',
    department: 'Secret Projects',
  });
  await client.put(`/Users/${id}`, { ...ann, [ENTERPRISE]: {} });
  expect(storedText(world)).not.toContain('Secret Projects');
});

it.each(['deleted', 'forgotten', 'erased by the command line'] as const)(
  'the server removes all stored attributes when the user is %s',
  async (end) => {
    const world = createWorld({ storeProfile: true });
    const client = await world.client();
    const { id } = (await client.post('/Users', { ...ann, externalId: 'annabel-ext' })).body;
    const group = (await client.post('/Groups', { displayName: 'A', members: [{ value: id }] })).body.id;
    if (end === 'deleted') await client.delete(`/Users/${id}`);
    else if (end === 'forgotten') {
      expect(await forgetScimUser(DEFAULT, id, world.ports)).toBe(true);
      expect(await world.ports.users.forget(DEFAULT, id, 0)).toBe(6);
      expect(await forgetScimUser(DEFAULT, id, world.ports)).toBe(false);
    } else {
      const audit = createAuditLog(world.table);
      const ports = { ...allStoresOver(world.table), ...world.ports, ...calledBy('Bo'), audit };
      expect(await forgetMember(DEFAULT, id, ports)).toMatchObject({ scimResources: 1 });
      expect(storedText(world)).toContain('erased on request');
    }
    for (const text of ['ann@', 'ann.home', 'Annabel', 'annabel-ext', '5550', 'Secret Projects'])
      expect(storedText(world)).not.toContain(text);
    expect([...world.table.items.keys()].filter((key) => key.startsWith('SX#default#User'))).toEqual([]);
    expect((await client.get(`/Users/${id}`)).status).toBe(404);
    expect((await client.get('/Users?filter=externalId eq "annabel-ext"')).body.totalResults).toBe(0);
    expect((await world.desired(group))?.members).toEqual(end === 'deleted' ? [] : [id]);
    expect((await client.post('/Users', ann)).status).toBe(201);
  },
);
