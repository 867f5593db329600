import { expect, it } from 'vitest';
import { memberId } from '../../../shared/domain/ids.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, openReader, type Reader, settle } from './fixture.ts';

const HOUR_MS = 60 * MINUTE_MS;
const PEOPLE = ['a', 'b', 'c', 'd'];

/** Creates a directory whose groups are on the platform and in sync. */
async function settled(groups: Readonly<Record<string, readonly string[]>>) {
  return settle(await openReader({ world: company(groups) }), 40);
}

/** Returns a function that counts the requests to an endpoint since the previous count. */
function callsTo(reader: Reader, pattern: RegExp) {
  let before = 0;
  return async () => {
    const all = (await reader.google.requests()).filter(({ path }) => pattern.test(path)).length;
    const since = all - before;
    before = all;
    return since;
  };
}

const emailOf = async ({ world, ports }: Reader, id: string) => {
  const { name } = await world.connection();
  return (await ports.users.read(name, [memberId(id)])).get(memberId(id))?.attributes.get('email')?.value;
};

it('a suspended user leaves the groups within two runs, although the first answer shows the user as active', async () => {
  const reader = await settled({ rowing: ['a', 'b'] });
  await reader.google.control('settings', { lagSeconds: { users: 90 } });
  await reader.change({ kind: 'suspendUser', user: 'a' });
  await reader.run();
  await reader.pass(5 * MINUTE_MS);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  await reader.passMinutes(5);
  expect(reader.shown('rowing')).toEqual([['u-b']]);
});

it('if a report is older than two minutes, the reader requests the user only once', async () => {
  const reader = await settled({ rowing: ['a', 'b'] });
  const questions = callsTo(reader, /\/v1\/users\/./);
  await questions();
  await reader.change({ kind: 'suspendUser', user: 'a' });
  await reader.pass(3 * MINUTE_MS);
  await reader.passMinutes(20);
  expect(await questions()).toBe(1);
  expect(reader.shown('rowing')).toEqual([['u-b']]);
});

it('a deleted user leaves every group after the directory reports the deletion, although it reports no change of a group', async () => {
  const reader = await settled({ rowing: ['a', 'b'], chess: ['a', 'c'] });
  await reader.change({ kind: 'deleteUser', user: 'a' });
  await reader.passMinutes(5);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-b']], [['u-c']]]);
  const users = reader.takeSent().flatMap(({ data }) => (data.user === undefined ? [] : [data.user]));
  expect(users).toMatchObject([{ id: 'a', 'scim:active': 'false' }]);
});

it('a deleted user becomes a member again after the directory restores the user and the membership', async () => {
  const reader = await settled({ rowing: ['a', 'b'] });
  await reader.change({ kind: 'deleteUser', user: 'a' });
  await reader.passMinutes(30);
  await reader.change(
    { kind: 'undeleteUser', user: 'a' },
    { kind: 'addMember', group: 'rowing', member: 'a' },
  );
  await reader.passMinutes(10);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it('three reported deletions of users cause one request for the list of deleted users', async () => {
  const reader = await settled({ rowing: PEOPLE });
  const lists = callsTo(reader, /\/v1\/users$/);
  await lists();
  await reader.change(...['a', 'b', 'c'].map((user) => ({ kind: 'deleteUser', user })));
  await reader.passMinutes(10);
  expect(await lists()).toBe(1);
  expect(reader.shown('rowing')).toEqual([['u-d']]);
});

it.each([
  ['does not list the user yet', { status: 200, body: '{"kind":"admin#directory#users"}' }],
  ['refuses the list of deleted users', { error: 'forbidden' }],
])(
  'a deleted user leaves the groups within a day, and runs succeed, if the directory %s',
  async (_, fault) => {
    const reader = await settled({ rowing: ['a', 'b'] });
    await reader.google.control('faults', [{ match: { path: '*/v1/users' }, times: 30, ...fault }]);
    await reader.change({ kind: 'deleteUser', user: 'a' });
    await reader.passMinutes(10);
    expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
    await reader.pass(24 * HOUR_MS);
    await reader.passMinutes(10);
    expect(reader.shown('rowing')).toEqual([['u-b']]);
  },
);

it.each([
  ['a reported', 0, 0],
  ['an unreported', 1, 24],
])("%s change of a user's address causes one event within a day", async (_, lostLogEntries, hours) => {
  const reader = await settled({ rowing: ['a', 'b'], chess: ['a'] });
  await reader.google.control('settings', { lostLogEntries });
  await reader.change({ kind: 'changeUser', user: 'a', primaryEmail: 'anna@acme.test' });
  await reader.pass(hours * HOUR_MS);
  await reader.passMinutes(30);
  expect(reader.takeSent().map(({ data }) => data.user?.['email'])).toEqual(['anna@acme.test']);
  expect(await emailOf(reader, 'a')).toBe('anna@acme.test');
});

it('the stored address of a user stays the primary address if a group lists the user under an alias', async () => {
  const reader = await settled({ rowing: ['a', 'b'], chess: ['a'] });
  await reader.google.control('changes', [{ kind: 'changeUser', user: 'a', aliases: ['alias@acme.test'] }]);
  const member = { id: 'a', type: 'USER', email: 'alias@acme.test', status: 'ACTIVE' };
  const body = JSON.stringify({ kind: 'admin#directory#members', members: [member] });
  const match = { path: '*/groups/chess/members' };
  await reader.google.control('faults', [{ match, times: 30, status: 200, body }]);
  for (let day = 0; day < 2; day += 1) {
    await reader.pass(24 * HOUR_MS);
    await reader.passMinutes(30);
  }
  expect(reader.takeSent()).toEqual([]);
  expect(await emailOf(reader, 'a')).toBe('a@acme.test');
  expect(reader.shown('chess')).toEqual([['u-a']]);
});

it('the reader takes the address of a user of another company from the member list and does not request the user', async () => {
  const world = company({ rowing: ['a'] });
  const [rowing] = world.groups ?? [];
  const guest = { member: 'guest@partner.test', kind: 'externalUser' as const };
  const groups = [{ ...rowing, members: [{ member: 'a' }, guest] }];
  const reader = await openReader({ world: { ...world, groups: groups as never } });
  await reader.hire(...PEOPLE);
  await reader.run();
  const sent = reader.takeSent().flatMap(({ data }) => data.user?.['email'] ?? []);
  expect(sent.sort()).toEqual(['a@acme.test', 'guest@partner.test']);
  const users = callsTo(reader, /\/v1\/users\//);
  await reader.passMinutes(30);
  expect(await users()).toBe(0);
});

it('a report with a group address that groupsync does not know causes a read of the group', async () => {
  const reader = await settled({ rowing: ['a', 'b'] });
  await reader.google.control('settings', { lostLogEntries: 1 });
  await reader.change({ kind: 'changeGroup', group: 'rowing', email: 'crew@acme.test' });
  // After 40 minutes, the runs no longer request reports from the time of the address change.
  await reader.passMinutes(40);
  await reader.google.control('settings', { lostLogEntries: 0 });
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  await reader.passMinutes(10);
  expect(reader.shown('rowing')).toEqual([['u-a']]);
  expect(await reader.stored('rowing')).toMatchObject({ address: 'crew@acme.test' });
});
