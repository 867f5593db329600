import { expect, it } from 'vitest';
import { readDirectoryGroups } from '../../../shared/directory/operate/status.ts';
import { releaseGroup } from '../../../shared/operate/ownership.ts';
import { planGroup } from '../../../shared/sync/apply/plan-group.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import { MINUTE_MS, takeEvents } from '../../support/engine/world.ts';
import { directory, openWith, resume, takeOver } from '../../support/operate/takeovers.ts';
import { add } from '../../support/scim-operations.ts';
import { kindsOf, platformGroupsOf, type Reader } from './fixture.ts';
import { clientNextTo } from './scim-client.ts';

const aboutGroups = (reader: Reader) => kindsOf(reader.takeSent()).filter((kind) => kind.startsWith('group'));

it('an event of another source about a group that the reader owns changes nothing, and causes a read of the group', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  reader.takeSent();
  for (const event of [
    { take: ['a'], from: 'rowing' },
    { snapshot: 'rowing', of: ['c'] },
    { remove: 'rowing' },
  ] as const) {
    await reader.deliver(event);
    expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
    expect(await reader.run()).toMatchObject({ read: 1, sent: 0 });
  }
  reader.emit({ take: ['a'], from: 'rowing' });
  const { deliveries } = await ingest(takeEvents(reader.world), reader.world.toolPorts);
  expect(deliveries).toMatchObject([{ delivery: { outcome: 'ignored', code: 'group_of_reader' } }]);
  expect(await reader.run()).toMatchObject({ read: 1 });
  expect(await reader.run()).toMatchObject({ read: 0 });
});

it('after an event of another source about a group of the reader, a read finds the change of the directory', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  await reader.deliver({ take: ['b'], from: 'rowing' });
  await reader.run();
  await reader.deliver();
  expect(reader.shown('rowing')).toEqual([['u-a']]);
});

it('events about users take effect from every source', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  await reader.deliver({ forget: 'b' });
  expect(reader.shown('rowing')).toEqual([['u-a']]);
  await reader.deliver({ user: 'a', email: 'anna@acme.test' });
  reader.takeSent();
  await reader.run({ isFull: true });
  expect(reader.takeSent()).toEqual([]);
});

it('the reader compares a group that events own, sends no event about it and reports the difference', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.deliver({ snapshot: 'rowing', of: ['a', 'c', 'd'] }, { upsert: 'rowing', name: 'Oars' });
  // For a minute after an event, the reader assumes that the event is later than its own read.
  await reader.pass(2 * MINUTE_MS);
  expect(await reader.run()).toMatchObject({ read: 1, sent: 0 });
  expect(aboutGroups(reader)).toEqual([]);
  const rows = await readDirectoryGroups(await reader.world.connection(), {
    ...reader.world.toolPorts,
    ...reader.ports,
  });
  expect(rows).toMatchObject([{ group: 'rowing', state: 'other' }]);
  expect(await reader.stored('rowing')).toMatchObject({
    other: 'rowing',
    differs: { added: 1, removed: 2, isNamed: true },
  });
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-c', 'u-d']]);
  await reader.deliver({ snapshot: 'rowing', of: ['a', 'b'] });
  await reader.pass(61 * MINUTE_MS);
  await reader.run();
  expect((await reader.stored('rowing'))?.differs).toBeUndefined();
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  await reader.google.control('counts', { group: 'rowing', count: 3 });
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  await reader.run();
  expect((await reader.stored('rowing'))?.differs).toBeUndefined();
  await releaseGroup(reader.ref('rowing'), reader.world.toolPorts);
  await reader.passMinutes(10);
  expect((await reader.stored('rowing'))?.other).toBeUndefined();
});

it('the reader changes a group that it compared after a takeover gave it the group with the same id', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.deliver({ snapshot: 'rowing', of: ['a', 'c'] });
  await reader.passMinutes(10);
  await takeOver(reader, 'directory');
  await resume(reader);
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it('the reader corrects a group that events own if a setting allows the correction, and later events still change it', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] }, { directory: { ...directory, corrects: true } });
  await reader.deliver({ snapshot: 'rowing', of: ['a', 'c'] });
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
  await reader.deliver({ add: ['d'], to: 'rowing' });
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b', 'u-d']]);
});

it.each([
  ['id', 'rowing', false],
  ['name', 'okta-1', true],
])(
  'a group that events own stays when the directory deletes its group with the same %s',
  async (_, id, corrects) => {
    const reader = await openWith({ rowing: ['a'], chess: ['a'] }, { directory: { ...directory, corrects } });
    await reader.deliver({ snapshot: id, name: 'Group rowing', of: ['a'] });
    await reader.passMinutes(10);
    reader.takeSent();
    await reader.change({ kind: 'deleteGroup', group: 'rowing' });
    await reader.passMinutes(30);
    expect(aboutGroups(reader)).toEqual([]);
    expect(reader.shown(id)).toEqual([['u-a']]);
    expect(reader.shown('chess')).toEqual([['u-a']]);
  },
);

