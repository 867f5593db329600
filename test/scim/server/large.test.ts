import { beforeEach, expect, it, vi } from 'vitest';
import { connectionName } from '../../../shared/domain/ids.ts';
import { createScimStore } from '../../../shared/scim/store/scim-store.ts';
import { add, remove } from '../../support/scim-operations.ts';
import { type Answer, type Client, clientOf, createWorld, ERROR } from './support/server.ts';

/*
 * These tests count the table operations of a request, because only a deployment shows the real duration of a request.
 */

let world: ReturnType<typeof createWorld>;
let client: Client;
let operations: string[];
/** A function that runs before each operation on the table. */
let before: ((operation: string, key: string) => Promise<void>) | undefined;

beforeEach(async () => {
  operations = [];
  before = undefined;
  world = createWorld({
    before: async (operation, key) => {
      operations.push(`${operation} ${key}`);
      await before?.(operation, key);
    },
  });
  client = await world.client();
});

const valuesOf = (ids: readonly string[]) => ids.map((value) => ({ value }));
const people = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `m${from + n}`);
const counted = (start: string) => operations.filter((one) => one.startsWith(start)).length;

async function groupOf(members: readonly string[]): Promise<string> {
  const path = '/Groups?excludedAttributes=members';
  const { status, body } = await client.post(path, { displayName: 'Large', members: valuesOf(members) });
  expect(status).toBe(201);
  operations.length = 0;
  return body.id;
}

it('a group of 3,000 members is created with fewer than ten conditional writes', async () => {
  const path = '/Groups?excludedAttributes=members';
  operations.length = 0;
  const made = await client.post(path, { displayName: 'Large', members: valuesOf(people(3_000)) });
  expect(made.status).toBe(201);
  expect(counted('update')).toBeLessThan(10);
  expect((await world.desired(made.body.id))?.members).toHaveLength(3_000);
});

it('one request adds 5,000 members, and its repetition makes only a few writes', async () => {
  const group = await groupOf(people(10));
  const add = [{ op: 'Add', path: 'members', value: valuesOf(people(5_000)) }];
  expect((await client.patch(`/Groups/${group}`, add)).status).toBe(204);
  operations.length = 0;
  world.woken.length = 0;
  expect((await client.patch(`/Groups/${group}`, add)).status).toBe(204);
  expect(counted('update')).toBeLessThan(10);
  expect(world.woken).toContainEqual({ connection: 'default', group });
  expect((await world.desired(group))?.members).toEqual(people(5_000).sort());
});

it('a group of 20,000 members is accepted, and a larger group is refused before any write', async () => {
  const group = await groupOf(people(20_000));
  const members = valuesOf(people(20_001));
  for (const answer of [
    await client.post('/Groups', { displayName: 'More', members }),
    await client.put(`/Groups/${group}`, { displayName: 'Large', members }),
    await client.patch(`/Groups/${group}`, [add('members', members)]),
    await client.patch(`/Groups/${group}`, [{ op: 'remove', path: 'members', value: members }]),
  ]) {
    expect(answer).toMatchObject({ status: 413, body: { schemas: [ERROR], status: '413' } });
  }
  expect(operations.filter((one) => /^(?:put|update|delete) /.test(one))).toEqual([]);
  expect((await world.desired(group))?.members).toHaveLength(20_000);
});

const names = ({ body }: { body: { Resources: { userName: string }[] } }) =>
  body.Resources.map(({ userName }) => userName);

it('a page reads only the resources of the page, even after users were created and deleted', async () => {
  const all = people(600);
  for (const userName of all) await client.post('/Users', { userName });
  // A page also reads the users that were created in the last minute, because another server may still be storing a
  // user with such a time.
  world.time.nowMs += 61_000;
  await client.get('/Users?count=1');
  const read = vi.spyOn(world.table, 'page');
  const itemsRead = () => read.mock.results.reduce((sum, { value }) => sum + value.items.length, 0);
  const last = await client.get('/Users?startIndex=501&count=100');
  expect(last.body).toMatchObject({ totalResults: 600, itemsPerPage: 100, startIndex: 501 });
  expect(names(last)).toEqual(all.slice(500));
  expect(itemsRead()).toBe(100);
  await client.post('/Users', { userName: 'late' });
  const [late] = (await client.get('/Users?startIndex=601')).body.Resources;
  expect(late).toMatchObject({ userName: 'late' });
  await client.delete(`/Users/${late.id}`);
  expect((await client.get('/Users?startIndex=600')).body.totalResults).toBe(600);
  expect(itemsRead()).toBe(100 + 3);
});

it('a list shows a new user of another server immediately, even if nothing changed in the 59 seconds before', async () => {
  const other = clientOf(
    { ...world.ports, scim: createScimStore(world.table) },
    { authorization: `Bearer ${await world.newToken()}` },
  );
  const count = async () => (await client.get('/Users')).body.totalResults;
  await client.post('/Users', { userName: 'a' });
  expect(await count()).toBe(1);
  await other.post('/Users', { userName: 'b' });
  expect(await count()).toBe(2);
  world.time.nowMs += 59_000;
  expect(await count()).toBe(2);
  await other.post('/Users', { userName: 'c' });
  expect(await count()).toBe(3);
  // A request that took the id of its user first may store the user last.
  before = async (operation) => {
    if (operation !== 'put') return;
    before = undefined;
    await other.post('/Users', { userName: 'fast' });
    expect(await count()).toBe(4);
  };
  await client.post('/Users', { userName: 'slow' });
  expect([before, await count()]).toEqual([undefined, 5]);
});

