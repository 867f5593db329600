import { beforeEach, describe, expect, it } from 'vitest';
import { UnstorableError } from '../../../shared/sync/ports/store-errors.ts';
import { add, remove, replace } from '../../support/scim-operations.ts';
import {
  BASE,
  type Client,
  clientOf,
  createWorld,
  ENTERPRISE,
  ERROR,
  GROUP,
  LIST,
  USER,
} from './support/server.ts';

/* The tests follow the order of sections in RFC 7643 and RFC 7644. */

let world: ReturnType<typeof createWorld>;
let client: Client;

beforeEach(async () => {
  world = createWorld({ storeProfile: true });
  client = await world.client();
});

const addUser = async (userName: string, more: object = {}) =>
  (await client.post('/Users', { schemas: [USER], userName, ...more })).body;
const addGroup = async (displayName: string, more: object = {}) =>
  (await client.post('/Groups', { schemas: [GROUP], displayName, ...more })).body;
const names = (body: { Resources: { userName: string }[] }) => body.Resources.map(({ userName }) => userName);

const paths = ['/Users', '/Users/x', '/Groups', '/ServiceProviderConfig', '/Schemas', '/nothing'];
it.each(paths)('the path %s requires a token', async (path) => {
  for (const said of [undefined, 'Basic eDp5', 'Bearer x', 'Bearer ']) {
    const answer = await world.anonymous(said).get(path);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="groupsync"/);
    expect(answer.body).toMatchObject({ schemas: [ERROR], status: '401' });
  }
});

it('unknown, wrong, expired and revoked tokens get the same refusal', async () => {
  const good = await world.newToken();
  const expired = await world.newToken('default', world.time.nowMs);
  const revoked = await world.newToken();
  await world.ports.tokens.revoke('default' as never, revoked.slice(11, 19), world.time.nowMs);
  const wrong = `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`;
  const answers = await Promise.all(
    [`gsync_scim_ffffffff_${'0'.repeat(64)}`, wrong, expired, revoked].map((token) =>
      world.anonymous(`Bearer ${token}`).get('/Users'),
    ),
  );
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(401);
  expect((await world.anonymous(`Bearer ${good}`).get('/Users')).status).toBe(200);
  expect((await world.anonymous(`bearer ${good}`).get('/Users')).status).toBe(200);
});

it('a request without a valid token writes nothing', async () => {
  await world.anonymous('Bearer x').post('/Users', { userName: 'a' });
  expect([...world.table.items.keys()].filter((key) => key.startsWith('S#'))).toEqual([
    'S#default#tokens 00000001',
  ]);
});

it('answers never show a password', async () => {
  const { id } = await addUser('ann', { password: 'secret' });
  expect(JSON.stringify((await client.get(`/Users/${id}`)).body)).not.toContain('secret');
  expect(JSON.stringify([...world.table.items.values()])).not.toContain('secret');
});

it.each(['put', 'patch'] as const)('a %s with an invisible group name is refused', async (method) => {
  const { id } = await addGroup('Eng');
  const body = method === 'put' ? { displayName: '\u200b' } : [replace('displayName', '\u200b')];
  const answer = await client[method](`/Groups/${id}`, body as never);
  expect(answer).toMatchObject({
    status: 400,
    body: { scimType: 'invalidValue', detail: expect.stringContaining('visible character') },
  });
  expect((await client.get(`/Groups/${id}`)).body.displayName).toBe('Eng');
});

