import { describe, expect, it } from 'vitest';
import { READ_GROUPS } from '../../../directory-simulator/google/scopes.ts';
import { readAll, startGoogle } from '../fixture.ts';

const emails = (items: readonly { email?: string }[]) => items.map(({ email }) => email).toSorted();

describe('users.list', () => {
  const read = async (query: string) => {
    const { items } = await readAll(startGoogle(), `users?customer=my_customer${query}`, 'users');
    return items.map(({ id }) => id).toSorted();
  };

  it('users.list contains suspended and archived users, but no deleted users', async () => {
    expect(await read('')).toEqual(['u-ann', 'u-art', 'u-liz', 'u-sue']);
  });

  it('users.list with showDeleted contains only the users who were deleted in the last 20 days', async () => {
    expect(await read('&showDeleted=true')).toEqual(['u-del']);
  });

  it('users.list finds users by state and by address', async () => {
    expect(await read('&query=isSuspended=true')).toEqual(['u-sue']);
    expect(await read('&query=email:a*%20isArchived=false')).toEqual(['u-ann']);
  });

  it('users.list refuses a search that is not simulated', async () => {
    const { get } = startGoogle();
    expect((await get('users?customer=my_customer&query=manager=x')).status).toBe(400);
  });

  it('users.list sorts by the requested attribute', async () => {
    const google = startGoogle({ settings: { pageOrder: 'random' } });
    const { items } = await readAll(google, 'users?customer=my_customer&orderBy=email', 'users');
    expect(items.map(({ id }) => id)).toEqual(['u-ann', 'u-art', 'u-liz', 'u-sue']);
  });
});

describe('groups.list', () => {
  it('groups.list contains no deleted groups', async () => {
    const { items } = await readAll(startGoogle(), 'groups?customer=my_customer', 'groups');
    expect(items.map(({ id }) => id).toSorted()).toEqual(['g-all', 'g-emea', 'g-none', 'g-sales']);
  });

  it('groups.list with userKey contains the groups that have this user as a direct member', async () => {
    const { items } = await readAll(startGoogle(), 'groups?userKey=a@example.com', 'groups');
    expect(items.map(({ id }) => id)).toEqual(['g-emea']);
  });
});

describe('members.list', () => {
  it('a group is found by its alias, and members are found by their role', async () => {
    const { items } = await readAll(
      startGoogle(),
      'groups/verkauf@example.com/members?roles=OWNER',
      'members',
    );
    expect(emails(items)).toEqual(['liz@example.com']);
  });

  it('a list with indirect members leaves some of them out if the settings require it', async () => {
    const path = 'groups/g-sales/members?includeDerivedMembership=true';
    const whole = await readAll(startGoogle(), path, 'members');
    expect(emails(whole.items)).toContain('ann@example.com');
    const less = await readAll(startGoogle({ settings: { missingDerivedMembers: 1 } }), path, 'members');
    expect(emails(less.items)).not.toContain('ann@example.com');
    expect(less.items).toHaveLength(5);
  });

  it('a request for the field `status` is refused if the group has an external member', async () => {
    const { get } = startGoogle();
    const fields = 'fields=nextPageToken,members(id,status)';
    expect((await get(`groups/g-sales/members?${fields}`)).status).toBe(403);
    expect((await get(`groups/g-emea/members?${fields}`)).json).toEqual({
      members: [{ id: 'u-ann', status: 'ACTIVE' }],
    });
  });

  it('members.get finds an external member by address', async () => {
    const { get } = startGoogle();
    expect((await get('groups/g-sales/members/guest@partner.example')).json).toMatchObject({
      email: 'guest@partner.example',
      delivery_settings: 'ALL_MAIL',
    });
  });
});

