import { beforeEach, expect, it } from 'vitest';
import { groupId } from '../../../shared/domain/ids.ts';
import { nestedMember } from '../../../shared/domain/nesting.ts';
import { explainMember } from '../../../shared/operate/explain.ts';
import { groupsOfMember } from '../../../shared/operate/find-member.ts';
import { clientNextTo } from '../../directory/reading/scim-client.ts';
import { createTestEngine } from '../../support/engine/test-engine.ts';
import { CONNECTION } from '../../support/engine/world.ts';
import { add, remove } from '../../support/scim-operations.ts';
import { BASE, type Client, createWorld } from './support/server.ts';

/* These tests send SCIM requests in which groups are members of groups, and check the platform. */

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
type Name = (typeof NAMES)[number];

let engine: Awaited<ReturnType<typeof createTestEngine>>;
let client: Client;
let ids: Record<Name, string>;

async function start(settings: object = {}) {
  engine = await createTestEngine({ settings: { nested: 'flatten', ...settings } });
  await engine.hire(...NAMES);
  client = await clientNextTo(engine);
  const made: Partial<Record<Name, string>> = {};
  for (const name of NAMES) {
    const emails = [{ value: `${name}@acme.test`, type: 'work' }];
    made[name] = (await client.post('/Users', { userName: name, emails })).body.id;
  }
  ids = made as Record<Name, string>;
}

const valuesOf = (names: readonly Name[]) => names.map((name) => ({ value: ids[name] }));
const groupValue = (value: string) => ({ value, type: 'Group' });
const users = (...names: readonly Name[]) => names.map((name) => `u-${name}`);

async function makeGroup(displayName: string, names: readonly Name[], groups: readonly string[] = []) {
  const members = [...valuesOf(names), ...groups.map(groupValue)];
  const { status, body } = await client.post('/Groups', { displayName, members });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}
const patch = (group: string, ...operations: readonly unknown[]) =>
  client.patch(`/Groups/${group}`, operations);
const membersOf = async (group: string) => (await client.get(`/Groups/${group}`)).body.members;

beforeEach(() => start());

it('a nested group is shown with its URL, and its users are members of the outer group', async () => {
  const inner = await makeGroup('Inner', ['a', 'b']);
  const outer = await makeGroup('Outer', ['c'], [inner]);
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([users('a', 'b', 'c')]);
  expect(engine.shown(inner)).toEqual([users('a', 'b')]);
  const shown = [
    { value: ids.c, type: 'User', $ref: `${BASE}/Users/${ids.c}`, display: 'c' },
    { value: inner, type: 'Group', $ref: `${BASE}/Groups/${inner}`, display: 'Inner' },
  ];
  expect(await membersOf(outer)).toEqual(shown);
  const [listed] = (await client.get('/Groups?filter=displayName eq "Outer"')).body.Resources;
  expect(listed.members).toEqual(shown);
});

it('a change of a nested group reaches all groups that contain it, directly or indirectly', async () => {
  const inner = await makeGroup('Inner', ['a']);
  const middle = await makeGroup('Middle', ['b'], [inner]);
  const outer = await makeGroup('Outer', ['c'], [middle]);
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([users('a', 'b', 'c')]);
  await patch(middle, add('members', valuesOf(['a'])));
  await patch(middle, remove(`members[value eq "${ids.a}"]`));
  await patch(inner, add('members', valuesOf(['d'])));
  await engine.deliver();
  expect([engine.shown(inner), engine.shown(middle), engine.shown(outer)]).toEqual([
    [users('a', 'd')],
    [users('a', 'b', 'd')],
    [users('a', 'b', 'c', 'd')],
  ]);
  await patch(inner, remove(`members[value eq "${ids.a}"]`));
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([users('b', 'c', 'd')]);
  await patch(`${middle}`, remove(`members[value eq "${inner}"]`));
  await engine.deliver();
  expect([engine.shown(inner), engine.shown(middle), engine.shown(outer)]).toEqual([
    [users('d')],
    [users('b')],
    [users('b', 'c')],
  ]);
});

it('the deletion of a nested group removes the group and its users from the outer group', async () => {
  const inner = await makeGroup('Inner', ['a', 'b']);
  const outer = await makeGroup('Outer', ['c'], [inner]);
  await engine.deliver();
  const before = (await client.get(`/Groups/${outer}`)).headers['etag'];
  expect((await client.delete(`/Groups/${inner}`)).status).toBe(204);
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([users('c')]);
  const { headers, body } = await client.get(`/Groups/${outer}`);
  expect(body.members.map(({ value }: { value: string }) => value)).toEqual([ids.c]);
  expect(headers['etag']).not.toBe(before);
  // The server accepts a late request that names the deleted group, and ignores this member. It treats a deleted user
  // in the same way.
  const late = await client.put(`/Groups/${outer}`, {
    displayName: 'Outer',
    members: [...valuesOf(['c']), groupValue(inner)],
  });
  expect(late).toMatchObject({ status: 200, stale: [{ group: outer, deleted: [inner], unknown: [] }] });
  expect(await membersOf(outer)).toHaveLength(1);
});