it('a list no longer shows a removed user after a minute, even if the server crashed during the removal', async () => {
  const { id } = (await client.post('/Users', { userName: 'a' })).body;
  await client.get('/Users');
  const other = createScimStore(world.table);
  const connection = connectionName('default');
  const [found] = await other.read(connection, 'User', [id]);
  vi.spyOn(world.table, 'update').mockRejectedValueOnce(new Error('died'));
  await expect(other.remove(connection, found as never)).rejects.toThrow('died');
  world.time.nowMs += 61_000;
  expect((await client.get('/Users')).body.totalResults).toBe(0);
});

it.each(['filter=active eq true', 'filter=userName co "a"'])(
  'a list with %s is refused if it must read more than 20,000 resources',
  async (query) => {
    const path = `/Users?${encodeURI(query)}`;
    const order = vi.spyOn(world.ports.scim, 'order');
    order.mockResolvedValue({ ids: people(20_000), deleting: [] });
    expect((await client.get(path)).status).toBe(200);
    order.mockResolvedValue({ ids: people(20_001), deleting: [] });
    const refused = await client.get(path);
    expect(refused).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
    expect(refused.body.detail).toContain('expected a filter by an indexed attribute');
    expect((await client.get('/Users?filter=userName eq "a"')).status).toBe(200);
  },
);

const make = async (displayName: string, ids: readonly string[]): Promise<string> => {
  const body = { displayName, members: valuesOf(ids) };
  return (await client.post('/Groups?excludedAttributes=members', body)).body.id;
};
const longIds = (from: number, count: number) => people(count).map((id) => `${id}-${from}-`.padEnd(510, 'x'));

it('a page of more than 6 MB is shortened, and the next page continues after its last resource', async () => {
  for (let n = 0; n < 4; n += 1) await make(`Large ${n}`, longIds(n, 3_600));
  const seen: string[] = [];
  let startIndex = 1;
  for (;;) {
    const { body } = await client.get(`/Groups?startIndex=${startIndex}`);
    expect(body).toMatchObject({ totalResults: 4, startIndex, itemsPerPage: body.Resources.length });
    seen.push(...body.Resources.map((group: { displayName: string }) => group.displayName));
    startIndex += body.itemsPerPage;
    if (startIndex > body.totalResults) break;
    expect(body.itemsPerPage).toBeGreaterThan(0);
  }
  expect(seen).toEqual(['Large 0', 'Large 1', 'Large 2', 'Large 3']);
}, 60_000);

it('a read of a group is refused if its answer exceeds 6 MB, except without its members', async () => {
  const group = await make('Larger', longIds(0, 5_600));
  const more = longIds(1, 5_600);
  expect((await client.patch(`/Groups/${group}`, [add('members', valuesOf(more))])).status).toBe(204);
  const shown = await client.get(`/Groups/${group}`);
  expect(shown).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
  expect((await client.get('/Groups')).body).toMatchObject({ scimType: 'tooMany' });
  expect((await client.get(`/Groups/${group}?excludedAttributes=members`)).status).toBe(200);
}, 60_000);

it.each<[what: string, most: number, (group: string) => Promise<Answer>]>([
  // A member that is not a user causes one additional read.
  ['that adds a member', 7, (group) => client.patch(group, [add('members', valuesOf(['m9']))])],
  ['that adds an existing member', 7, (group) => client.patch(group, [add('members', valuesOf(['m1']))])],
  ['that removes a member', 5, (group) => client.patch(group, [remove('members[value eq "m1"]')])],
  ['for a group with its members', 3, (group) => client.get(group)],
  ['for a page', 2, () => client.get('/Groups?count=10&attributes=displayName')],
  ['with a filter by name', 2, () => client.get('/Groups?attributes=id&filter=displayName eq "Large"')],
])('the request %s makes at most %i successive requests to the table', async (_what, most, request) => {
  let turn = 0;
  const requests = new Set<string>();
  let updates = 0;
  world = createWorld({
    before: async (operation, key) => {
      // A read of zero items sends no request.
      if (key !== '0' && operation.startsWith('get')) requests.add(`${turn}`);
      else if (operation === 'update') updates += 1;
      else if (key !== '0') requests.add(`${operation} ${key}`);
      await new Promise((resolve) => setImmediate(resolve));
      turn += 1;
    },
  });
  client = await world.client();
  const group = `/Groups/${await groupOf(people(3))}`;
  await client.get('/Groups?count=1');
  requests.clear();
  updates = 0;
  expect((await request(group)).status).toBeLessThan(300);
  expect(requests.size + updates).toBeLessThanOrEqual(most);
});
