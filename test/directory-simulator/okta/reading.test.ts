import { describe, expect, it } from 'vitest';
import { filtered, type Okta, readAll, startOkta } from './fixture.ts';

const idsOf = async (client: Okta, path: string) =>
  (await readAll(client, path)).items.map(({ id }) => id).toSorted();

describe('groups of the simulated Okta org', () => {
  it.each([
    'name eq "Sales"',
    'type gt "OKTA_GROUP"',
    'lastUpdated gt "yesterday"',
    'lastUpdated gt 2026-01-01',
    '(type eq "APP_GROUP"',
    'type eq "APP_GROUP" or',
    'type eq "APP_GROUP") and id eq "x"',
    '[]',
  ])('the filter %s is refused with E0000031', async (filter) => {
    const { status, json } = await startOkta().get(filtered('groups', filter));
    expect([status, json.errorCode]).toEqual([400, 'E0000031']);
  });
});

describe('users of the simulated Okta org', () => {
  it.each([
    ['the id', '00uann'],
    ['the login', 'ann@login.example'],
    ['the short name of the login', 'ann'],
  ])('a user is found by %s', async (_, key) => {
    const { json } = await startOkta().get(`users/${key}`);
    expect(json.profile).toMatchObject({ email: 'ann@example.com', login: 'ann@login.example' });
  });

  it('items have undocumented fields if the settings require them', async () => {
    const client = startOkta({ settings: { unknownFields: true } });
    const { items } = await readAll(client, 'users');
    expect(items.some((user) => Object.keys(user).some((name) => name.startsWith('preview')))).toBe(true);
  });
});

describe('administrator roles of the simulated Okta org', () => {
  it('a group administrator sees neither Everyone nor the log', async () => {
    const client = startOkta();
    await client.control('administrator', { role: 'USER_ADMIN' });
    expect(await idsOf(client, 'groups')).toEqual(['00gapp', '00gnone', '00gsales']);
    expect((await client.get('groups/00gall/users')).status).toBe(404);
    const { status, json } = await client.get('logs');
    expect([status, json.errorCode]).toEqual([403, 'E0000006']);
  });

  it('groups outside the resource set, and their users, look like missing objects', async () => {
    const client = startOkta();
    await client.control('administrator', { resourceSet: ['00gapp'] });
    expect(await idsOf(client, 'groups')).toEqual(['00gapp']);
    expect(await idsOf(client, 'users')).toEqual(['00uann']);
    const answers = [await client.get('groups/00gsales'), await client.get('users/00uliz')];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    await client.control('administrator', { resourceSet: [] });
    expect((await client.get('groups')).json).toEqual([]);
    await client.control('administrator', { resourceSet: null });
    expect(await idsOf(client, 'groups')).toHaveLength(4);
  });
});