it.each<[title: string, request: string, body: unknown, status: number, scimType?: string]>([
  ['a body that is not JSON', 'POST /Users', '{"userName"', 400, 'invalidSyntax'],
  ['a body that is an array', 'POST /Users', [], 400, 'invalidSyntax'],
  ['a request without a body', 'POST /Users', undefined, 400, 'invalidSyntax'],
  ['JSON that is too deep', 'POST /Users', `${'['.repeat(40)}${']'.repeat(40)}`, 400, 'invalidSyntax'],
  ['a user without userName', 'POST /Users', { schemas: [USER] }, 400, 'invalidValue'],
  ['an empty userName', 'POST /Users', { userName: ' ' }, 400, 'invalidValue'],
  ['a userName that is an object', 'POST /Users', { userName: {} }, 400, 'invalidValue'],
  ['a user with a number as active', 'POST /Users', { userName: 'a', active: 1.5 }, 400, 'invalidValue'],
  ['a group without displayName', 'POST /Groups', { schemas: [GROUP] }, 400, 'invalidValue'],
  ['an invisible displayName', 'POST /Groups', { displayName: '\u200b\ufeff' }, 400, 'invalidValue'],
  ['no member id', 'POST /Groups', { displayName: 'A', members: [{ display: 'x' }] }, 400, 'invalidValue'],
  ['a GET of an unknown user', 'GET /Users/none', undefined, 404],
  ['a PATCH of an unknown group', 'PATCH /Groups/none', { Operations: [add('members', [])] }, 404],
  ['a PUT of an unknown user', 'PUT /Users/none', { userName: 'a' }, 404],
  ['a DELETE of an unknown user', 'DELETE /Users/none', undefined, 404],
  ['a GET of an unknown schema', 'GET /Schemas/urn:x', undefined, 404],
  ['a filter with gt on a boolean', 'GET /Users?filter=active gt true', undefined, 400, 'invalidFilter'],
  ['a nested filter with le', 'GET /Groups?filter=id pr or x[y le false]', undefined, 400, 'invalidFilter'],
  [
    'a filter with lt on a boolean sub-attribute',
    'GET /Users?filter=not (emails[primary lt "x"])',
    undefined,
    400,
    'invalidFilter',
  ],
  ['a filter of schemas', 'GET /Schemas?Filter=id pr', undefined, 403],
  ['a filter of resource types', 'GET /ResourceTypes?filter=id pr', undefined, 403],
  ['a user with a text as emails', 'POST /Users', { userName: 'a', emails: '' }, 400, 'invalidValue'],
  ['an empty external id', 'POST /Users', { userName: 'a', externalId: '' }, 400, 'invalidValue'],
  ['a userName of 901 bytes', 'POST /Users', { userName: 'a'.repeat(901) }, 400, 'invalidValue'],
  ['an invalid count', 'GET /Users?count=many', undefined, 400, 'invalidValue'],
  ['an invalid startIndex', 'GET /Users?startIndex=1.5', undefined, 400, 'invalidValue'],
])('the server answers %s with the expected error', async (_title, request, body, status, scimType) => {
  const [method = '', path = ''] = request.split(/ (?=\/)/);
  const answer = await client.send(method, path, body);
  expect(answer).toMatchObject({
    status,
    body: { schemas: [ERROR], status: String(status), detail: expect.any(String) },
  });
  expect(answer.body.scimType).toBe(scimType);
});

it('a body of more than 5 MB is refused with 413, and the body of a GET is not read', async () => {
  const long = await client.post('/Users', { userName: 'x'.repeat(5 * 1024 * 1024) });
  expect(long).toMatchObject({ status: 413, body: { status: '413' } });
  expect((await client.send('GET', '/Users', '{')).status).toBe(200);
});

it.each([
  ['an internal error', 500, Error],
  ['a value that cannot be stored', 400, UnstorableError],
])('the answer to %s has the status %i and contains no details of the error', async (_, status, Thrown) => {
  const broken = createWorld({
    before: async (operation, key) => {
      if (operation === 'put' && key.startsWith('S#default#User'))
        throw new Thrown('table of ann@acme.test is down');
    },
  });
  const answer = await (await broken.client()).post('/Users', { userName: 'ann@acme.test' });
  expect(answer).toMatchObject({ status, body: { schemas: [ERROR], status: String(status) } });
  expect(JSON.stringify(answer.body)).not.toContain('ann');
  expect(answer.cause).toBeInstanceOf(Error);
});

