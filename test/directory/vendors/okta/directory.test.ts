import { expect, it } from 'vitest';
import { REALISTIC_SETTINGS } from '../../../../directory-simulator/engine/settings.ts';
import type { DirectoryMember } from '../../../../shared/directory/ports.ts';
import { groupId } from '../../../../shared/domain/ids.ts';
import { NOW_MS } from '../../../directory-simulator/okta/fixture.ts';
import { allOf } from '../google/reader.ts';
import { openOkta } from './reader.ts';

const SALES = groupId('00gsales');

const describeMember = (member: DirectoryMember) => {
  if (member.kind !== 'user') return member.kind;
  const { id, isActive } = member.user;
  return `${id} ${isActive ? 'on' : 'off'}`;
};

it('groups of Okta, of an app and Everyone are read with their names and counts', async () => {
  const { directory } = await openOkta();
  const groups = await allOf(directory.groups());
  expect(groups.map(({ id, name, userCount }) => [id, name, userCount]).sort()).toEqual([
    ['00gall', 'Everyone', 9],
    ['00gapp', 'Engineering Users', 1],
    ['00gnone', 'Empty', 0],
    ['00gsales', 'Sales', 8],
  ]);
});

it('a group is found by its id with its count, and the result is undefined after its deletion', async () => {
  const { directory } = await openOkta();
  expect(await directory.group('00gsales')).toEqual({
    id: '00gsales',
    name: 'Sales',
    address: '00gsales',
    userCount: 8,
  });
  expect(await directory.group('00ggone')).toBeUndefined();
  expect(await directory.group('00g" or id eq "00gsales')).toBeUndefined();
});

it('a 404 with another code than E0000007 does not prove that a user or a group is gone', async () => {
  const { directory, control } = await openOkta();
  const fault = { times: 9, status: 404, body: { errorCode: 'E0000008' } };
  await control('faults', [
    { match: { path: '/api/v1/users/*' }, ...fault },
    { match: { path: '/api/v1/groups/*' }, ...fault },
  ]);
  await expect(directory.user('00uliz')).rejects.toMatchObject({ kind: 'invalid' });
  await expect(allOf(directory.membersOf(SALES, 'ignore'))).rejects.toMatchObject({ kind: 'invalid' });
});

it('the count of a group is read although the pages before it are empty', async () => {
  const settings = { ...REALISTIC_SETTINGS, failures: 0.1, emptyPages: 0.8, absentCounts: 0 };
  const { directory } = await openOkta({ settings });
  expect((await directory.group('00gsales'))?.userCount).toBe(8);
});

it('a group administrator reads all groups except Everyone', async () => {
  const { directory, control } = await openOkta();
  await control('administrator', { role: 'USER_ADMIN' });
  const groups = await allOf(directory.groups());
  expect(groups.map(({ id }) => id).sort()).toEqual(['00gapp', '00gnone', '00gsales']);
});

it('staged, suspended and deprovisioned users are inactive members, and users with any other status are active', async () => {
  const { directory } = await openOkta();
  const members = await allOf(directory.membersOf(SALES, 'ignore'));
  expect(members.map(describeMember).sort()).toEqual([
    '00udep off',
    '00uexp on',
    '00uliz on',
    '00ulock on',
    '00uprov on',
    '00urec on',
    '00ustaged off',
    '00usus off',
  ]);
});

it('a user has the address and login of the profile, or the login as address if the profile has no address', async () => {
  const { directory } = await openOkta({
    world: {
      users: [
        { id: '00uann', primaryEmail: 'ann@example.com', vendorFields: { login: 'ann@login.example' } },
        {
          id: '00uBot',
          primaryEmail: 'x@example.com',
          vendorFields: { login: 'bot@login.example', profile: { email: null } },
        },
      ],
    },
  });
  const attributesOf = async (id: string) => Object.fromEntries((await directory.user(id))?.attributes ?? []);
  expect(await attributesOf('00uann')).toEqual({ email: 'ann@example.com', userName: 'ann@login.example' });
  expect(await attributesOf('00uBot')).toEqual({
    email: 'bot@login.example',
    userName: 'bot@login.example',
  });
  expect(await directory.user('00uMissing')).toBeUndefined();
});

it('every list is requested with a limit of 200 or 1000, because Okta plans to change the default', async () => {
  const { directory, requests } = await openOkta();
  await allOf(directory.groups());
  await allOf(directory.membersOf(SALES, 'ignore'));
  await directory.changesSince(await directory.cursorAt(NOW_MS));
  const lists = (await requests()).filter(({ path }) => path.startsWith('/api/v1/'));
  expect(lists.length).toBeGreaterThan(3);
  for (const { query } of lists) expect(query).toMatch(/(?:^|[?&])limit=(?:200|1000)(?:&|$)/);
});

it.each([
  ['listGroups', '/api/v1/groups'],
  ['listUsers', '/api/v1/users'],
  ['listLogEvents', '/api/v1/logs'],
])('a 404 for a list that every organisation has is an error of the kind denied: %s', async (_, path) => {
  const { directory, control } = await openOkta();
  await control('faults', [{ match: { path }, times: 10, error: 'notFound' }]);
  const read = directory.changesSince(await directory.cursorAt(NOW_MS));
  await expect(read).rejects.toMatchObject({ kind: 'denied', reason: 'E0000007' });
});