it('a reported deletion deletes the group although another source sent a later change of the group', async () => {
  const reader = await openWith({ rowing: ['a', 'b'], chess: ['c'] });
  await reader.passMinutes(30);
  await reader.change({ kind: 'deleteGroup', group: 'chess' });
  await reader.pass(30_000);
  await reader.deliver({ remove: 'chess' });
  await reader.passMinutes(60);
  expect(reader.shown('chess')).toEqual([]);
});

it('reported deletions of several groups do not stop the reader although another source changed the groups', async () => {
  const groups = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`g${index}`, ['a']]));
  const reader = await openWith(groups);
  await reader.passMinutes(30);
  await reader.change({ kind: 'deleteGroup', group: 'g1' }, { kind: 'deleteGroup', group: 'g2' });
  await reader.pass(30_000);
  await reader.deliver({ remove: 'g1' }, { remove: 'g2' });
  await reader.passMinutes(90);
  expect([reader.shown('g1'), reader.shown('g2')]).toEqual([[], []]);
});

it.each([
  ['backendError', 5],
  ['notFound', 1],
])(
  'the reader does not report groups of another source as unreadable after temporary errors (%s)',
  async (error, times) => {
    const groups = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`g${index}`, ['a']]));
    const reader = await openWith(groups);
    await reader.deliver(
      { snapshot: 'okta-1', name: 'Group g1', of: ['a'] },
      { snapshot: 'okta-2', name: 'Group g2', of: ['a'] },
    );
    await reader.passMinutes(30);
    const unreadable: unknown[] = [];
    for (const group of ['g1', 'g2']) {
      await reader.google.control('faults', [{ match: { path: `*/groups/${group}` }, times, error }]);
      await reader.change({ kind: 'addMember', group, member: 'b' });
      for (let run = 0; run < 18; run += 1) {
        unreadable.push(...((await reader.run())?.unreadable ?? []));
        await reader.pass(5 * MINUTE_MS);
      }
    }
    expect(unreadable).toEqual([]);
  },
);

it.each([
  ['events', 'okta-1', async (reader: Reader) => reader.emit({ upsert: 'okta-1', name: 'Group rowing' })],
  [
    'the reader',
    'rowing',
    (reader: Reader) => reader.change({ kind: 'changeGroup', group: 'rowing', name: 'group okta-1' }),
  ],
])(
  'a group of %s does not get the name of another source, its members are written, and it gets the name when it is free',
  async (_, group, take) => {
    const reader = await openWith({ rowing: ['a'], other: ['c'] });
    await reader.deliver({ snapshot: 'okta-1', of: ['a'] });
    await reader.passMinutes(30);
    await take(reader);
    await reader.change({ kind: 'addMember', group: 'rowing', member: 'b' });
    reader.emit({ add: ['b'], to: 'okta-1' });
    await reader.passMinutes(60);
    const names = () => platformGroupsOf(reader).map(({ name }) => name);
    expect(names()).toEqual(['Group okta-1', 'Group other', 'Group rowing']);
    expect([reader.shown('rowing'), reader.shown('okta-1')]).toEqual([[['u-a', 'u-b']], [['u-a', 'u-b']]]);
    expect(await reader.state(group)).toMatchObject({ lastError: { code: 'name_of_other_source' } });
    if (group === 'okta-1') await reader.change({ kind: 'deleteGroup', group: 'rowing' });
    else reader.emit({ remove: 'okta-1' });
    await reader.passMinutes(120);
    expect(names()).toEqual(
      group === 'okta-1' ? ['Group rowing', 'Group other'] : ['Group other', 'group okta-1'],
    );
  },
);

it('a group whose deletion is held does not keep its name from another source', async () => {
  const guard = { deletedGroups: 0, deletedGroupsShare: 0 };
  const reader = await openWith({ other: ['c'] }, { directory, guard });
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'd'] });
  await reader.deliver({ remove: 'okta-1' });
  expect(await reader.state('okta-1')).toMatchObject({ settled: 'held' });
  await reader.change({
    kind: 'addGroup',
    group: { id: 'rowing', email: 'rowing@acme.test', name: 'Group rowing' },
  });
  await reader.passMinutes(120);
  expect(reader.shown('rowing')).toEqual([[]]);
});

