import { expect, it } from 'vitest';
import { groupId } from '../../../../shared/domain/ids.ts';
import { ADMIN, NOW_MS } from '../../../directory-simulator/fixture.ts';
import { allOf, describeMember, openGoogle } from './reader.ts';

const SALES = groupId('g-sales');

it('groups are read with their names, addresses and counts', async () => {
  const { directory } = await openGoogle();
  const groups = await allOf(directory.groups());
  expect(groups.map(({ id }) => id).sort()).toEqual(['g-all', 'g-emea', 'g-none', 'g-sales']);
  expect(groups.find(({ id }) => id === 'g-sales')).toEqual({
    id: 'g-sales',
    name: 'Sales',
    address: 'sales@example.com',
    userCount: 4,
  });
});

it('the members of a group are users with their state, members of other companies, and groups', async () => {
  const { directory } = await openGoogle();
  const members = await allOf(directory.membersOf(SALES));
  expect(members.map(describeMember).sort()).toEqual([
    'art@example.com off',
    'group g-emea',
    'guest@partner.example on',
    'liz@example.com on',
    'sue@example.com off',
  ]);
  expect(await allOf(directory.membersOf(groupId('g-all')))).toEqual([{ kind: 'everyone' }]);
});

it.each([
  ['a scope that is not granted', ADMIN, ['https://www.googleapis.com/auth/admin.directory.user.readonly']],
  ['an administrator who is suspended', 'sue@example.com', undefined],
])('the sign-in is denied with %s', async (_, administrator, scopes) => {
  const { directory, control } = await openGoogle({ administrator });
  if (scopes !== undefined) await control('delegation', { scopes });
  const failure = await directory.group('g-sales').catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: 'denied' });
  expect(String(failure)).not.toContain('@');
});

it('each reported group or user has its address and the time of its report', async () => {
  const { directory, control, clock } = await openGoogle();
  const cursor = await directory.cursorAt(clock.ms);
  clock.ms += 60_000;
  await control('changes', [
    { kind: 'addMember', group: 'g-emea', member: 'u-sue' },
    { kind: 'suspendUser', user: 'u-ann' },
  ]);
  await control('changes', { kind: 'removeMember', group: 'g-sales', member: 'u-sue', via: 'groups' });
  clock.ms += 1_000;
  const { groups, users, cursor: next } = await directory.changesSince(cursor);
  expect(groups.map(({ key, atMs }) => [key, atMs - NOW_MS]).sort()).toEqual([
    ['emea@example.com', 60_000],
    ['sales@example.com', 60_000],
  ]);
  expect(users).toMatchObject([
    { key: 'ann@example.com', atMs: NOW_MS + 60_000, isDeletion: false, isMembership: false },
  ]);
  expect(next).toBe(await directory.cursorAt(clock.ms));
});

it('each run also requests reports from shortly before its cursor, because entries appear late', async () => {
  const { directory, control, clock } = await openGoogle();
  await control('changes', { kind: 'addMember', group: 'g-emea', member: 'u-sue' });
  clock.ms += 20 * 60_000;
  const { groups } = await directory.changesSince(await directory.cursorAt(clock.ms));
  expect(groups).toMatchObject([
    { key: 'emea@example.com', atMs: NOW_MS, isDeletion: false, isMembership: true },
  ]);
  expect(groups[0]?.members).toContainEqual({ key: 'sue@example.com', atMs: NOW_MS, isMember: true });
});

it('the deletion of a group is reported even if a later report names the same address', async () => {
  const { directory, control, clock } = await openGoogle();
  await control('changes', { kind: 'deleteGroup', group: 'g-none' });
  await control('changes', { kind: 'deleteGroup', group: 'g-emea' });
  clock.ms += 1_000;
  const again = { id: 'g-new', email: 'emea@example.com', name: 'EMEA' };
  await control('changes', { kind: 'addGroup', group: again });
  clock.ms += 1_000;
  const { groups } = await directory.changesSince(await directory.cursorAt(clock.ms));
  expect(groups.map(({ key, isDeletion }) => [key, isDeletion]).sort()).toEqual([
    ['emea@example.com', false],
    ['emea@example.com', true],
    ['none@example.com', true],
  ]);
});
