import { describe, expect, it } from 'vitest';
import { startGoogle } from '../fixture.ts';

const etag = expect.stringMatching(/^".+"$/);

describe('bodies of the Directory API in the documented form', () => {
  it('a user has the documented fields, with all addresses', async () => {
    const { get } = startGoogle();
    expect((await get('users/ann@example.com')).json).toEqual({
      kind: 'admin#directory#user',
      id: 'u-ann',
      etag,
      primaryEmail: 'ann@example.com',
      name: { givenName: 'Ann', familyName: '', fullName: 'Ann' },
      isAdmin: false,
      isDelegatedAdmin: false,
      creationTime: '1970-01-01T00:00:00.000Z',
      agreedToTerms: true,
      suspended: false,
      archived: false,
      changePasswordAtNextLogin: false,
      emails: [
        { address: 'ann@example.com', primary: true },
        { address: 'a@example.com' },
        { address: 'ann@example.com.test-google-a.com' },
      ],
      aliases: ['a@example.com'],
      nonEditableAliases: ['ann@example.com.test-google-a.com'],
      customerId: 'C03az79cb',
      orgUnitPath: '/',
      isMailboxSetup: true,
      includeInGlobalAddressList: true,
    });
  });

  it('a group has the documented fields, and its member count is a string', async () => {
    const { get } = startGoogle();
    expect((await get('groups/sales@example.com')).json).toEqual({
      kind: 'admin#directory#group',
      id: 'g-sales',
      etag,
      email: 'sales@example.com',
      name: 'Sales',
      directMembersCount: '4',
      description: 'People who sell',
      adminCreated: true,
      aliases: ['verkauf@example.com'],
      nonEditableAliases: ['sales@example.com.test-google-a.com'],
    });
  });

  it('members have a status, except external members, and a nested group does not show its members', async () => {
    const { get } = startGoogle();
    const { json } = await get('groups/g-sales/members');
    expect(json).toEqual({ kind: 'admin#directory#members', etag, members: expect.any(Array) });
    const member = { kind: 'admin#directory#member', etag, role: 'MEMBER', type: 'USER' };
    expect(json.members).toHaveLength(5);
    expect(json.members).toEqual(
      expect.arrayContaining([
        { ...member, id: 'u-liz', email: 'liz@example.com', role: 'OWNER', status: 'ACTIVE' },
        { ...member, id: 'u-sue', email: 'sue@example.com', status: 'SUSPENDED' },
        { ...member, id: 'u-art', email: 'art@example.com', status: 'ARCHIVED' },
        { ...member, id: expect.stringMatching(/^1\d{20}$/), email: 'guest@partner.example' },
        { ...member, id: 'g-emea', email: 'emea@example.com', type: 'GROUP', status: 'ACTIVE' },
      ]),
    );
  });

  it('one member of the type CUSTOMER without an address represents all users of the company', async () => {
    const { get } = startGoogle();
    expect((await get('groups/g-all/members')).json.members).toEqual([
      {
        kind: 'admin#directory#member',
        id: 'C03az79cb',
        etag,
        role: 'MEMBER',
        type: 'CUSTOMER',
        status: 'ACTIVE',
      },
    ]);
  });

  it('an answer leaves out an empty list', async () => {
    const { get } = startGoogle();
    expect((await get('groups/g-none/members')).json).toEqual({ kind: 'admin#directory#members', etag });
  });

  it('hasMember tells whether a user is a direct or indirect member', async () => {
    const { get } = startGoogle();
    expect((await get('groups/g-sales/hasMember/a@example.com')).json).toEqual({ isMember: true });
    expect((await get('groups/g-emea/hasMember/sue@example.com')).json).toEqual({ isMember: false });
  });

  it('a change in the admin console is an activity in the log `admin`', async () => {
    const { get, control } = startGoogle();
    await control('changes', { kind: 'addMember', group: 'g-none', member: 'ann@example.com' });
    const { json } = await get('activity/users/all/applications/admin');
    expect(json).toEqual({ kind: 'reports#activities', etag, items: expect.any(Array) });
    expect(json.items).toEqual([
      {
        kind: 'audit#activity',
        id: {
          time: '2026-11-20T10:00:00.000Z',
          uniqueQualifier: expect.stringMatching(/^\d+$/),
          applicationName: 'admin',
          customerId: 'C03az79cb',
        },
        etag,
        actor: { callerType: 'USER', email: 'liz@example.com', profileId: expect.any(String) },
        ownerDomain: 'example.com',
        ipAddress: '192.0.2.7',
        events: [
          {
            type: 'GROUP_SETTINGS',
            name: 'ADD_GROUP_MEMBER',
            parameters: [
              { name: 'GROUP_EMAIL', value: 'none@example.com' },
              { name: 'USER_EMAIL', value: 'ann@example.com' },
            ],
          },
        ],
      },
    ]);
  });

  it('a change of a group is an activity in the log `groups_enterprise`', async () => {
    const { get, control } = startGoogle();
    const change = { kind: 'removeMember', group: 'g-emea', member: 'u-ann', via: 'groups' };
    await control('changes', change);
    const { json } = await get('activity/users/all/applications/groups_enterprise');
    expect(json.items[0].events).toEqual([
      {
        type: 'moderator_action',
        name: 'remove_member',
        parameters: [
          { name: 'group_id', value: 'emea@example.com' },
          { name: 'member_id', value: 'ann@example.com' },
          { name: 'member_role', value: 'member' },
          { name: 'member_type', value: 'user' },
        ],
      },
    ]);
    expect((await get('activity/users/all/applications/admin')).json.items).toBeUndefined();
  });
});