it.each([
  ['/Users', 'userName', 'Ann', 'aNN'],
  ['/Users', 'userName', 'zo\u00cb', '\uff3aoe\u0308'],
  ['/Groups', 'displayName', 'Eng', 'ENG'],
  ['/Groups', 'displayName', 'Eng', ' Eng\u00a0'],
  ['/Groups', 'displayName', 'E\u200bng', 'Eng'],
  ['/Groups', 'displayName', 'Eng  \u3000A ', 'eng a'],
  ['/Groups', 'displayName', 'Caf\u00e9 1', 'Cafe\u0301  1'],
])(
  'a name in %s is unique: requests with another spelling of %s are refused with the id of its holder, and a search by each spelling finds the holder (%j)',
  async (path, attribute, first, second) => {
    const { id: holder } = (await client.post(path, { [attribute]: first })).body;
    const { id } = (await client.post(path, { [attribute]: 'zz other' })).body;
    const data = { [attribute]: second };
    const error = { schemas: [ERROR], status: '409', scimType: 'uniqueness' };
    for (const body of [
      (await client.post(path, data)).body,
      (await client.put(`${path}/${id}`, data)).body,
      (await client.patch(`${path}/${id}`, [replace(attribute, second)])).body,
      (await client.patch(`${path}/${id}`, [{ op: 'replace', value: data }])).body,
    ])
      expect(body).toMatchObject({ ...error, detail: expect.stringContaining(`the id ${holder} has it`) });
    expect((await client.get(`${path}/${id}`)).body[attribute]).toBe('zz other');
    for (const name of [first, second]) {
      const filter = `${attribute} eq ${JSON.stringify(name)}`;
      const whole = `${filter} and not (${attribute} ne ${JSON.stringify(name)})`;
      for (const query of [filter, whole, `id pr and ${attribute} le ${JSON.stringify(name)}`]) {
        const got = await client.get(`${path}?filter=${encodeURIComponent(query)}`);
        expect(got.body.Resources).toMatchObject([{ id: holder }]);
      }
    }
    await client.delete(`${path}/${holder}`);
    expect((await client.post(path, data)).status).toBe(201);
  },
);

it('the earlier name of a renamed user can be used again, and a user may change the spelling of a name', async () => {
  const { id } = await addUser('ann');
  expect((await client.put(`/Users/${id}`, { userName: 'ANN' })).body.userName).toBe('ANN');
  await client.put(`/Users/${id}`, { userName: 'anna' });
  expect((await client.post('/Users', { userName: 'ann' })).status).toBe(201);
});

it('a request with the current version in If-None-Match returns 304', async () => {
  const { id } = await addUser('ann');
  for (const tag of ['W/"1"', '"1"', '*', 'W/"7", W/"1"']) {
    const answer = await client.get(`/Users/${id}`, { 'if-none-match': tag });
    expect(answer).toMatchObject({ status: 304, body: undefined, headers: { etag: 'W/"1"' } });
  }
  expect((await client.get(`/Users/${id}`, { 'if-none-match': 'W/"2"' })).status).toBe(200);
});

it.each(['/Users', '/Groups'])('%s refuses PUT, PATCH and DELETE with a wrong If-Match', async (path) => {
  const body = path === '/Users' ? { userName: 'x' } : { displayName: 'x', members: [{ value: 'm' }] };
  const { id } = (await client.post(path, body)).body;
  const at = `${path}/${id}`;
  const wrong = { 'if-match': 'W/"9"' };
  const operation = path === '/Users' ? replace('active', false) : remove('members');
  const before = await client.get(at);
  for (const answer of [
    await client.put(at, { ...body, members: [] }, wrong),
    await client.patch(at, [operation], wrong),
    await client.delete(at, wrong),
  ]) {
    expect(answer).toMatchObject({ status: 412, body: { schemas: [ERROR], status: '412' } });
    expect(answer.body.detail).toMatch(/got another version$/);
  }
  expect(await client.get(at)).toEqual(before);
  const right = { 'if-match': before.headers['etag'] ?? '' };
  expect((await client.patch(at, [operation], right)).status).toBeLessThan(300);
  expect((await client.patch(at, [operation], right)).status).toBe(412);
  const put = await client.put(at, { ...body, externalId: 'e1' }, { 'if-match': '*' });
  expect(put).toMatchObject({ status: 200, headers: { etag: 'W/"3"' } });
  expect((await client.delete(at, { 'if-match': 'W/"3"' })).status).toBe(204);
});

