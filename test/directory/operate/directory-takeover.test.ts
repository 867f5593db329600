import { expect, it } from 'vitest';
import { compareDirectory } from '../../../shared/directory/operate/compare.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { listPastMembers } from '../../../shared/operate/past.ts';
import { CONNECTION } from '../../support/engine/world.ts';
import { openWith, resume, takeOver } from '../../support/operate/takeovers.ts';
import { platformGroupsOf, type Reader } from '../reading/fixture.ts';

const compare = async ({ world, google }: Reader) =>
  compareDirectory(await world.connection(), google.directory, world.toolPorts);

it('after a takeover, events about the old group only cause a read of the new group', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a'] });
  const beforeMs = reader.world.nowMs();
  await takeOver(reader, 'directory');
  await resume(reader);
  await reader.passMinutes(30);
  await reader.deliver({ take: ['a'], from: 'okta-1' }, { remove: 'okta-1' });
  expect(await reader.run()).toMatchObject({ read: 1, sent: 0 });
  expect(platformGroupsOf(reader)).toMatchObject([{ spokeId: 'rowing', users: ['u-a', 'u-b'] }]);
  const times = [beforeMs, reader.world.nowMs()];
  const past = await listPastMembers(
    { connection: CONNECTION, group: groupId('rowing') },
    times,
    reader.world.toolPorts,
  );
  expect(past).toMatchObject({
    known: true,
    members: [
      { user: 'u-a', member: 'a', states: ['in', 'in'] },
      { user: 'u-b', member: 'b', states: ['out', 'in'] },
    ],
  });
});

it.each([
  ['rowing', 0],
  ['chess', 1],
])(
  'with the mode additive for the group %s, a first run would remove %i users of the group rowing',
  async (match, removed) => {
    const { world, google } = await openWith({ rowing: ['a'] });
    world.platform.adopted.add(
      world.platform.addForeign({ name: 'Rowers', users: ['u-d'], spokeId: 'rowing' }),
    );
    const { settings, ...connection } = await world.connection();
    const groups = { ...settings.groups, policies: [{ match, mode: 'additive' as const }] };
    const mixed = { ...connection, settings: { ...settings, groups } };
    const { totals } = await compareDirectory(mixed, google.directory, world.toolPorts);
    expect(totals).toMatchObject({ adopt: 1, added: 1, removed });
  },
);

it('directory groups --compare shows the groups and members that a first run would adopt, create, add or remove', async () => {
  const reader = await openWith({ rowing: ['a', 'b'], chess: ['c'] });
  const { platform } = reader.world;
  platform.adopted.add(platform.addForeign({ name: 'Rowers', users: ['u-a', 'u-d'], spokeId: 'rowing' }));
  platform.addForeign({ name: 'Choir', users: [], spokeId: '' });
  const comparison = await compare(reader);
  expect(comparison.totals).toMatchObject({ adopt: 1, create: 1, added: 2, removed: 1, pending: 0 });
  expect(comparison.groups).toMatchObject([
    { group: 'chess', action: 'create', added: 1, removed: 0 },
    { group: 'rowing', action: 'adopt', added: 1, removed: 1, platformId: expect.any(String) },
  ]);
  expect(comparison.changes).toContainEqual({
    kind: 'removed',
    group: 'rowing',
    groupName: 'Group rowing',
    user: 'u-d',
    member: null,
    email: null,
  });
  expect(comparison.changes).toContainEqual({
    kind: 'added',
    group: 'rowing',
    groupName: 'Group rowing',
    user: 'u-b',
    member: 'b',
    email: 'b@acme.test',
  });
  expect(comparison.unmanaged).toMatchObject([{ name: 'Choir' }]);
  await reader.run();
  await reader.work(60);
  await reader.deliver();
  expect(platformGroupsOf(reader).map(({ name, users }) => [name, users])).toEqual(
    expect.arrayContaining([
      ['Group rowing', ['u-a', 'u-b']],
      ['Group chess', ['u-c']],
      ['Choir', []],
    ]),
  );
  expect((await compare(reader)).totals).toMatchObject({ adopt: 0, create: 0, change: 0, same: 2 });
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  expect((await compare(reader)).totals).toMatchObject({ change: 1, removed: 1, same: 1 });
});

it('directory groups --compare shows groups that another source owns, and counts members without an employee', async () => {
  const reader = await openWith({ rowing: ['a'], chess: ['admin@acme.test', 'c'] });
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a'] });
  const { groups, totals } = await compare(reader);
  expect(totals).toMatchObject({ otherSource: 1, pending: 1 });
  expect(groups).toContainEqual(
    expect.objectContaining({ group: 'rowing', action: 'other_source', other: 'okta-1' }),
  );
});