it.each([
  ['name', { displayName: 'Group rowing' }],
  ['external id', { displayName: 'Rowers', externalId: 'rowing' }],
])('a SCIM client creates no second group of the same %s, and causes a read', async (_, body) => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  const client = await clientNextTo(reader);
  const emails = [{ value: 'd@acme.test', type: 'work' }];
  const user = (await client.post('/Users', { userName: 'd', emails })).body.id;
  const group = (await client.post('/Groups', body)).body.id;
  await reader.deliver();
  expect(await reader.run()).toMatchObject({ read: 1, sent: 0 });
  await client.patch(`/Groups/${group}`, [add('members', [{ value: user }])]);
  await reader.deliver();
  expect(await reader.run()).toMatchObject({ read: 1, sent: 0 });
  expect((await client.get(`/Groups/${group}`)).body.members).toHaveLength(1);
  expect([...reader.world.platform.groups.values()].map(({ name }) => name)).toEqual(['Group rowing']);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

const rename = (name: string) => [{ op: 'replace', path: 'displayName', value: name }];
type Client = Awaited<ReturnType<typeof clientNextTo>>;
it.each<[string, string, object, (reader: Reader, client: Client, group: string) => Promise<unknown>]>([
  ['is deleted', 'Group rowing', {}, (reader) => reader.change({ kind: 'deleteGroup', group: 'rowing' })],
  [
    'with its external id is deleted',
    'Rowers',
    { externalId: 'rowing' },
    (reader) => reader.change({ kind: 'deleteGroup', group: 'rowing' }),
  ],
  [
    'is renamed',
    'group  ROWING',
    {},
    (reader) => reader.change({ kind: 'changeGroup', group: 'rowing', name: 'Oars' }),
  ],
  [
    'has another name',
    'Group rowing',
    {},
    (_, client, group) => client.patch(`/Groups/${group}`, rename('Oars')),
  ],
])(
  'a SCIM group that yields to a group of the reader is written as soon as that group %s',
  async (_, displayName, body, change) => {
    const reader = await openWith({ rowing: ['a', 'b'], other: ['c'] });
    await reader.passMinutes(30);
    const client = await clientNextTo(reader);
    const user = (await client.post('/Users', { userName: 'a@acme.test' })).body.id;
    const members = [{ value: user }];
    const group = String((await client.post('/Groups', { displayName, members, ...body })).body.id);
    await reader.deliver();
    await reader.passMinutes(60);
    expect(reader.shown(group)).toEqual([]);
    const ref = reader.ref(group);
    expect(await planGroup(ref, reader.world.toolPorts)).toMatchObject({
      note: 'rowing of another source owns this group',
    });
    await change(reader, client, group);
    await reader.passMinutes(60);
    await reader.pass(60 * MINUTE_MS);
    expect(reader.shown(group)).toEqual([['u-a']]);
    expect(await reader.world.toolPorts.reader.moves(ref.connection)).toEqual([]);
  },
);

it('a SCIM group yields to a group of the reader although the first request failed before its release', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  const { toolPorts } = reader.world;
  const noteMove = () => Promise.reject(new Error('throttled'));
  const failing = { ...toolPorts, reader: { ...toolPorts.reader, noteMove } };
  const first = await clientNextTo({ world: { ...reader.world, toolPorts: failing } });
  const oars = { displayName: 'Oars', externalId: 'rowing' };
  expect((await first.post('/Groups', oars)).status).toBe(500);
  const client = await clientNextTo(reader, 'ann');
  expect((await client.post('/Groups', oars)).status).toBe(409);
  expect((await client.get('/Groups')).body.totalResults).toBe(1);
  await reader.deliver();
  await reader.passMinutes(30);
  expect(platformGroupsOf(reader).map(({ name }) => name)).toEqual(['Group rowing']);
});

it('a SCIM group yields to a group of the reader although the reader runs before its name is stored', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  const { toolPorts } = reader.world;
  const recordParts: typeof toolPorts.desired.recordParts = async (...given) => {
    await reader.run();
    return toolPorts.desired.recordParts(...given);
  };
  const during = { ...toolPorts, desired: { ...toolPorts.desired, recordParts } };
  const client = await clientNextTo({ world: { ...reader.world, toolPorts: during } });
  expect((await client.post('/Groups', { displayName: 'Group rowing' })).status).toBe(201);
  await reader.deliver();
  await reader.passMinutes(30);
  expect(platformGroupsOf(reader).map(({ name }) => name)).toEqual(['Group rowing']);
});

it('the release of a SCIM group that yields to a group of the reader is refused, and names that group', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  const client = await clientNextTo(reader);
  const group = String((await client.post('/Groups', { displayName: 'Group rowing' })).body.id);
  await reader.deliver();
  const released = releaseGroup(reader.ref(group), reader.world.toolPorts);
  await expect(released).rejects.toThrow('groupsync release rowing');
});

it('a group that a SCIM client created first stays, and the reader creates no group with the same name', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  const client = await clientNextTo(reader);
  const group = (await client.post('/Groups', { displayName: 'Group rowing' })).body.id;
  await reader.deliver();
  await reader.passMinutes(30);
  expect(await reader.stored('rowing')).toMatchObject({ other: group });
  expect([...reader.world.platform.groups.values()].map(({ spokeId }) => spokeId)).toEqual([group]);
});