describe('SCIM lists (RFC 7644 section 3.4.2)', () => {
  beforeEach(async () => {
    for (const name of ALL) await addUser(name, { title: name === 'bob' ? undefined : `t-${name}` });
  });
  const page = async (query: string) => (await client.get(`/Users?${query}`)).body;
  const ALL = ['cas', 'ann', 'bob', 'dan', 'eve'];

  it.each([
    ['', 5, ALL, 1],
    ['count=2', 5, ['cas', 'ann'], 1],
    ['startIndex=3&count=2', 5, ['bob', 'dan'], 3],
    ['startIndex=5&count=10', 5, ['eve'], 5],
    ['startIndex=6', 5, [], 6],
    ['startIndex=0&count=1', 5, ['cas'], 1],
    ['count=0', 5, [], 1],
    ['count=-1', 5, [], 1],
    ['sortBy=userName&cursor=', 5, ALL, 1],
    ['filter=title pr&count=1&startIndex=2', 4, ['ann'], 2],
    ['filter=userName eq "ann"', 1, ['ann'], 1],
    ['filter=id eq ""', 0, [], 1],
    ['filter=userName eq ""', 0, [], 1],
    ['filter=externalId eq ""', 0, [], 1],
    ['filter=meta.created gt "2030-01-01T00:00:00Z"', 0, [], 1],
    ['filter=meta.created le "2026-11-20T11:00:00%2B01:00"', 5, ALL, 1],
    ['filter=nonsense eq "x"', 0, [], 1],
    ['filter=meta.resourceType eq "User"', 5, ALL, 1],
    ['count=100000', 5, ALL, 1],
    ['filter=', 5, ALL, 1],
    ['unknown=parameter', 5, ALL, 1],
    ['filter=UserName Eq "ann" Or userName eQ "BOB"', 2, ['ann', 'bob'], 1],
    [`filter=schemas eq "${USER}"`, 5, ALL, 1],
  ])('a list has the expected resources for "%s"', async (query, totalResults, expected, startIndex) => {
    const body = await page(query);
    expect(body).toMatchObject({
      schemas: [LIST],
      totalResults,
      startIndex,
      itemsPerPage: expected.length,
    });
    expect(names(body)).toEqual(expected);
  });
});

it.each([
  ['attributes=userName', ['id', 'schemas', 'userName']],
  ['attributes=USERNAME,name.givenName', ['id', 'name', 'schemas', 'userName']],
  [`attributes=${ENTERPRISE}:department`, [ENTERPRISE, 'id', 'schemas']],
  [`attributes=${ENTERPRISE}`, [ENTERPRISE, 'id', 'schemas']],
  ['attributes=nothing', ['id', 'schemas']],
  ['excludedAttributes=meta,name,emails,active', [ENTERPRISE, 'id', 'schemas', 'userName']],
  ['excludedAttributes=id,schemas,meta,active,emails,name', [ENTERPRISE, 'id', 'schemas', 'userName']],
])('an answer to a request with %s contains only the expected attributes', async (query, expected) => {
  const { id } = await addUser('ann', {
    name: { givenName: 'Ann', familyName: 'A' },
    emails: [{ value: 'a@x', type: 'work' }],
    [ENTERPRISE]: { department: 'D', costCenter: 'C' },
  });
  const one = await client.get(`/Users/${id}?${query}`);
  expect(Object.keys(one.body).sort()).toEqual([...expected].sort());
  const list = await client.get(`/Users?${query}`);
  expect(Object.keys(list.body.Resources[0]).sort()).toEqual([...expected].sort());
  const less = await client.get(`/Users/${id}?excludedAttributes=${ENTERPRISE}:department`);
  expect(less.body[ENTERPRISE]).toEqual({ costCenter: 'C' });
});

it('a PATCH of a group returns a body if the query has the parameter "attributes"', async () => {
  const { id } = await addGroup('A');
  const operations = [add('members', [{ value: 'm1' }])];
  const some = await client.patch(`/Groups/${id}?attributes=members`, operations);
  expect(some).toMatchObject({ status: 200, body: { id, members: [{ value: 'm1' }] } });
  const most = await client.patch(`/Groups/${id}?excludedAttributes=members`, operations);
  expect(most).toMatchObject({ status: 200, body: { id, displayName: 'A' } });
  expect(most.body).not.toHaveProperty('members');
});

it('the server does not read the members of a group if the request excludes them', async () => {
  const reads: string[] = [];
  const counting = createWorld({ before: async (operation, key) => void reads.push(`${operation} ${key}`) });
  const one = await counting.client();
  const { id } = (await one.post('/Groups', { displayName: 'A', members: [{ value: 'm1' }] })).body;
  reads.length = 0;
  await one.get(`/Groups/${id}?excludedAttributes=members`);
  await one.get('/Groups?excludedAttributes=members&filter=displayName eq "A"');
  await one.patch(`/Groups/${id}`, [remove('members[value eq "m1"]')]);
  expect(reads.filter((read) => read.startsWith('query G#'))).toEqual([]);
});