describe('missing and additional fields of answers', () => {
  it('groups lack the member count if the settings require it', async () => {
    const { get } = startGoogle({ settings: { absentCounts: 1 } });
    expect((await get('groups/g-sales')).json).not.toHaveProperty('directMembersCount');
  });

  it('answers have undocumented fields if the settings require them', async () => {
    const google = startGoogle({ settings: { unknownFields: true } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => google.get('groups/g-sales/members')));
    const unknown = (value: object) => Object.keys(value).some((name) => name.startsWith('preview'));
    expect(answers.some(({ json }) => unknown(json))).toBe(true);
    expect(answers.some(({ json }) => json.members.some(unknown))).toBe(true);
  });
});

describe('lag of the simulated directory', () => {
  it('a list of members shows the earlier state during the lag, and the new state afterwards', async () => {
    const google = startGoogle({ settings: { lagSeconds: { users: 0, groups: 0, members: 60, log: 0 } } });
    const read = async () => emails((await readAll(google, 'groups/g-emea/members', 'members')).items);
    await google.control('changes', { kind: 'addMember', group: 'g-emea', member: 'u-sue' });
    google.clock.ms += 30_000;
    const seen = await Promise.all(Array.from({ length: 40 }, read));
    expect(new Set(seen.map(String))).toEqual(
      new Set(['ann@example.com', 'ann@example.com,sue@example.com']),
    );
    google.clock.ms += 30_001;
    expect(await read()).toEqual(['ann@example.com', 'sue@example.com']);
  });

  it('the member count and the members of a group differ while their lags differ', async () => {
    const google = startGoogle({ settings: { lagSeconds: { users: 0, groups: 3_600, members: 0, log: 0 } } });
    await google.control('changes', { kind: 'addMember', group: 'g-none', member: 'u-ann' });
    google.clock.ms += 1;
    expect((await google.get('groups/g-none')).json.directMembersCount).toBe('0');
    expect((await google.get('groups/g-none/members')).json.members).toHaveLength(1);
  });
});

describe('permissions of a call', () => {
  it('a call is refused if its token lacks the scope', async () => {
    const google = startGoogle();
    const { json } = await google.signIn({ scope: READ_GROUPS });
    const token = json.access_token;
    expect((await google.send('GET /admin/directory/v1/groups/g-sales', { token })).status).toBe(200);
    expect((await google.send('GET /admin/directory/v1/groups/g-sales/members', { token })).status).toBe(200);
    const refused = await google.send('GET /admin/directory/v1/users?customer=my_customer', { token });
    expect(refused.status).toBe(403);
    expect(refused.json.error.errors[0].reason).toBe('insufficientPermissions');
    expect(refused.json.error.details[0].reason).toBe('ACCESS_TOKEN_SCOPE_INSUFFICIENT');
  });

  it('a call without a token or with an expired token is refused', async () => {
    const google = startGoogle();
    await google.get('groups/g-sales');
    expect((await google.send('GET /admin/directory/v1/groups/g-sales')).status).toBe(401);
    google.clock.ms += 3_600_000;
    const { status, json } = await google.get('groups/g-sales');
    expect([status, json.error.errors[0].reason]).toEqual([401, 'authError']);
  });

  it.each([
    ['belongs to a user who is not an administrator', { sub: 'ann@example.com' }],
    ['belongs to the service account itself', { sub: undefined }],
  ])('a call is refused if its token %s', async (_, claims) => {
    const google = startGoogle();
    const token = (await google.signIn(claims)).json.access_token;
    const { status, json } = await google.send('GET /admin/directory/v1/groups/g-sales', { token });
    expect([status, json.error.errors[0].reason]).toEqual([403, 'forbidden']);
  });

  it('requests of a user above the limit per minute are refused', async () => {
    const google = startGoogle({ settings: { queriesPerMinute: 2 } });
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await google.get('groups/g-sales')).status);
    expect(statuses).toEqual([200, 200, 403]);
    expect((await google.get('groups/g-sales')).json.error.errors[0]).toMatchObject({
      domain: 'usageLimits',
      reason: 'userRateLimitExceeded',
    });
    google.clock.ms += 60_000;
    expect((await google.get('groups/g-sales')).status).toBe(200);
  });
});
