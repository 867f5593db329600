import { beforeEach, describe, expect, it } from 'vitest';
import { add, remove, replace } from '../../support/scim-operations.ts';
import { type Client, createWorld, GROUP, USER } from './support/server.ts';

/* These tests send the requests of Okta's client, and check the state after each request. */

let world: ReturnType<typeof createWorld>;
let okta: Client;
let ann: string;
let bob: string;
let group: string;

const desired = () => world.desired(group);

beforeEach(async () => {
  world = createWorld();
  okta = await world.client();
  [ann, bob] = (await Promise.all(['ann@acme.test', 'bob@acme.test'].map((name) => addUser(okta, name)))) as [
    string,
    string,
  ];
  group = (await okta.post('/Groups', { schemas: [GROUP], displayName: 'Engineering', members: [] })).body.id;
});

async function addUser(client: Client, userName: string): Promise<string> {
  const emails = [{ value: userName, type: 'work', primary: true }];
  const answer = await client.post('/Users', {
    schemas: [USER],
    userName,
    emails,
    active: true,
    groups: [],
    password: 'x',
  });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

describe('group push of Okta', () => {
  it('a PATCH that replaces members, with or without a path, sets the whole list, and an empty list removes all members', async () => {
    const push = (value: readonly string[]) =>
      okta.patch(`/Groups/${group}`, [
        { op: 'replace', path: 'members', value: value.map((id) => ({ value: id })) },
      ]);
    await push([ann, bob]);
    expect((await desired())?.members).toEqual([ann, bob].sort());
    await push([bob]);
    expect((await desired())?.members).toEqual([bob]);
    await push([]);
    expect(await desired()).toEqual({ name: 'Engineering', members: [] });
    await push([ann]);
    await okta.patch(`/Groups/${group}`, [
      { op: 'replace', value: { members: [], id: group, displayName: 'Empty' } },
    ]);
    expect(await desired()).toEqual({ name: 'Empty', members: [] });
  });

  it('a PUT with an empty list or null as members empties the group', async () => {
    for (const members of [[], null]) {
      await okta.put(`/Groups/${group}`, { displayName: 'A', members: [{ value: ann }] });
      await okta.put(`/Groups/${group}`, { displayName: 'A', members });
      expect(await desired()).toEqual({ name: 'A', members: [] });
    }
  });
});

describe('deactivation by Okta', () => {
  beforeEach(async () => {
    await okta.patch(`/Groups/${group}`, [add('members', [{ value: ann }, { value: bob }])]);
  });

  it('a deactivated user leaves the group until the activation, although the group still lists the user', async () => {
    world.woken.length = 0;
    const off = await okta.patch(`/Users/${ann}`, [{ op: 'replace', value: { active: false } }]);
    expect(off).toMatchObject({ status: 200, body: { id: ann, active: false } });
    expect((await desired())?.members).toEqual([bob]);
    expect(world.woken).toContainEqual({ connection: 'default', group });
    const listed = (await okta.get(`/Groups/${group}`)).body.members.map(
      ({ value }: { value: string }) => value,
    );
    expect(listed.sort()).toEqual([ann, bob].sort());
    await okta.put(`/Users/${ann}`, { schemas: [USER], id: ann, userName: 'ann@acme.test', active: true });
    expect((await desired())?.members).toEqual([ann, bob].sort());
  });

  it.each([
    ['removes the attribute active', remove('active')],
    ['sets active to null', replace('active', null)],
  ])('a PATCH that %s does not activate the user', async (_, operation) => {
    await okta.patch(`/Users/${ann}`, [{ op: 'replace', value: { active: false } }]);
    await okta.patch(`/Users/${ann}`, [operation]);
    expect((await okta.get(`/Users/${ann}`)).body).not.toHaveProperty('active', true);
    expect((await desired())?.members).toEqual([bob]);
  });
});
