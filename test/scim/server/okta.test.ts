import { expect, it } from 'vitest';
import { add, remove } from '../../support/scim-operations.ts';
import { createWorld, GROUP, USER } from './support/server.ts';

/* The requests of Okta for the assignment of users and the push of a group. Okta stops if a status differs. */

it('Okta assigns 300 users and pushes their group twice, and the second time changes nothing', async () => {
  const world = createWorld();
  const client = await world.client();
  const matchOrCreate = async (path: string, attribute: string, body: Record<string, unknown>) => {
    // The requests stay below the rate limit of the token.
    world.time.nowMs += 20;
    const filter = `${attribute} eq "${body[attribute]}"`;
    const found = await client.get(
      `${path}?${new URLSearchParams({ filter, startIndex: '1', count: '100' })}`,
    );
    expect([found.status, found.body.totalResults]).toEqual([200, expect.toBeOneOf([0, 1])]);
    if (found.body.totalResults === 1) return found.body.Resources[0].id as string;
    const made = await client.post(path, body);
    expect(made.status).toBe(201);
    return made.body.id as string;
  };
  const assign = (userName: string) => {
    const emails = [{ primary: true, value: userName, type: 'work' }];
    const profile = { name: { givenName: 'G', familyName: 'F' }, displayName: 'G F', locale: 'en-US' };
    const others = { externalId: `00u-${userName}`, groups: [], password: 'x', active: true };
    return matchOrCreate('/Users', 'userName', { schemas: [USER], userName, emails, ...profile, ...others });
  };
  const names = Array.from({ length: 300 }, (_, n) => `user-${n}@acme.test`);
  const push = async () => {
    const users: string[] = [];
    for (const name of names) users.push(await assign(name));
    const displayName = 'Everyone';
    const id = await matchOrCreate('/Groups', 'displayName', { schemas: [GROUP], displayName, members: [] });
    const values = users.map((value, n) => ({ value, display: names[n] }));
    for (const some of [values.slice(0, 256), values.slice(256)]) {
      const named = { op: 'replace', value: { id, displayName } };
      expect((await client.patch(`/Groups/${id}`, [named, add('members', some)])).status).toBe(204);
    }
    return { id, users, version: (await client.get(`/Groups/${id}`)).body.meta.version };
  };
  const first = await push();
  expect((await world.desired(first.id))?.members).toEqual(first.users.toSorted());
  expect(await push()).toEqual(first);
  const leaves = [
    remove(`members[value eq "${first.users[7]}"]`),
    add('members', [{ value: first.users[8] }]),
  ];
  expect((await client.patch(`/Groups/${first.id}`, leaves)).status).toBe(204);
  expect((await world.desired(first.id))?.members).toHaveLength(299);
});
