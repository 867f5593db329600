import { describe, expect, it } from 'vitest';
import { CALM_SETTINGS } from '../../../directory-simulator/engine/settings.ts';
import { filtered, NOW_MS, type Okta, readAll, startOkta } from './fixture.ts';

const idsOf = async (client: Okta, path: string) =>
  (await readAll(client, path)).items.map(({ id }) => id).toSorted();
const time = (ms: number) => new Date(ms).toISOString();
const changedSince = (ms: number) =>
  filtered('groups', `lastMembershipUpdated gt "${time(ms)}" or lastUpdated gt "${time(ms)}"`);

describe('groups of the simulated Okta org', () => {
  it('the list of groups has groups of every type, but no deleted group', async () => {
    const client = startOkta();
    const { json } = await client.get('groups');
    expect(Object.fromEntries(json.map(({ id, type }: Record<string, string>) => [id, type]))).toEqual({
      '00gsales': 'OKTA_GROUP',
      '00gnone': 'OKTA_GROUP',
      '00gapp': 'APP_GROUP',
      '00gall': 'BUILT_IN',
    });
    expect((await client.get('groups/00ggone')).status).toBe(404);
  });

  it('a group has a count of users only if the request expands the statistics', async () => {
    const client = startOkta();
    const counts = async () => {
      const { json } = await client.get('groups?expand=stats');
      return Object.fromEntries(
        json.map((one: { id: string; _embedded: { stats: { usersCount: number } } }) => [
          one.id,
          one._embedded.stats.usersCount,
        ]),
      );
    };
    expect(await counts()).toEqual({ '00gsales': 8, '00gapp': 1, '00gnone': 0, '00gall': 9 });
    expect((await client.get('groups')).json[0]).not.toHaveProperty('_embedded');
    await client.control('counts', { group: '00gsales', count: 3 });
    await client.control('counts', { group: '00gapp', count: null });
    expect(await counts()).toEqual({ '00gsales': 3, '00gapp': undefined, '00gnone': 0, '00gall': 9 });
  });

  it('a filter finds groups whose profile or memberships changed after a time, but no deleted group', async () => {
    const client = startOkta();
    expect(await idsOf(client, changedSince(NOW_MS - 60_000))).toEqual([]);
    await client.control('changes', [
      { kind: 'addMember', group: '00gnone', member: '00uann' },
      { kind: 'changeGroup', group: '00gapp', name: 'Engineers' },
      { kind: 'removeMember', group: '00gsales', member: '00uliz' },
      { kind: 'deleteGroup', group: '00gsales' },
    ]);
    expect(await idsOf(client, changedSince(NOW_MS - 1_000))).toEqual(['00gapp', '00gnone']);
    const onlyProfiles = filtered(
      'groups',
      `lastUpdated gt "${time(NOW_MS - 1_000)}" and type eq "OKTA_GROUP"`,
    );
    expect(await idsOf(client, onlyProfiles)).toEqual([]);
    expect(await idsOf(client, filtered('groups', 'id eq "00gnone"'))).toEqual(['00gnone']);
  });

  it('times have whole seconds, so a filter with milliseconds can miss a change in the same second', async () => {
    const client = startOkta();
    client.clock.ms += 700;
    await client.control('changes', { kind: 'addMember', group: '00gnone', member: '00uann' });
    expect((await client.get('groups/00gnone')).json.lastMembershipUpdated).toBe(time(NOW_MS));
    expect(await idsOf(client, changedSince(NOW_MS + 500))).toEqual([]);
  });

  it('the deletion of a user ends memberships without a change of lastMembershipUpdated', async () => {
    const client = startOkta();
    await client.control('changes', { kind: 'deleteUser', user: '00uann' });
    expect(await idsOf(client, 'groups/00gapp/users')).toEqual([]);
    expect(await idsOf(client, changedSince(NOW_MS - 1_000))).toEqual([]);
  });

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

  it.each(['groups?q=Sales', 'groups?search=x', 'users?search=x'])(
    'the parameter %s is refused, because it is not simulated',
    async (path) => {
      const { status, json } = await startOkta().get(path);
      expect([status, json.errorCode]).toEqual([400, 'E0000001']);
    },
  );

  it('a list of members shows the earlier state during the lag, and the new state afterwards', async () => {
    const client = startOkta({ settings: { lagSeconds: { ...CALM_SETTINGS.lagSeconds, members: 60 } } });
    await client.control('changes', { kind: 'addMember', group: '00gnone', member: '00uann' });
    expect(await idsOf(client, changedSince(NOW_MS - 1_000))).toEqual(['00gnone']);
    expect(await idsOf(client, 'groups/00gnone/users')).toEqual([]);
    client.clock.ms += 60_000;
    expect(await idsOf(client, 'groups/00gnone/users')).toEqual(['00uann']);
  });
});

describe('users of the simulated Okta org', () => {
  it('the members of a group include users with every status, such as suspended and deprovisioned users', async () => {
    const { json } = await startOkta().get('groups/00gsales/users');
    expect(json.map(({ status }: { status: string }) => status).toSorted()).toEqual([
      'ACTIVE',
      'DEPROVISIONED',
      'LOCKED_OUT',
      'PASSWORD_EXPIRED',
      'PROVISIONED',
      'RECOVERY',
      'STAGED',
      'SUSPENDED',
    ]);
  });

  it('the list of users has deprovisioned users only if a filter requests them', async () => {
    const client = startOkta();
    const all = await idsOf(client, 'users');
    expect(all).not.toContain('00udep');
    expect(all).not.toContain('00udel');
    expect(all).toHaveLength(8);
    expect(await idsOf(client, filtered('users', 'status eq "DEPROVISIONED"'))).toEqual(['00udep']);
    client.clock.ms += 5_000;
    await client.control('changes', [
      { kind: 'archiveUser', user: '00uliz' },
      { kind: 'changeUser', user: '00uann', vendorFields: { status: 'LOCKED_OUT' } },
    ]);
    const changed = filtered('users', `lastUpdated gt "${time(NOW_MS)}"`);
    expect(await idsOf(client, changed)).toEqual(['00uann', '00uliz']);
    expect((await client.get('users/00uann')).json.status).toBe('LOCKED_OUT');
  });

  it.each([
    ['the id', '00uann'],
    ['the login', 'ann@login.example'],
    ['the short name of the login', 'ann'],
  ])('a user is found by %s', async (_, key) => {
    const { json } = await startOkta().get(`users/${key}`);
    expect(json.profile).toMatchObject({ email: 'ann@example.com', login: 'ann@login.example' });
  });

  it.each(['absent', '00udel', 'ann@example.com'])(
    'a request for the user %s is answered with 404',
    async (key) => {
      const { status, json } = await startOkta().get(`users/${key}`);
      expect([status, json.errorCode]).toEqual([404, 'E0000007']);
    },
  );

  it('the group Everyone has all users except deleted users, and includes new users', async () => {
    const client = startOkta();
    await client.control('changes', [
      { kind: 'addUser', user: { id: '00unew', primaryEmail: 'new@example.com' } },
      { kind: 'deleteUser', user: '00uann' },
    ]);
    const ids = await idsOf(client, 'groups/00gall/users');
    expect(ids).toContain('00unew');
    expect(ids).not.toContain('00uann');
    expect(await idsOf(client, changedSince(NOW_MS - 1_000))).toEqual(['00gall']);
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