describe('errors of the Directory API in the documented form', () => {
  it.each([
    ['groups/absent@example.com', 404, 'notFound', 'Resource Not Found: groupKey'],
    ['groups/g-gone', 404, 'notFound', 'Resource Not Found: groupKey'],
    ['groups/g-gone/members', 404, 'notFound', 'Resource Not Found: groupKey'],
    ['groups/team@other.example', 403, 'forbidden', 'Not Authorized to access this resource/api'],
    ['users/absent', 404, 'notFound', 'Resource Not Found: userKey'],
    ['users/del@example.com', 404, 'notFound', 'Resource Not Found: userKey'],
    ['users/ann@other.example', 403, 'forbidden', 'Not Authorized to access this resource/api'],
    ['groups/g-sales/members/ann@example.com', 404, 'notFound', 'Resource Not Found: memberKey'],
    ['groups/g-sales/hasMember/emea@example.com', 400, 'invalid', 'Invalid Input: memberKey'],
    ['groups/g-sales/hasMember/guest@partner.example', 400, 'invalid', 'Invalid Input: memberKey'],
    ['users', 400, 'badRequest', 'Bad Request'],
    ['groups?customer=my_customer&userKey=u-ann', 400, 'badRequest', 'Bad Request'],
    ['users?customer=C0other', 400, 'badRequest', 'Bad Request'],
    ['users?domain=other.example', 404, 'notFound', 'Resource Not Found: domain'],
    ['groups?customer=my_customer&pageToken=abc', 400, 'invalid', 'Invalid Input: abc'],
    ['nothing', 404, 'notFound', 'Resource Not Found: the method'],
  ])('the request %s is answered with %i %s', async (path, status, reason, message) => {
    const { get } = startGoogle();
    const answer = await get(path);
    const errors = [{ message, domain: 'global', reason }];
    expect([answer.status, answer.json]).toEqual([status, { error: { code: status, message, errors } }]);
  });

  it.each([
    'users?customer=my_customer&maxResults=501',
    'groups?customer=my_customer&maxResults=0',
    'groups/g-sales/members?maxResults=201',
    'groups/g-sales?colour=red',
  ])('the request %s is refused because of a parameter', async (path) => {
    const { get } = startGoogle();
    const { status, json } = await get(path);
    expect([status, json.error.errors[0].reason]).toEqual([400, 'invalid']);
  });
});
