import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../../support/engine/world.ts';
import { company, kindsOf, settledOkta } from '../fixture.ts';

const EIGHT = company(Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`g${index}`, ['a']])));

it('a new member causes one call for a page of members, in addition to the usual calls of a run', async () => {
  const reader = await settledOkta({ world: company({ rowing: ['a', 'b'], chess: ['c'] }) });
  await reader.pass(10 * MINUTE_MS);
  await reader.run();
  const before = (await reader.okta.calls()).length;
  await reader.change({ kind: 'addMember', group: 'rowing', member: 'c' });
  await reader.run();
  const paths = (await reader.okta.calls()).slice(before).map(({ path }) => path);
  expect(paths.filter((path) => path.startsWith('/api/v1/groups'))).toEqual([
    '/api/v1/groups',
    '/api/v1/groups/rowing/users',
  ]);
  await reader.passMinutes(5);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b', 'u-c']]);
});

it.each(['suspendUser', 'archiveUser'])(
  'after %s, a user leaves the platform groups although Okta still lists the user, and returns after the reversal',
  async (kind) => {
    const reader = await settledOkta({ world: company({ rowing: ['a', 'b'] }) });
    await reader.change({ kind, user: 'a' });
    await reader.passMinutes(5);
    expect(reader.shown('rowing')).toEqual([['u-b']]);
    await reader.change({ kind: `un${kind}`, user: 'a' });
    await reader.passMinutes(5);
    expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  },
);

it('a deleted user leaves every group, although no list contains the user and no group is reported', async () => {
  const reader = await settledOkta({ world: company({ rowing: ['a', 'b'], chess: ['a', 'c'] }) });
  await reader.change({ kind: 'deleteUser', user: 'a' });
  await reader.passMinutes(5);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-b']], [['u-c']]]);
  expect(kindsOf(reader.takeSent())).toContain('user.deleted');
});

it('a change of many users causes one call per 200 users', async () => {
  const people = Array.from({ length: 150 }, (_, index) => `p${index}`);
  const world = {
    users: people.map((id) => ({ id, primaryEmail: `${id}@acme.test` })),
    groups: [{ id: 'all', email: 'all@x', name: 'All', members: people.map((member) => ({ member })) }],
  };
  const reader = await settledOkta({ world });
  const before = (await reader.okta.calls()).length;
  await reader.change(
    ...people.map((user) => ({ kind: 'changeUser', user, primaryEmail: `new-${user}@acme.test` })),
  );
  await reader.run();
  const calls = (await reader.okta.calls()).slice(before).map(({ path }) => path);
  expect(calls.length).toBeLessThanOrEqual(6);
  const sent = reader.takeSent().flatMap(({ data }) => data.user?.['email'] ?? []);
  expect(sent.sort()).toEqual(people.map((user) => `new-${user}@acme.test`).sort());
});

it('after a refused cursor, the Okta reader reads every group and removes no member', async () => {
  const reader = await settledOkta({ world: company({ rowing: ['a', 'b'], chess: ['c'] }) });
  await reader.okta.control('settings', { lostLogEntries: 1 });
  await reader.okta.control('page-tokens/expire');
  const report = await reader.run();
  expect(report).toMatchObject({ read: 2, sent: 0 });
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-a', 'u-b']], [['u-c']]]);
});

it('a group that was deleted before a refused cursor is deleted, because the log still contains the event', async () => {
  const reader = await settledOkta({ world: EIGHT });
  await reader.change({ kind: 'deleteGroup', group: 'g1' }, { kind: 'deleteGroup', group: 'g2' });
  await reader.okta.control('page-tokens/expire');
  await reader.passMinutes(5);
  expect(kindsOf(reader.takeSent())).toEqual(['group.deleted', 'group.deleted']);
});
