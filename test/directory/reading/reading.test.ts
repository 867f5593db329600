import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, kindsOf, openReader } from './fixture.ts';

const HOUR_MS = 60 * MINUTE_MS;

it('the reader sends users before groups, and sends nothing after the platform equals the directory', async () => {
  const reader = await openReader({ world: company({ rowing: ['a', 'b'], chess: ['c'] }) });
  await reader.hire('a', 'b', 'c');
  await reader.run();
  const kinds = kindsOf(reader.takeSent());
  expect(kinds.slice().sort()).toEqual([
    'group.snapshot',
    'group.snapshot',
    'user.upserted',
    'user.upserted',
    'user.upserted',
  ]);
  expect(kinds[0]).toBe('user.upserted');
  await reader.work(40);
  expect([reader.shown('rowing'), reader.shown('chess')]).toEqual([[['u-a', 'u-b']], [['u-c']]]);
  await reader.passMinutes(60);
  expect(reader.takeSent()).toEqual([]);
  expect(await reader.stored('rowing')).toMatchObject({ agreedMs: expect.any(Number) });
});

it('the reader sends a user once, even if the user is a member of several groups', async () => {
  const reader = await openReader({ world: company({ rowing: ['a', 'b'], chess: ['a'], sport: ['a'] }) });
  await reader.run();
  const users = reader.takeSent().flatMap(({ data }) => data.user?.['id'] ?? []);
  expect(users.sort()).toEqual(['a', 'b']);
});

it('the event about a user shows whether the user is active, and the reader sends a new event after a change', async () => {
  const reader = await openReader({ world: company({ rowing: ['a', 'b'] }) });
  await reader.hire('a', 'b');
  await reader.run();
  const users = reader.takeSent().filter(({ type }) => type === 'directory.user.upserted');
  expect(users.map(({ data }) => data.user)).toContainEqual({
    id: 'a',
    email: 'a@acme.test',
    userName: 'a@acme.test',
    'scim:active': 'true',
  });
  await reader.work(40);
  await reader.change({ kind: 'suspendUser', user: 'a' });
  await reader.passMinutes(10);
  expect(reader.takeSent().map(({ data }) => data.user)).toEqual([
    { id: 'a', email: 'a@acme.test', userName: 'a@acme.test', 'scim:active': 'false' },
  ]);
  expect(reader.shown('rowing')).toEqual([['u-b']]);
  await reader.change({ kind: 'unsuspendUser', user: 'a' });
  await reader.passMinutes(10);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it('the reader finds a reported change in the next run, and any other change within a day', async () => {
  const reader = await openReader({ world: company({ rowing: ['a'], chess: ['c'] }) });
  await reader.hire('a', 'b', 'c', 'd');
  await reader.passMinutes(30);
  await reader.change({ kind: 'addMember', group: 'rowing', member: 'b' });
  await reader.passMinutes(10);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  await reader.google.control('settings', { lostLogEntries: 1 });
  await reader.change(
    { kind: 'removeMember', group: 'chess', member: 'c' },
    { kind: 'addMember', group: 'chess', member: 'd' },
  );
  await reader.passMinutes(30);
  expect(reader.shown('chess')).toEqual([['u-c']]);
  await reader.pass(24 * HOUR_MS);
  await reader.passMinutes(30);
  expect(reader.shown('chess')).toEqual([['u-d']]);
});

it('the reader reads only the selected groups of the directory', async () => {
  const settings = { groups: { include: ['Group r*'], exclude: ['rugby'], policies: [] } };
  const world = company({ rowing: ['a'], rugby: ['b'], chess: ['c'] });
  const reader = await openReader({ world, settings });
  await reader.hire('a', 'b', 'c');
  expect(await reader.run()).toMatchObject({ groups: 1, read: 1, sent: 1 });
  const groups = reader.takeSent().flatMap(({ data }) => (data.group === undefined ? [] : [data.group.id]));
  expect(groups).toEqual(['rowing']);
  await reader.change({ kind: 'addMember', group: 'rugby', member: 'a' });
  expect(await reader.run()).toMatchObject({ groups: 1 });
});

it('the reader finds a new group and a new name after the directory reports them', async () => {
  const reader = await openReader({ world: company({ rowing: ['a'] }) });
  await reader.hire('a', 'b');
  await reader.passMinutes(10);
  await reader.change({
    kind: 'addGroup',
    group: { id: 'chess', email: 'chess@acme.test', name: 'Chess', members: [] },
  });
  await reader.change(
    { kind: 'addMember', group: 'chess', member: 'b' },
    { kind: 'changeGroup', group: 'rowing', name: 'Crew' },
  );
  await reader.passMinutes(10);
  expect(reader.shown('chess')).toEqual([['u-b']]);
  const names = [...reader.world.platform.groups.values()].map(({ name }) => name).sort();
  expect(names).toEqual(['Chess', 'Crew']);
});

it('a run that reaches its time limit leaves the remaining groups to the next run', async () => {
  const groups = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`g${index}`, ['a']]));
  const reader = await openReader({ world: company(groups) });
  await reader.hire('a');
  const report = await reader.run({ deadlineMs: 0 });
  expect(report).toMatchObject({ read: 0, waiting: 12 });
  expect(await reader.run()).toMatchObject({ read: 12, waiting: 0 });
});

