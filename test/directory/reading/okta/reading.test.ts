import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../../support/engine/world.ts';
import { company, settledOkta } from '../fixture.ts';

it('a new member causes one call for a page of members, in addition to the usual calls of a run', async () => {
  const reader = await settledOkta({ world: company({ rowing: ['a', 'b'], chess: ['c'] }) });
  await reader.pass(10 * MINUTE_MS);
  await reader.run();
  const before = (await reader.okta.requests()).length;
  await reader.change({ kind: 'addMember', group: 'rowing', member: 'c' });
  await reader.run();
  const paths = (await reader.okta.requests()).slice(before).map(({ path }) => path);
  expect(paths.filter((path) => path.startsWith('/api/v1/groups'))).toEqual([
    '/api/v1/groups',
    '/api/v1/groups/rowing/users',
  ]);
  await reader.passMinutes(5);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b', 'u-c']]);
});

it('a change of many users causes one call per 200 users', async () => {
  const people = Array.from({ length: 150 }, (_, index) => `p${index}`);
  const world = {
    users: people.map((id) => ({ id, primaryEmail: `${id}@acme.test` })),
    groups: [{ id: 'all', email: 'all@x', name: 'All', members: people.map((member) => ({ member })) }],
  };
  const reader = await settledOkta({ world });
  const before = (await reader.okta.requests()).length;
  await reader.change(
    ...people.map((user) => ({ kind: 'changeUser', user, primaryEmail: `new-${user}@acme.test` })),
  );
  await reader.run();
  const calls = (await reader.okta.requests()).slice(before).map(({ path }) => path);
  expect(calls.length).toBeLessThanOrEqual(6);
  const sent = reader.takeSent().flatMap(({ data }) => data.user?.['email'] ?? []);
  expect(sent.sort()).toEqual(people.map((user) => `new-${user}@acme.test`).sort());
});
