import { beforeEach, describe, expect, it } from 'vitest';
import { add, replace } from '../../support/scim-operations.ts';
import { expectError } from './support/expect-error.ts';
import { BASE, type Client, createWorld, ENTERPRISE, ERROR, fullUser, USER } from './support/server.ts';

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
    ['an unknown operation', { op: 'increase', path: 'title', value: 'x' }, 'invalidSyntax'],
    ['a path to nothing', replace('colour', 'x'), 'invalidPath'],
    ['replace of what is not there', replace('emails[type eq "fax"].value', 'x'), 'noTarget'],
    ['another version', replace('meta.version', 'x'), 'mutability'],
    ['a value of another type', replace('active', 'perhaps'), 'invalidValue'],
  ])('%s are refused, and what came before is undone', async (_title, operation, scimType) => {
    const before = await get();
    const first = replace('displayName', 'changed');
    expectError(await client.patch(user, [first, operation]), 400, scimType);
    expect(await get()).toEqual(before);
  });

  it.each<[title: string, operation: object, expected: object]>([
    ['without a path, of an id', { op: 'replace', value: { id: 'x', title: 'T' } }, { title: 'T' }],
    [
      'of one value by a filter',
      replace('emails[type eq "work"].value', 'n@x'),
      { emails: [{ value: 'n@x', type: 'work', primary: true }] },
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

  const post = (path: string, bulkId: string, data: object) => ({ method: 'POST', path, bulkId, data });
  const groupOf = (bulkId: string, displayName: string, member: string) =>
    post('/Groups', bulkId, { displayName, members: [{ value: `bulkId:${member}` }] });
  const patch = (path: string, operation: object) => ({
    method: 'patch',
    path,
    data: { Operations: [operation] },
  });
  const statusesOf = ({ body }: { body: { Operations: { status: string }[] } }) =>
    body.Operations.map(({ status }) => status);

  it('refers to what it makes in members, in paths and in managers, in whatever order it comes', async () => {
    const answer = await bulk([
      groupOf('g', 'G', 'ann'),
      post('/Users', 'ann', { userName: 'ann', [ENTERPRISE]: { manager: { value: 'bulkId:boss' } } }),
      post('/Users', 'boss', { userName: 'boss' }),
      patch('/Users/bulkId:ann', replace('active', false)),
      patch('/Groups/bulkId:g', add('members', [{ value: 'bulkId:boss' }])),
    ]);
    expect(answer.status).toBe(200);
    expect(statusesOf(answer)).toEqual(['201', '201', '201', '200', '204']);
    const { schemas, Operations } = answer.body;
    expect(schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:BulkResponse']);
    expect(Operations[0]).toMatchObject({ method: 'POST', bulkId: 'g', version: 'W/"1"' });
    const [group, ann, boss] = Operations.map(({ location }: { location: string }) =>
      location.split('/').at(-1),
    );
    expect((await client.get(`/Users/${ann}`)).body).toMatchObject({
      active: false,
      [ENTERPRISE]: { manager: { value: boss } },
    });
    const { members } = (await client.get(`/Groups/${group}`)).body;
    expect(members.map(({ value }: { value: string }) => value).sort()).toEqual([ann, boss].sort());
  });

  it('answers what waits in a circle with 409, and what was not made without a location', async () => {
    expect(statusesOf(await bulk([groupOf('a', 'a', 'b'), groupOf('b', 'b', 'a')]))).toEqual(['409', '409']);
    const [bad] = (await bulk([post('/Users', 'a', {})])).body.Operations;
    expect(bad).toMatchObject({ bulkId: 'a', status: '400', response: { scimType: 'invalidValue' } });
    expect(bad).not.toHaveProperty('location');
  });

  it('minds versions', async () => {
    const { id } = (await client.post('/Users', { userName: 'ann' })).body;
    const path = `/Users/${id}`;
    const answer = await bulk(['W/"9"', 'W/"1"'].map((version) => ({ method: 'DELETE', path, version })));
    expect(statusesOf(answer)).toEqual(['412', '204']);
    const location = `${BASE}${path}`;
    expect(answer.body.Operations).toMatchObject([{ location }, { location }]);
  });

  it('ends after so many errors, and does the rest where none are counted', async () => {
    const bad = { method: 'DELETE', path: '/Users/none' };
    const made = (bulkId: string) => post('/Users', bulkId, { userName: bulkId });
    const two = await bulk([bad, made('a'), bad, made('b')], { failOnErrors: 2 });
    expect(statusesOf(two)).toEqual(['404', '201', '404']);
    const all = await bulk([bad, bad, bad, made('c')]);
    expect(all.body.Operations.at(-1).status).toBe('201');
    const { clock } = world.ports;
    Object.assign(world.ports, { clock: () => (world.time.nowMs += 3_000) });
    const slow = await bulk(['d', 'e', 'f', 'g', 'h', 'i'].map(made));
    Object.assign(world.ports, { clock });
    const statuses = statusesOf(slow);
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
