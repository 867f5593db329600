import { describe, expect, it } from 'vitest';
import { GOOGLE_ERRORS } from '../../directory-simulator/google/errors.ts';
import { type Google, readAll, startGoogle } from './fixture.ts';

const membersOf = async (google: Google, group: string) =>
  (await readAll(google, `groups/${group}/members`, 'members')).items.map(({ email }) => email).toSorted();

describe('changes of the simulated directory', () => {
  it('a change adds or removes a member', async () => {
    const google = startGoogle();
    await google.control('changes', [
      { kind: 'addMember', group: 'g-none', member: 'ann@example.com' },
      { kind: 'addMember', group: 'g-none', member: 'new@partner.example', role: 'MANAGER' },
      { kind: 'addMember', group: 'g-none', member: 'g-emea' },
      { kind: 'removeMember', group: 'sales@example.com', member: 'guest@partner.example' },
    ]);
    expect(await membersOf(google, 'g-none')).toEqual([
      'ann@example.com',
      'emea@example.com',
      'new@partner.example',
    ]);
    expect(await membersOf(google, 'g-sales')).not.toContain('guest@partner.example');
  });

  it('a change is refused if a group would contain itself directly or through other groups', async () => {
    const google = startGoogle();
    for (const [group, member] of [
      ['g-emea', 'g-sales'],
      ['g-emea', 'g-emea'],
    ]) {
      const { status } = await google.control('changes', { kind: 'addMember', group, member });
      expect(status).toBe(400);
    }
  });

  it('the deletion of a user ends all memberships of the user, and a restore of the user does not restore them', async () => {
    const google = startGoogle();
    await google.control('changes', { kind: 'deleteUser', user: 'u-ann' });
    expect(await membersOf(google, 'g-emea')).toEqual([]);
    expect((await google.get('users/u-ann')).status).toBe(404);
    await google.control('changes', { kind: 'undeleteUser', user: 'u-ann' });
    expect((await google.get('users/u-ann')).status).toBe(200);
    expect(await membersOf(google, 'g-emea')).toEqual([]);
  });

  it('a user with a new address keeps the id, and the old address becomes an alias', async () => {
    const google = startGoogle();
    await google.control('changes', [
      { kind: 'changeUser', user: 'u-ann', primaryEmail: 'anne@example.com' },
      { kind: 'changeGroup', group: 'g-emea', email: 'europe@example.com', name: 'Europe' },
    ]);
    expect((await google.get('users/ann@example.com')).json).toMatchObject({
      id: 'u-ann',
      primaryEmail: 'anne@example.com',
    });
    expect((await google.get('groups/emea@example.com')).json).toMatchObject({
      id: 'g-emea',
      name: 'Europe',
    });
    expect(await membersOf(google, 'g-emea')).toEqual(['anne@example.com']);
  });

  it('the deletion of a group removes the group from the groups that contain it', async () => {
    const google = startGoogle();
    await google.control('changes', { kind: 'deleteGroup', group: 'g-emea' });
    expect(await membersOf(google, 'g-sales')).not.toContain('emea@example.com');
  });

  it('a new group with the address of a deleted group has a new id', async () => {
    const google = startGoogle();
    await google.control('changes', [
      { kind: 'deleteGroup', group: 'g-emea' },
      {
        kind: 'addGroup',
        group: { id: 'g-emea-2', email: 'emea@example.com', members: [{ member: 'u-liz' }] },
      },
    ]);
    expect((await google.get('groups/emea@example.com')).json.id).toBe('g-emea-2');
    expect(await membersOf(google, 'emea@example.com')).toEqual(['liz@example.com']);
  });

  it.each([
    [{ kind: 'addMember', group: 'absent', member: 'u-ann' }, 404],
    [{ kind: 'removeMember', group: 'g-none', member: 'u-ann' }, 404],
    [{ kind: 'suspendUser', user: 'u-del' }, 404],
    [{ kind: 'undeleteUser', user: 'u-ann' }, 404],
    [{ kind: 'melt', group: 'g-none' }, 400],
  ])('the simulated directory refuses the change %j', async (change, status) => {
    expect((await startGoogle().control('changes', change)).status).toBe(status);
  });

  it('the state endpoint shows the current state without lag', async () => {
    const google = startGoogle({ settings: { lagSeconds: { users: 9, groups: 9, members: 9, log: 9 } } });
    await google.control('changes', { kind: 'addMember', group: 'g-none', member: 'u-ann' });
    const { json } = await google.send('GET /_simulator/state');
    const group = json.groups.find(({ id }: { id: string }) => id === 'g-none');
    expect(group.members).toEqual([{ member: 'u-ann', id: 'u-ann', kind: 'user', role: 'MEMBER' }]);
  });
});

