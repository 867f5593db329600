import { beforeEach, describe, expect, it } from 'vitest';
import { add, replace } from '../../support/scim-operations.ts';
import { expectError } from './support/expect-error.ts';
import { type Client, createWorld, ENTERPRISE, ERROR, fullUser, USER } from './support/server.ts';

/* Changes, refused ones included, and bulk requests, as a suite that knows nothing of us would ask (RFC 7644). */

let world: ReturnType<typeof createWorld>;
let client: Client;

beforeEach(async () => {
  world = createWorld({ storeProfile: true });
  client = await world.client();
});

describe('changes', () => {
  let user: string;
  beforeEach(async () => {
    user = `/Users/${(await client.post('/Users', fullUser('ann'))).body.id}`;
  });
  const get = async () => (await client.get(user)).body;

  it.each<[title: string, operation: object, scimType: string]>([
    ['remove without a path', { op: 'remove' }, 'noTarget'],
    ['remove without a path, with a value', { op: 'remove', value: { title: 'x' } }, 'noTarget'],
    ['an unknown operation', { op: 'increase', path: 'title', value: 'x' }, 'invalidSyntax'],
    ['a path that is none', replace('emails[', 'x'), 'invalidPath'],
    ['a path to nothing', replace('colour', 'x'), 'invalidPath'],
    ['a filter in a path that is none', replace('emails[type].value', 'x'), 'invalidPath'],
    ['replace of what is not there', replace('emails[type eq "fax"].value', 'x'), 'noTarget'],
    ['another id', replace('id', 'x'), 'mutability'],
    ['another version', replace('meta.version', 'x'), 'mutability'],
    ['other schemas', add('schemas', ['x']), 'mutability'],
    ['a value of another type', replace('active', 'perhaps'), 'invalidValue'],
    ['a list for one value', replace('title', ['x', 'y']), 'invalidValue'],
    ['no value', { op: 'add', path: 'title' }, 'invalidValue'],
  ])('%s are refused, and what came before is undone', async (_title, operation, scimType) => {
    const before = await get();
    const first = replace('displayName', 'changed');
    expectError(await client.patch(user, [first, operation]), 400, scimType);
    expect(await get()).toEqual(before);
  });

  it.each<[title: string, operation: object, expected: object]>([
    ['without a path', { op: 'add', value: { title: 'T', nickName: 'N' } }, { title: 'T', nickName: 'N' }],
    ['without a path, of an id', { op: 'replace', value: { id: 'x', title: 'T' } }, { title: 'T' }],
    [
      'by names in any case',
      { op: 'REPLACE', path: 'NAME.GIVENNAME', value: 'H' },
      { name: { givenName: 'H' } },
    ],
    [
      'of one value by a filter',
      replace('emails[type eq "work"].value', 'n@x'),
      { emails: [{ value: 'n@x', type: 'work', primary: true }] },
    ],
    [
      'of a value that is not there yet',
      add('emails[type eq "home"].value', 'h@x'),
      { emails: [{ type: 'work' }, { type: 'home', value: 'h@x' }] },
    ],
    [
      'of a value that is there already',
      add('phoneNumbers', [{ value: '1', type: 'mobile' }]),
      { phoneNumbers: [{ value: '1', type: 'mobile' }] },
    ],
    [
      'of an extension by its URN',
      replace(`${ENTERPRISE}:department`, 'E'),
      { [ENTERPRISE]: { department: 'E', employeeNumber: '7' } },
    ],
    [
      'of an extension as a whole',
      add(ENTERPRISE, { costCenter: 'C' }),
      { [ENTERPRISE]: { costCenter: 'C', employeeNumber: '7' } },
    ],
    ['of a schema that nobody knows', add('urn:x:1.0:User:tag', 'x'), { schemas: [USER, ENTERPRISE] }],
  ])('%s are made', async (_title, operation, expected) => {
    const changed = await client.patch(user, [operation]);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject(expected);
    expect(await get()).toEqual(changed.body);
    expect(changed.headers['etag']).toBe(changed.body.meta.version);
    expect(changed.headers['location']).toBe(changed.body.meta.location);
  });

  it('need no schemas in the body, and do not mind others', async () => {
    for (const schemas of [undefined, [], ['urn:x'], 'urn:x']) {
      const body = { schemas, Operations: [replace('title', String(schemas))] };
      expect((await client.send('PATCH', user, body)).status).toBe(200);
    }
  });
});

