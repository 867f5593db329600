import { beforeEach, expect, it } from 'vitest';
import { remove, replace } from '../../support/scim-operations.ts';
import { expectError } from './support/expect-error.ts';
import {
  BASE,
  type Client,
  createWorld,
  ENTERPRISE,
  ERROR,
  fullUser,
  GROUP,
  USER,
} from './support/server.ts';

/*
 * These tests use only RFC 7643 and RFC 7644, like an independent conformance suite. They check all documents against
 * the schemas that the server publishes, and call every endpoint with every method. They also check media types, lists,
 * and accepted and refused changes.
 */

let world: ReturnType<typeof createWorld>;
let client: Client;

beforeEach(async () => {
  world = createWorld({ storeProfile: true });
  client = await world.client();
});

interface Definition {
  readonly name: string;
  readonly type: string;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly mutability: string;
  readonly returned: string;
  readonly canonicalValues?: readonly string[];
  readonly subAttributes?: readonly Definition[];
}
type Document = Readonly<Record<string, unknown>>;

const schemas = async (): Promise<readonly { id: string; name: string; attributes: Definition[] }[]> =>
  (await client.get('/Schemas')).body.Resources;

const isUrl = (value: unknown) => typeof value === 'string' && value.startsWith(`${BASE}/`);

/** Returns the differences between a value and the definition of its attribute. */
function faults(value: unknown, definition: Definition, where = definition.name): readonly string[] {
  if (definition.multiValued) {
    if (!Array.isArray(value)) return [`${where}: no list`];
    return value.flatMap((one, n) => faults(one, { ...definition, multiValued: false }, `${where}[${n}]`));
  }
  switch (definition.type) {
    case 'complex':
      return objectFaults(value, definition.subAttributes ?? [], where);
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${where}: no boolean`];
    case 'dateTime':
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(String(value))
        ? []
        : [`${where}: no dateTime`];
    default:
      return typeof value === 'string' ? [] : [`${where}: no string`];
  }
}

function objectFaults(value: unknown, definitions: readonly Definition[], where: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${where}: no object`];
  const known = new Map(definitions.map((one) => [one.name, one]));
  const wrong = Object.entries(value).flatMap(([name, part]) => {
    const definition = known.get(name);
    return definition ? faults(part, definition, `${where}.${name}`) : [`${where}.${name}: unknown`];
  });
  const lacking = definitions.filter(({ name, required }) => required && !(name in value));
  return [...wrong, ...lacking.map(({ name }) => `${where}.${name}: missing`)];
}

/** Attributes that every document may have in addition to the attributes of its schemas (RFC 7643 section 3.1). */
const COMMON = new Set(['schemas', 'id', 'externalId', 'meta']);

async function documentFaults(document: Document): Promise<readonly string[]> {
  const all = await schemas();
  const [core, ...extensions] = document['schemas'] as readonly string[];
  const attributesOf = (id: string | undefined) => all.find((one) => one.id === id)?.attributes ?? [];
  const own = attributesOf(core);
  const names = new Set(own.map(({ name }) => name));
  const rest = Object.entries(document).filter(
    ([name]) => (names.has(name) || !COMMON.has(name)) && !extensions.includes(name),
  );
  return [
    ...objectFaults(Object.fromEntries(rest), own, String(core)),
    ...extensions.flatMap((id) => objectFaults(document[id], attributesOf(id), id)),
  ];
}

const metaOf = (document: Document) => document['meta'] as Document;

it('SCIM documents have the form that their schemas define', async () => {
  const { id } = (await client.post('/Users', fullUser('ann'))).body;
  await client.post('/Groups', { displayName: 'A', externalId: 'g', members: [{ value: id }] });
  for (const path of ['/Users', '/Groups']) {
    const [document, ...others] = (await client.get(path)).body.Resources;
    expect(others).toEqual([]);
    expect(await documentFaults(document)).toEqual([]);
  }
  expect((await schemas()).map(({ id: schema }) => schema)).toEqual([USER, ENTERPRISE, GROUP]);
});