it('the next run continues a full read that ran out of time, and no later run repeats the full read', async () => {
  const reader = await openReader({ world: company({ rowing: ['a'], chess: ['c'] }) });
  await reader.hire('a', 'c');
  await reader.passMinutes(30);
  expect(await reader.run({ isFull: true, deadlineMs: 0 })).toMatchObject({ read: 0, waiting: 2 });
  expect(await reader.run()).toMatchObject({ read: 2, waiting: 0 });
  expect(await reader.run()).toMatchObject({ read: 0, waiting: 0 });
});

it('a full read causes one call for the list of groups and one for each page of members', async () => {
  const groups = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`g${index}`, ['a']]));
  const reader = await openReader({ world: company(groups) });
  await reader.run();
  const calls = (await reader.google.requests()).filter(({ path }) => path.startsWith('/admin/'));
  expect(calls).toHaveLength(1 + 12);
});

it('the reader processes a report once, although each run receives the reports of the last half hour', async () => {
  const settings = { groups: { include: ['Group rowing'], exclude: [], policies: [] } };
  const reader = await openReader({ world: company({ rowing: ['a'], chess: ['c'] }), settings });
  await reader.hire('a', 'c');
  await reader.passMinutes(40);
  await reader.change({ kind: 'addMember', group: 'chess', member: 'a' }, { kind: 'suspendUser', user: 'd' });
  await reader.pass(MINUTE_MS);
  expect(await reader.run()).toMatchObject({ reported: 2 });
  const before = (await reader.google.requests()).length;
  await reader.pass(5 * MINUTE_MS);
  expect(await reader.run()).toMatchObject({ reported: 0 });
  expect((await reader.google.requests()).length - before).toBe(2);
});

it('after the first read, the reader sends only the changed members of a group of more than 1,000 members', async () => {
  const users = Array.from({ length: 1_100 }, (_, index) => ({
    id: `m${index}`,
    primaryEmail: `m${index}@acme.test`,
  }));
  const base = company({});
  const members = users.map(({ id }) => ({ member: id }));
  const world = {
    ...base,
    users: [...(base.users ?? []), ...users],
    groups: [{ id: 'all', email: 'all@acme.test', name: 'All', members }],
  };
  const reader = await openReader({ world });
  await reader.run();
  const first = reader.takeSent().filter(({ data }) => data.group !== undefined);
  expect(kindsOf(first)).toEqual(['group.upserted', ...Array(4).fill('group.member.added')]);
  await reader.work(60);
  await reader.change(
    { kind: 'removeMember', group: 'all', member: 'm7' },
    { kind: 'addMember', group: 'all', member: 'a' },
  );
  await reader.world.advance(5 * MINUTE_MS);
  await reader.run();
  const second = reader.takeSent().filter(({ data }) => data.group !== undefined);
  expect(second.map(({ type, data }) => [type, data.members])).toEqual([
    ['directory.group.member.added', [{ id: 'a' }]],
    ['directory.group.member.removed', [{ id: 'm7' }]],
  ]);
});
