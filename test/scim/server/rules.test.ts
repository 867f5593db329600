import { beforeEach, expect, it } from 'vitest';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { expectError } from './support/expect-error.ts';
import { type Answer, BASE, type Client, createWorld } from './support/server.ts';

/*
 * These tests cover three subjects: simultaneous requests, requests that fail after some operations, and several
 * tenants on one server.
 */

let world: ReturnType<typeof createWorld>;
let client: Client;
let group: string;

beforeEach(async () => {
  world = createWorld();
  client = await world.client();
  group = (await client.post('/Groups', { displayName: 'A', members: valuesOf(['m0', 'm1', 'm2']) })).body.id;
});

const valuesOf = (ids: readonly string[]) => ids.map((value) => ({ value }));
const people = (count: number) => Array.from({ length: count }, (_, n) => `p${String(n).padStart(2, '0')}`);
const patch = (...operations: readonly unknown[]) => client.patch(`/Groups/${group}`, operations);
const members = async () => (await world.desired(group))?.members;
const statuses = (answers: readonly { status: number }[]) => [
  ...new Set(answers.map(({ status }) => status)),
];

it('simultaneous additions and removals of members all take effect, because each writes only its own members', async () => {
  const joining = people(40).map((value) => patch({ op: 'Add', path: 'members', value: [{ value }] }));
  const leaving = ['m0', 'm1'].map((id) => patch(remove(`members[value eq "${id}"]`)));
  expect(statuses(await Promise.all([...joining, ...leaving]))).toEqual([204]);
  expect(await members()).toEqual(['m2', ...people(40)]);
  const { body } = await client.get(`/Groups/${group}`);
  expect(body.members).toHaveLength(41);
  expect(body.meta.version).toBe('W/"43"');
});

it.each<[string, unknown]>([
  ['an unknown path', replace('colour', 'x')],
  ['a member without an id', add('members', [{ display: 'x' }])],
  ['a replacement of a missing member', replace('members[value eq "m7"]', { value: 'm9' })],
  ['a remove without a path', { op: 'remove' }],
])('a request with %s changes nothing, although its other operations are valid', async (_title, wrong) => {
  const before = await client.get(`/Groups/${group}`);
  world.woken.length = 0;
  const right = [
    { op: 'replace', value: { displayName: 'B' } },
    remove('members[value eq "m0"]'),
    add('members', [{ value: 'm9' }]),
  ];
  expect((await patch(...right, wrong)).status).toBe(400);
  expect((await patch(wrong, ...right)).status).toBe(400);
  expect(await client.get(`/Groups/${group}`)).toEqual(before);
  expect(await world.desired(group)).toEqual({ name: 'A', members: ['m0', 'm1', 'm2'] });
  expect(world.woken).toEqual([]);
});

it.each<[string, (inner: string) => unknown]>([
  ['named by its id', (value) => ({ value })],
  ['named by its bare id', (value) => value],
  ['with the type group', () => ({ value: 'x', type: 'group' })],
  ['with a $ref of groups', () => ({ value: 'x', $ref: 'https://x.test/Groups/x' })],
])('a nested group %s is refused with the next step, and no member is added', async (_title, spell) => {
  const inner = (await client.post('/Groups', { displayName: 'Inner' })).body.id;
  const named = ['m1', spell(inner)];
  for (const answer of [
    await patch(add('members', named)),
    await patch(replace('members', named)),
    await client.put(`/Groups/${group}`, { displayName: 'A', members: named }),
    await client.post('/Groups', { displayName: 'B', members: named }),
  ]) {
    expectError(answer, 400, 'invalidValue');
    expect(answer.body.detail).toMatch(
      /push that group by itself.*nested=flatten|nested=flatten.*push that group by itself/,
    );
  }
  expect(await members()).toEqual(['m0', 'm1', 'm2']);
  expect((await patch({ op: 'remove', path: 'members', value: named })).status).toBe(204);
});

it('a PUT of a user without `active` does not activate the account', async () => {
  const { id } = (await client.post('/Users', { userName: 'ann', active: false })).body;
  expect((await client.put(`/Users/${id}`, { userName: 'ann' })).body.active).toBe(false);
});

it('a search does not find a user by a former name or external id, or after the deletion of the user', async () => {
  const { id } = (await client.post('/Users', { userName: 'ann', externalId: 'e1' })).body;
  await client.put(`/Users/${id}`, { userName: 'anna', externalId: 'e2' });
  const found = () => [...world.table.items.keys()].filter((key) => key.startsWith('SX#default#User#'));
  expect(found()).toHaveLength(2);
  const total = async (filter: string) => (await client.get(`/Users?filter=${filter}`)).body.totalResults;
  expect([await total('externalId eq "e1"'), await total('userName eq "ann"')]).toEqual([0, 0]);
  await client.delete(`/Users/${id}`);
  expect([await total('externalId eq "e2"'), await total('userName eq "anna"')]).toEqual([0, 0]);
  expect(found()).toEqual([]);
});

const report = async (send: () => Promise<Answer>) => (await send()).stale;

it('unknown and deleted members are reported, and a group shows unknown members without a URL', async () => {
  const [ann, gone] = [
    (await client.post('/Users', { userName: 'ann' })).body.id,
    (await client.post('/Users', { userName: 'gone' })).body.id,
  ];
  await client.delete(`/Users/${gone}`);
  const members = [ann, gone, 'never'].map((value) => ({ value }));
  const made = await client.post('/Groups', { displayName: 'Stale', members });
  expect(made.stale).toEqual([{ group: made.body.id, deleted: [gone], unknown: ['never'] }]);
  const path = `/Groups/${made.body.id}`;
  const shown = [
    { value: ann, type: 'User', $ref: `${BASE}/Users/${ann}`, display: 'ann' },
    { value: 'never', type: 'User' },
  ];
  expect(made.body.members).toEqual(shown);
  expect((await client.get(path)).body.members).toEqual(shown);
  const join = [add('members', [{ value: gone }, { value: 'unknown' }])];
  const stale = [{ group: made.body.id, deleted: [gone], unknown: ['unknown'] }];
  expect(await report(() => client.patch(path, join))).toEqual(stale);
  const put = { displayName: 'Stale', members: [{ value: gone }] };
  expect(await report(() => client.put(path, put))).toEqual([{ ...stale[0], unknown: [] }]);
});