it('a group name is refused if the name from the template would exceed the maximum length', async () => {
  world = createWorld({ scim: { maxGroupNameLength: 8 }, settings: { nameTemplate: 'x {name}' } });
  client = await world.client();
  const made = await client.post('/Groups', { displayName: '123456' });
  expect(made.status).toBe(201);
  const group = `/Groups/${made.body.id}`;
  const long = '1234567';
  for (const answer of [
    await client.post('/Groups', { displayName: long }),
    await client.put(group, { displayName: long }),
    await client.patch(group, [replace('displayName', long)]),
  ]) {
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toContain('at most 8 characters on the platform, got 9');
  }
  // The refused name is not in use, and no group was created for it.
  expect((await client.get('/Groups')).body.totalResults).toBe(1);
});

it('ServiceProviderConfig announces the features of the server', async () => {
  const { body } = await client.get('/ServiceProviderConfig?count=x&attributes=y');
  expect(body).toMatchObject({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: 500 },
    sort: { supported: false },
    etag: { supported: true },
    changePassword: { supported: false },
    authenticationSchemes: [{ type: 'oauthbearertoken' }, { type: 'oauth2' }],
    meta: { resourceType: 'ServiceProviderConfig', location: `${BASE}/ServiceProviderConfig` },
  });
});

it('the schemas announce only attributes that the server stores', async () => {
  const attributesOf = async (one: Client) =>
    (await one.get(`/Schemas/${USER}`)).body.attributes.map(({ name }: { name: string }) => name);
  expect(await attributesOf(client)).toContain('name');
  expect(await attributesOf(await createWorld().client())).toEqual(['userName', 'active', 'emails']);
});

const statusesOf = async (times: number, ask: (n: number) => Promise<{ status: number }>) => {
  const statuses = new Map<number, number>();
  for (let n = 0; n < times; n += 1) {
    const { status } = await ask(n);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return Object.fromEntries(statuses);
};
const config = (client: Client) => client.get('/ServiceProviderConfig');

it('the server limits each token separately, and answers 429 with the waiting time', async () => {
  const others = [await world.client('other'), await world.client()];
  await config(client);
  world.time.nowMs += 3_600_000;
  expect(await statusesOf(1_200, () => config(client))).toEqual({ 200: 1_000, 429: 200 });
  expect(await config(client)).toMatchObject({ headers: { 'retry-after': '1' }, body: { status: '429' } });
  for (const other of others) expect((await config(other)).status).toBe(200);
  world.time.nowMs += 1_000;
  expect((await config(client)).status).toBe(200);
});

it('the server limits look-ups of unknown tokens per IP address, and does not look up a recently refused token', async () => {
  let lookUps = 0;
  const find: typeof world.ports.tokens.find = (prefix) => {
    lookUps += 1;
    return world.ports.tokens.find(prefix);
  };
  const ports = { ...world.ports, tokens: { ...world.ports.tokens, find } };
  const from = (source: string, token: string) =>
    clientOf(ports, { authorization: `Bearer ${token}`, source });
  const made = (n: number) => `gsync_scim_${String(n).padStart(8, '0')}_${'0'.repeat(64)}`;
  const [good, fresh] = [await world.newToken(), await world.newToken()];
  expect((await config(from('10.0.0.1', good))).status).toBe(200);
  expect(await statusesOf(100, () => config(from('10.0.0.1', made(0))))).toEqual({ 401: 100 });
  expect(lookUps).toBe(2);
  expect(await statusesOf(100, (n) => config(from('10.0.0.1', made(n + 1))))).toEqual({ 401: 48, 429: 52 });
  expect(lookUps).toBe(50);
  expect((await config(from('10.0.0.1', good))).status).toBe(200);
  expect((await config(from('10.0.0.1', fresh))).status).toBe(429);
  expect((await config(from('10.0.0.2', fresh))).status).toBe(200);
  world.time.nowMs += 60_000;
  expect((await config(from('10.0.0.1', made(0)))).status).toBe(401);
  expect(lookUps).toBe(53);
});
