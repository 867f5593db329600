import { beforeEach, describe, expect, it } from 'vitest';
import { remove } from '../../support/scim-operations.ts';
import { BASE, type Client, createWorld, ENTERPRISE, fullUser, GROUP } from './support/server.ts';

/* All documents against the schemas that the server itself publishes (RFC 7643), as a suite that knows nothing of us. */

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

/** What is wrong with a value by its definition; nothing where it is right. */
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
    case 'integer':
      return Number.isInteger(value) ? [] : [`${where}: no integer`];
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

/** RFC 7643 section 3.1, which every document has beside its schemas. */
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

describe('documents', () => {
  it('have the form that their schemas promise', async () => {
    const { id } = (await client.post('/Users', fullUser('ann'))).body;
    await client.post('/Groups', { displayName: 'A', externalId: 'g', members: [{ value: id }] });
    const documents: Document[] = [(await client.get('/ServiceProviderConfig')).body];
    for (const path of ['/Users', '/Groups', '/ResourceTypes', '/Schemas']) {
      documents.push(...(await client.get(path)).body.Resources);
    }
    expect(documents).toHaveLength(1 + 1 + 1 + 2 + 6);
    for (const document of documents) {
      // What describes schemas goes a level deeper than it says, in the RFC's own text too (section 8.7.2).
      if (document['name'] !== 'Schema') expect(await documentFaults(document)).toEqual([]);
    }
  });

  it('say what they are, where they are and of which version', async () => {
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

  it('of types name schemas that are there, and endpoints that answer', async () => {
    const known = (await schemas()).map(({ id }) => id);
    const { Resources } = (await client.get('/ResourceTypes')).body;
    for (const { schema, schemaExtensions, endpoint } of Resources) {
      expect(known).toContain(schema);
      for (const extension of schemaExtensions) expect(known).toContain(extension.schema);
      expect((await client.get(endpoint)).status).toBe(200);
    }
  });

  it('of schemas give every characteristic of every attribute', async () => {
    const flat = (all: readonly Definition[]): readonly Definition[] =>
      all.flatMap((one) => [one, ...flat(one.subAttributes ?? [])]);
    for (const { attributes } of await schemas()) {
      for (const one of flat(attributes)) {
        expect(one).toMatchObject({
          name: expect.stringMatching(/^[$a-z][\w-]*$/i),
          type: expect.stringMatching(/^(?:string|boolean|integer|dateTime|reference|binary|complex)$/),
          multiValued: expect.any(Boolean),
          required: expect.any(Boolean),
          caseExact: expect.any(Boolean),
          mutability: expect.stringMatching(/^(?:readOnly|readWrite|immutable|writeOnly)$/),
          returned: expect.stringMatching(/^(?:always|never|default|request)$/),
          uniqueness: expect.stringMatching(/^(?:none|server|global)$/),
        });
        expect(one.type === 'complex').toBe(one.subAttributes !== undefined);
      }
    }
  });
});

describe('every attribute that a schema promises', () => {
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
  ])('of a %s is added, replaced, left out and removed', async (type, path, least) => {
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
        // A member's address is ours to say, whatever a client writes there.
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
  });

  it('survives a PUT of what was read, and read-only ones are passed over', async () => {
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
});