it('SCIM documents contain their type, location and version', async () => {
  const user = (await client.post('/Users', fullUser('ann'))).body;
  const group = (await client.post('/Groups', { displayName: 'A' })).body;
  for (const [document, resourceType, path] of [
    [user, 'User', '/Users'],
    [group, 'Group', '/Groups'],
  ]) {
    expect(typeof document.id).toBe('string');
    expect(document.meta).toEqual({
      resourceType,
      created: expect.stringMatching(/Z$/),
      lastModified: document.meta.created,
      location: `${BASE}${path}/${document.id}`,
      version: expect.stringMatching(/^W\/"/),
    });
    const read = await client.get(`${path}/${document.id}`);
    expect(read.body).toEqual(document);
    expect(read.headers['etag']).toBe(document.meta.version);
  }
  for (const path of ['/ServiceProviderConfig', '/ResourceTypes/User', `/Schemas/${GROUP}`]) {
    const { body } = await client.get(path);
    expect(isUrl(metaOf(body)['location'])).toBe(true);
    expect(typeof metaOf(body)['resourceType']).toBe('string');
  }
});

it('resource types refer to existing schemas and endpoints', async () => {
  const known = (await schemas()).map(({ id }) => id);
  const { Resources } = (await client.get('/ResourceTypes')).body;
  for (const { schema, schemaExtensions, endpoint } of Resources) {
    expect(known).toContain(schema);
    for (const extension of schemaExtensions) expect(known).toContain(extension.schema);
    expect((await client.get(endpoint)).status).toBe(200);
  }
});

let made = 0;
const exampleOf = (definition: Definition, inList = false): unknown => {
  made += 1;
  if (definition.multiValued && !inList) return [exampleOf(definition, true)];
  if (definition.type === 'complex') {
    const parts = (definition.subAttributes ?? []).filter(({ mutability }) => mutability !== 'readOnly');
    return Object.fromEntries(parts.map((part) => [part.name, exampleOf(part)]));
  }
  if (definition.type === 'boolean') return true;
  return definition.canonicalValues?.[0] ?? `value-${made}`;
};
const at = (body: Document, schema: string, name: string) =>
  schema === ENTERPRISE ? (body[schema] as Document | undefined)?.[name] : body[name];

it.each([
  ['User', '/Users', { userName: 'ann' }],
  ['Group', '/Groups', { displayName: 'A' }],
])(
  'every writable attribute of a %s can be added, replaced, left out of a response, and removed unless it is required',
  async (type, path, least) => {
    const definitions = (await schemas())
      .filter(({ name }) => name === type || (type === 'User' && name === 'EnterpriseUser'))
      .flatMap(({ id, attributes }) => attributes.map((definition) => ({ schema: id, definition })));
    const { id } = (await client.post(path, least)).body;
    const resource = `${path}/${id}`;
    expect(definitions.length).toBeGreaterThan(1);
    for (const { schema, definition } of definitions) {
      const { name, required } = definition;
      if (definition.mutability === 'readOnly') continue;
      for (const op of ['add', 'replace']) {
        // The server sets the `$ref` of a member, and ignores the client's value.
        const value = name === 'members' ? [{ value: `m${op}` }] : exampleOf(definition);
        const changed = await client.patch(`${resource}?attributes=${schema}:${name}`, [
          { op, path: `${schema}:${name}`, value },
        ]);
        expect([changed.status, name, at(changed.body, schema, name)]).toMatchObject([200, name, value]);
        expect(at((await client.get(resource)).body, schema, name)).toMatchObject(value as object);
      }
      const without = (await client.get(`${resource}?excludedAttributes=${schema}:${name}`)).body;
      expect(at(without, schema, name)).toBeUndefined();
      const only = (await client.get(`${resource}?attributes=${schema}:${name}`)).body;
      expect(Object.keys(only).sort()).toEqual(
        [schema === ENTERPRISE ? schema : name, 'id', 'schemas'].sort(),
      );
      const removed = await client.patch(resource, [remove(`${schema}:${name}`)]);
      const left = at((await client.get(resource)).body, schema, name);
      if (required) expect(removed).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
      else expect([removed.status < 300, left ?? []]).toEqual([true, []]);
    }
  },
);

it('a PUT of an unchanged document changes nothing, and ignores other values of read-only attributes', async () => {
  const { body } = await client.post('/Users', fullUser('ann'));
  world.time.nowMs += 1_000;
  const foreign = {
    id: 'mine',
    meta: { resourceType: 'Other', created: '2000-01-01T00:00:00Z', version: 'x' },
  };
  const put = await client.put(`/Users/${body.id}`, { ...body, ...foreign });
  expect(put.status).toBe(200);
  expect(put.body).toEqual(body);
  expect((await client.get('/Users/mine')).status).toBe(404);
});

const collection = ['GET', 'POST'];
const resource = ['GET', 'PUT', 'PATCH', 'DELETE'];
it.each<[path: string, allowed: readonly string[]]>([
  ['/Users', collection],
  ['/Groups', collection],
  ['/Users/x', resource],
  ['/Groups/x', resource],
  ['/ServiceProviderConfig', ['GET']],
  ['/ResourceTypes', ['GET']],
  ['/ResourceTypes/User', ['GET']],
  ['/Schemas', ['GET']],
  [`/Schemas/${USER}`, ['GET']],
])('%s accepts its methods and answers others with 405 and the header Allow', async (path, allowed) => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE']) {
    const answer = await client.send(method, path);
    if (allowed.includes(method === 'HEAD' ? 'GET' : method)) {
      expect(answer.status).not.toBe(405);
      continue;
    }
    expect([method, answer.status]).toEqual([method, 405]);
    expect(answer.headers['allow']?.split(', ').toSorted()).toEqual(allowed.toSorted());
    if (method !== 'HEAD') expectError(answer, 405);
  }
});

it('HEAD of any path returns the status and the headers of GET, and no body', async () => {
  for (const path of ['/Users', '/Schemas', '/Users/none', '/Users?filter=a']) {
    const { body: _body, ...head } = await client.get(path);
    expect(await client.send('HEAD', path)).toEqual({ ...head, body: undefined });
  }
});

