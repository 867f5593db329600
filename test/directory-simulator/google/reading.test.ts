import { describe, expect, it } from 'vitest';
import { READ_GROUPS } from '../../../directory-simulator/google/scopes.ts';
import { readAll, startGoogle } from '../fixture.ts';

const emails = (items: readonly { email?: string }[]) => items.map(({ email }) => email).toSorted();

describe('users.list', () => {
  const read = async (query: string) => {
    const { items } = await readAll(startGoogle(), `users?customer=my_customer${query}`, 'users');
    return items.map(({ id }) => id).toSorted();
  };

  it('users.list finds users by state and by address', async () => {
    expect(await read('&query=isSuspended=true')).toEqual(['u-sue']);
    expect(await read('&query=email:a*%20isArchived=false')).toEqual(['u-ann']);
  });
});

describe('groups.list', () => {
  it('groups.list with userKey contains the groups that have this user as a direct member', async () => {
    const { items } = await readAll(startGoogle(), 'groups?userKey=a@example.com', 'groups');
    expect(items.map(({ id }) => id)).toEqual(['g-emea']);
  });
});

describe('members.list', () => {
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
});

describe('missing and additional fields of answers', () => {
  it('answers have undocumented fields if the settings require them', async () => {
    const google = startGoogle({ settings: { unknownFields: true } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => google.get('groups/g-sales/members')));
    const unknown = (value: object) => Object.keys(value).some((name) => name.startsWith('preview'));
    expect(answers.some(({ json }) => unknown(json))).toBe(true);
    expect(answers.some(({ json }) => json.members.some(unknown))).toBe(true);
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