describe('bulk', () => {
  const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
  const bulk = (Operations: readonly object[], more: object = {}) =>
    client.post('/Bulk', { schemas: [BULK], Operations, ...more });

  it('refers to what it makes in members, in paths and in managers', async () => {
    const { body } = await bulk([
      { method: 'post', path: '/Users', bulkId: 'boss', data: { userName: 'boss' } },
      {
        method: 'POST',
        path: '/Users',
        bulkId: 'ann',
        data: { userName: 'ann', [ENTERPRISE]: { manager: { value: 'bulkId:boss' } } },
      },
      { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'G' } },
      {
        method: 'PATCH',
        path: '/Groups/bulkId:g',
        data: { Operations: [add('members', [{ value: 'bulkId:ann' }])] },
      },
    ]);
    const ids = body.Operations.map(({ location }: { location: string }) => location.split('/').at(-1));
    expect(body.Operations.map(({ status }: { status: string }) => status)).toEqual([
      '201',
      '201',
      '201',
      '204',
    ]);
    expect((await client.get(`/Users/${ids[1]}`)).body[ENTERPRISE].manager.value).toBe(ids[0]);
    expect((await client.get(`/Groups/${ids[2]}`)).body.members[0].value).toBe(ids[1]);
  });

  it('ends after so many errors, and does the rest where none are counted', async () => {
    const bad = { method: 'DELETE', path: '/Users/none' };
    const made = (bulkId: string) => ({ method: 'POST', path: '/Users', bulkId, data: { userName: bulkId } });
    const two = await bulk([bad, made('a'), bad, made('b')], { failOnErrors: 2 });
    expect(two.body.Operations.map(({ status }: { status: string }) => status)).toEqual([
      '404',
      '201',
      '404',
    ]);
    const all = await bulk([bad, bad, bad, made('c')]);
    expect(all.body.Operations.at(-1).status).toBe('201');
    const { clock } = world.ports;
    Object.assign(world.ports, { clock: () => (world.time.nowMs += 3_000) });
    const slow = await bulk(['d', 'e', 'f', 'g', 'h', 'i'].map(made));
    Object.assign(world.ports, { clock });
    const statuses: string[] = slow.body.Operations.map(({ status }: { status: string }) => status);
    expect([statuses[0], statuses.at(-1), statuses.length]).toEqual(['201', '503', 6]);
    const done = statuses.filter((status) => status === '201');
    expect((await client.get('/Users')).body.totalResults).toBe(2 + done.length);
    expect(all.body.Operations[0].response).toMatchObject({ schemas: [ERROR], status: '404' });
  });

  it.each<[title: string, body: object, status: number]>([
    ['no operations', {}, 400],
    ['a POST without bulkId', { Operations: [{ method: 'POST', path: '/Users', data: {} }] }, 400],
    ['a GET', { Operations: [{ method: 'GET', path: '/Users' }] }, 400],
    [
      'too many',
      { Operations: Array.from({ length: 301 }, () => ({ method: 'DELETE', path: '/Users/x' })) },
      413,
    ],
  ])('of %s is refused', async (_title, body, status) => {
    expectError(await client.post('/Bulk', body), status, status === 400 ? 'invalidSyntax' : undefined);
  });

  it.each(['/Bulk', '/Users/.search', '/.search', '/Schemas'])('does not reach %s', async (path) => {
    const { body } = await bulk([{ method: 'POST', path, bulkId: 'b', data: { Operations: [] } }]);
    expect(body.Operations).toMatchObject([{ status: '400', response: { scimType: 'invalidSyntax' } }]);
  });
});