it('a client cannot list a group by the id of its register, which would bypass the limits of nesting', async () => {
  const inner = await makeGroup('Inner', ['a']);
  const outer = await makeGroup('Outer', ['c']);
  const refused = await patch(outer, add('members', [{ value: nestedMember(groupId(inner)) }]));
  expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([users('c')]);
});

it('each group of a cycle contains the users of all groups of the cycle', async () => {
  const one = await makeGroup('One', ['a']);
  const two = await makeGroup('Two', ['b'], [one]);
  await patch(one, add('members', [groupValue(two), groupValue(one)]));
  await engine.deliver();
  expect([engine.shown(one), engine.shown(two)]).toEqual([[users('a', 'b')], [users('a', 'b')]]);
  await patch(two, add('members', valuesOf(['c'])));
  await engine.deliver();
  expect([engine.shown(one), engine.shown(two)]).toEqual([[users('a', 'b', 'c')], [users('a', 'b', 'c')]]);
  await patch(two, remove(`members[value eq "${one}"]`));
  await engine.deliver();
  expect([engine.shown(one), engine.shown(two)]).toEqual([[users('a', 'b', 'c')], [users('b', 'c')]]);
});

it('a PUT can replace a nested group, an unchanged PUT keeps the version, and filters find the outer group', async () => {
  const inner = await makeGroup('Inner', ['a']);
  const other = await makeGroup('Other', ['b']);
  const outer = await makeGroup('Outer', ['c'], [inner]);
  const read = await client.get(`/Groups/${outer}`);
  const same = await client.put(`/Groups/${outer}`, read.body);
  expect(same.headers['etag']).toBe(read.headers['etag']);
  for (const filter of [`members eq "${inner}"`, `members[value eq "${inner}" and type eq "Group"]`]) {
    const { body } = await client.get(`/Groups?filter=${encodeURIComponent(filter)}`);
    expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual([outer]);
  }
  await client.put(`/Groups/${outer}`, { displayName: 'Outer', members: [groupValue(other)] });
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([users('b')]);
  await patch(outer, remove('members[type eq "Group"]'));
  await engine.deliver();
  expect(engine.shown(outer)).toEqual([[]]);
  expect(await membersOf(outer)).toEqual([]);
});

it('explain shows a nested user as a member of the outer group, and the user has both groups', async () => {
  const inner = await makeGroup('Inner', ['a']);
  const outer = await makeGroup('Outer', ['c'], [inner]);
  await engine.deliver();
  const connection = await engine.world.toolPorts.connections.find(CONNECTION);
  if (connection === undefined) throw new Error('expected the connection of the world');
  const ports = engine.world.toolPorts as never;
  const explained = await explainMember(engine.ref(outer), ids.a, { connection, ports });
  const decision = { outcome: 'in_sync' };
  expect(explained).toMatchObject({ member: ids.a, wanted: true, present: true, decision });
  const groups = await groupsOfMember(CONNECTION, engine.member(ids.a), ports);
  expect(groups.toSorted()).toEqual([inner, outer].toSorted());
});

const refused = { status: 400, body: { scimType: 'invalidValue' } };

it('the schema of groups announces nested groups only if the connection accepts them', async () => {
  const typesOf = async (settings: object) => {
    const world = createWorld({ settings });
    const { body } = await (await world.client()).get('/Schemas/urn:ietf:params:scim:schemas:core:2.0:Group');
    const members = body.attributes.find(({ name }: { name: string }) => name === 'members');
    return members.subAttributes.find(({ name }: { name: string }) => name === 'type').canonicalValues;
  };
  expect(await typesOf({})).toEqual(['User']);
  expect(await typesOf({ nested: 'flatten' })).toEqual(['User', 'Group']);
});

it('groups may be nested ten levels deep, and an eleventh level above or below is refused', async () => {
  const chain = [await makeGroup('Level 0', ['a'])];
  for (let level = 1; level <= 10; level += 1) {
    chain.push(await makeGroup(`Level ${level}`, [], [chain.at(-1) ?? '']));
  }
  const [first = '', last = ''] = [chain[0], chain.at(-1)];
  const above = { displayName: 'Above', members: [groupValue(last)] };
  expect(await client.post('/Groups', above)).toMatchObject(refused);
  const below = await makeGroup('Below', ['b']);
  const answer = await patch(first, add('members', [groupValue(below)]));
  expect(answer).toMatchObject(refused);
  expect(answer.body.detail).toContain('at most 10 levels');
  await engine.deliver();
  expect(engine.shown(last)).toEqual([users('a')]);
});