describe('faults of the simulated directory', () => {
  it.each(Object.keys(GOOGLE_ERRORS))(
    'a fault with the name %s is answered in Google’s form',
    async (error) => {
      const google = startGoogle();
      await google.get('groups/g-sales');
      await google.control('faults', [{ match: { path: '*/groups/*' }, error }]);
      const expected = GOOGLE_ERRORS[error]?.();
      const answer = await google.get('groups/g-sales');
      expect(answer.status).toBe(expected?.status);
      expect(answer.json ?? answer.text).toEqual(expected?.body);
      expect((await google.get('groups/g-sales')).status).toBe(200);
    },
  );

  it('a fault can replace an answer with a truncated or empty answer', async () => {
    const google = startGoogle();
    await google.get('groups/g-sales');
    await google.control('faults', [{ body: { kind: 'admin#directory#members' } }, { body: '{"members":[' }]);
    const answers = [await google.get('groups/g-sales/members'), await google.get('groups/g-sales/members')];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, '{"kind":"admin#directory#members"}'],
      [200, '{"members":['],
    ]);
  });

  it('a fault with an unknown error name is refused', async () => {
    const { status, json } = await startGoogle().control('faults', [{ error: 'syncStateNotFound' }]);
    expect(status).toBe(400);
    expect(json.error.message).toContain('userRateLimitExceeded');
  });

  it('random faults have every status of a failing answer, and the same seed gives the same faults', async () => {
    const statuses = async () => {
      const google = startGoogle();
      await google.get('groups/g-sales');
      await google.control('settings', { failures: 0.5 });
      const answers = [];
      for (let call = 0; call < 60; call += 1) answers.push((await google.get('groups/g-sales')).status);
      return answers;
    };
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([200, 403, 429, 500, 502, 503]));
    expect(await statuses()).toEqual(first);
  });
});

describe('member counts of the simulated directory', () => {
  it('a control makes a member count wrong, absent, and correct again', async () => {
    const google = startGoogle();
    const count = async () => (await google.get('groups/g-sales')).json.directMembersCount;
    await google.control('counts', { group: 'g-sales', count: 400 });
    expect(await count()).toBe('400');
    await google.control('counts', { group: 'g-sales', count: null });
    expect(await count()).toBeUndefined();
    await google.control('counts', { group: 'g-sales', count: 'right' });
    expect(await count()).toBe('4');
  });
});

describe('controls of the simulated directory', () => {
  it('the request log leaves out requests to the controls, and a reset restores the initial state', async () => {
    const google = startGoogle();
    await google.get('groups/g-sales');
    await google.control('settings', { absentCounts: 1, lagSeconds: { users: 5 } });
    await google.control('changes', { kind: 'deleteGroup', group: 'g-sales' });
    const { json } = await google.send('GET /_simulator/requests');
    expect(json.requests.map(({ path }: { path: string }) => path)).toEqual([
      '/token',
      '/admin/directory/v1/groups/g-sales',
    ]);
    expect((await google.send('GET /_simulator/settings')).json).toMatchObject({
      absentCounts: 1,
      lagSeconds: { users: 5, groups: 0 },
    });
    await google.control('reset');
    google.forgetToken();
    expect((await google.get('groups/g-sales')).json.directMembersCount).toBe('4');
  });

  it('unknown settings are refused, and the error names them', async () => {
    const { status, json } = await startGoogle().control('settings', { failures: 2, colour: 'red' });
    expect(status).toBe(400);
    expect(json.error.message).toContain('body.failures');
  });

  it('the simulator refuses web pages of another origin and other host names', async () => {
    const { send } = startGoogle();
    const origin = { origin: 'http://evil.example' };
    expect((await send('GET /_simulator/state', { headers: origin })).status).toBe(403);
    expect((await send('GET /', { headers: { host: 'evil.example' } })).status).toBe(403);
  });

  it('the key of the service account contains the address of the simulator', async () => {
    const google = startGoogle();
    const { json } = await google.control('service-account-key', { url: 'http://127.0.0.1:1' });
    expect(json).toMatchObject({ type: 'service_account', token_uri: 'http://127.0.0.1:1/token' });
  });
});