it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s of an unknown path returns 404', async (method) => {
  const paths = [
    '/',
    '/Things',
    '/Users/x/y',
    '/Bulk',
    '/.search',
    '/ServiceProviderConfig/x',
    '/Schemas/a/b',
    '/users',
  ];
  for (const path of paths) expectError(await client.send(method, path, {}), 404);
});

it.each([
  'application/scim+json',
  'application/json',
  'application/scim+json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/SCIM+JSON',
])('a request with the media type %s is accepted', async (type) => {
  const made = await client.send('POST', '/Users', { userName: 'ann' }, { 'content-type': type });
  expect(made.status).toBe(201);
});

it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/jsonp'])(
  'a request with the media type %s is refused',
  async (type) => {
    const made = await client.send('POST', '/Users', { userName: 'ann' }, { 'content-type': type });
    expectError(made, 415);
  },
);

it.each(['gzip', 'deflate', 'br', 'gzip, identity'])('the encoding %s is refused', async (encoding) => {
  const headers = { 'content-encoding': encoding };
  const made = await client.send('POST', '/Users', { userName: 'ann' }, headers);
  expectError(made, 415);
  expect(made.headers['accept-encoding']).toBe('identity');
  const plain = { 'content-encoding': 'identity' };
  expect((await client.send('POST', '/Users', { userName: 'ann' }, plain)).status).toBe(201);
});

it.each(['application/scim+json', 'application/json', '*/*', 'text/html, application/*;q=0.5', ''])(
  'a request with the header "Accept: %s" is answered with the media type of SCIM',
  async (accept) => {
    for (const path of ['/Users', '/Schemas', '/Users/none', '/ServiceProviderConfig']) {
      const { headers } = await client.get(path, { accept });
      expect(headers['content-type']).toBe('application/scim+json');
    }
    const { id } = (await client.post('/Groups', { displayName: 'A' })).body;
    const deleted = await client.delete(`/Groups/${id}`, { accept });
    expect([deleted.status, deleted.headers['content-type']]).toEqual([204, undefined]);
  },
);

it('a SCIM list never exceeds the announced maximum, and the next page continues after the last resource', async () => {
  const { maxResults } = (await client.get('/ServiceProviderConfig')).body.filter;
  for (let n = 0; n <= maxResults; n += 1) await client.post('/Groups', { displayName: `g${n}` });
  const first = (await client.get('/Groups?count=100000&attributes=displayName')).body;
  expect([first.itemsPerPage, first.totalResults]).toEqual([maxResults, maxResults + 1]);
  const rest = (await client.get(`/Groups?startIndex=${maxResults + 1}`)).body;
  expect(rest.Resources).toHaveLength(1);
  expect(first.Resources.map(({ id }: { id: string }) => id)).not.toContain(rest.Resources[0].id);
});

const send = (request: string, body: object) => {
  const [method = '', path = ''] = request.split(' ');
  return client.send(method, path, JSON.stringify(body));
};

it('a request without schemas is accepted, and a request with wrong schemas is refused', async () => {
  const user = `/Users/${(await client.post('/Users', { userName: 'ann' })).body.id}`;
  const group = `/Groups/${(await client.post('/Groups', { displayName: 'A' })).body.id}`;
  const patch = { Operations: [replace('externalId', 'x')] };
  for (const [request, body, status] of [
    ['POST /Users', { userName: 'bob' }, 201],
    ['POST /Groups', { displayName: 'B' }, 201],
    [`PUT ${user}`, { userName: 'ann' }, 200],
    [`PUT ${group}`, { displayName: 'A' }, 200],
    [`PATCH ${user}`, patch, 200],
    [`PATCH ${group}`, patch, 204],
  ] as const) {
    const other = request.includes('User') ? GROUP : USER;
    for (const schemas of [[], null, ['urn:x'], 'urn:x', [ERROR], [other]]) {
      expectError(await send(request, { schemas, ...body }), 400, 'invalidSyntax');
    }
    const answer = await send(request, body);
    expect([request, answer.status]).toEqual([request, status]);
  }
});

it('a write is refused if If-None-Match is *, or contains the version of the resource', async () => {
  for (const [path, body] of [
    ['/Users', { userName: 'ann' }],
    ['/Groups', { displayName: 'A' }],
  ] as const) {
    const made = await client.post(path, body);
    const resource = `${path}/${made.body.id}`;
    for (const tag of ['*', made.headers['etag'] ?? '']) {
      const headers = { 'if-none-match': tag };
      expectError(await client.put(resource, body, headers), 412);
      expectError(await client.patch(resource, [replace('externalId', 'x')], headers), 412);
      expectError(await client.delete(resource, headers), 412);
    }
    expect((await client.get(resource)).body).toEqual(made.body);
    expect((await client.put(resource, body, { 'if-none-match': 'W/"99"' })).status).toBe(200);
  }
  expectError(await client.put('/Users/none', { userName: 'b' }, { 'if-none-match': '*' }), 404);
});
