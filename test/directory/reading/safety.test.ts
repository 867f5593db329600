import { expect, it } from 'vitest';
import { parseSettings } from '../../../shared/contract/change-setting.ts';
import { readDirectory } from '../../../shared/directory/reading/run.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { storeConnection } from '../../../shared/operate/connect/connect.ts';
import { changeSettings, planSettings, removeConnection } from '../../../shared/operate/settings.ts';
import { CONNECTION, HOUR_MS, MINUTE_MS } from '../../support/engine/world.ts';
import { company, kindsOf, openReader, type Reader, settle } from './fixture.ts';

const MEMBER_A = { id: 'a', type: 'USER', email: 'a@acme.test', status: 'ACTIVE' };
const WORLD = company({ rowing: ['a', 'b'], chess: ['c', 'd'] });

/** Creates a directory whose groups are on the platform and in sync. */
async function settled(world = WORLD, settings: Readonly<Record<string, unknown>> = {}) {
  return settle(await openReader({ world, settings }), 20);
}

it('the outer group keeps the members of a nested group if an incomplete list lacks the nested group', async () => {
  const nested = company({ rowing: ['a', 'chess'], chess: ['c', 'd'] });
  const reader = await settled(nested, { nested: 'flatten' });
  const body = JSON.stringify({ kind: 'admin#directory#members', members: [MEMBER_A] });
  await reader.google.control('faults', [
    { match: { path: '*/groups/rowing/members' }, times: 30, status: 200, body },
  ]);
  await reader.change({ kind: 'changeRole', group: 'rowing', member: 'a', role: 'OWNER' });
  await reader.passMinutes(30);
  expect(reader.takeSent()).toEqual([]);
  await reader.google.control('faults', []);
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'chess' });
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-a']]);
});

it.each([
  ['only users', false],
  ['users and groups', true],
])(
  'if the count includes %s, one incomplete list removes no member of a group with a nested group, and a removal is synced',
  async (_, countsGroups) => {
    const world = company({ rowing: ['a', 'b', 'chess'], chess: ['c'] });
    const reader = await settled(world, { nested: 'flatten' });
    await reader.google.control('settings', { countsGroups });
    const group = { id: 'chess', type: 'GROUP', email: 'chess@acme.test' };
    const body = JSON.stringify({ kind: 'admin#directory#members', members: [MEMBER_A, group] });
    const path = '*/groups/rowing/members';
    await reader.google.control('faults', [{ match: { path }, times: 1, status: 200, body }]);
    await reader.change({ kind: 'changeRole', group: 'rowing', member: 'a', role: 'OWNER' });
    await reader.passMinutes(30);
    expect(reader.takeSent()).toEqual([]);
    await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
    await reader.passMinutes(30);
    expect(reader.shown('rowing')).toEqual([['u-a', 'u-c']]);
    expect(await reader.stored('rowing')).not.toHaveProperty('problem');
  },
);

it('if the directory lists 15 groups of four members as empty for three hours, the guard holds almost all, and reading goes on', async () => {
  const small = Array.from({ length: 15 }, (_, index) => `g${index}`);
  const groups = Object.fromEntries(small.map((group) => [group, ['a', 'b', 'c', 'd']]));
  const reader = await settled(company({ ...groups, rowing: ['a'] }), { guard: {} });
  await reader.pass(2 * HOUR_MS);
  const leaves = ['a', 'b', 'c', 'd'].map((member) => ({ kind: 'removeMember', member }));
  await reader.change(...small.flatMap((group) => leaves.map((change) => ({ ...change, group }))));
  await reader.passMinutes(3 * 60);
  expect(small.filter((group) => reader.shown(group)[0]?.length === 0).length).toBeLessThanOrEqual(3);
  await reader.change({ kind: 'addMember', group: 'rowing', member: 'b' });
  await reader.passMinutes(15);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it('if a list has fewer members than the directory counts, no member is removed, and the third such list adds members', async () => {
  const reader = await settled();
  await reader.google.control('counts', { group: 'rowing', count: 3 });
  await reader.change(
    { kind: 'removeMember', group: 'rowing', member: 'b' },
    { kind: 'addMember', group: 'rowing', member: 'c' },
  );
  await reader.passMinutes(10);
  expect(reader.takeSent()).toEqual([]);
  await reader.passMinutes(10);
  expect(reader.takeSent().map(({ type, data }) => [type, data.members])).toEqual([
    ['directory.group.member.added', [{ id: 'c' }]],
  ]);
  expect(await reader.stored('rowing')).toMatchObject({
    problem: expect.stringContaining('fewer members'),
  });
  await reader.google.control('counts', { group: 'rowing', count: 'right' });
  await reader.passMinutes(20);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-c']]);
  expect(await reader.stored('rowing')).not.toHaveProperty('problem');
});

it.each([
  ['the credential is refused', 'authError'],
  ['a permission is missing', 'insufficientPermissions'],
])('a run of the reader stops if %s', async (_, error) => {
  const reader = await settled();
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  await reader.google.control('faults', [{ match: { path: '*/groups/*' }, times: 30, error }]);
  await expect(reader.run()).rejects.toMatchObject({ kind: 'denied' });
  expect(reader.takeSent()).toEqual([]);
});

it('a run of the reader stops if the list lacks many known groups whose deletion was not reported', async () => {
  const groups = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`g${index}`, ['a']]));
  const reader = await settled(company(groups));
  await reader.google.control('settings', { lostLogEntries: 1 });
  await reader.change({ kind: 'deleteGroup', group: 'g1' }, { kind: 'deleteGroup', group: 'g2' });
  await reader.pass(HOUR_MS);
  await expect(reader.run()).rejects.toThrow('2 of 8 known groups are missing in the directory');
  expect(reader.takeSent()).toEqual([]);
  const told = await settled(company(groups));
  await told.change({ kind: 'deleteGroup', group: 'g1' }, { kind: 'deleteGroup', group: 'g2' });
  await told.pass(HOUR_MS);
  await told.run();
  expect(kindsOf(told.takeSent())).toEqual(['group.deleted', 'group.deleted']);
});

it('a run of the reader stops if the directory finds none of its groups by their ids', async () => {
  const reader = await settled();
  await reader.change(
    { kind: 'removeMember', group: 'rowing', member: 'b' },
    { kind: 'removeMember', group: 'chess', member: 'd' },
  );
  await reader.google.control('faults', [{ match: { path: '*/groups/*' }, times: 30, error: 'notFound' }]);
  await expect(reader.run()).rejects.toThrow('2 of 2 known groups are missing in the directory');
  expect(reader.takeSent()).toEqual([]);
});

it('a stopped reader continues after an operator accepts the deletions', async () => {
  const groups = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`g${index}`, ['a']]));
  const reader = await settled(company(groups), { guard: {} });
  await reader.google.control('settings', { lostLogEntries: 1 });
  const gone = ['g1', 'g2', 'g3', 'g4'];
  await reader.change(...gone.map((group) => ({ kind: 'deleteGroup', group })));
  await reader.pass(HOUR_MS);
  await expect(reader.run()).rejects.toThrow('groupsync directory read --accept-deletions');
  await reader.run({ acceptsDeletions: true });
  expect(kindsOf(reader.takeSent())).toEqual(gone.map(() => 'group.deleted'));
  await reader.deliver();
  // The guard still holds the deletions above its limit.
  const left = gone.filter((group) => reader.shown(group).length > 0);
  expect(left.length).toBeGreaterThanOrEqual(2);
  expect(reader.shown('g0')).toEqual([['u-a']]);
  expect(await reader.run()).toMatchObject({ groups: 4 });
});

it('a group that lists lack but the directory returns by id is not deleted, even if an operator accepts deletions', async () => {
  const reader = await settled();
  const empty = { match: { path: '*/groups' }, status: 200, body: '{"kind":"admin#directory#groups"}' };
  await reader.google.control('faults', [{ ...empty, times: 30 }]);
  await reader.run({ acceptsDeletions: true });
  expect(kindsOf(reader.takeSent())).toEqual([]);
});

it('after a reported deletion, the reader deletes the group when the answers of the directory no longer show it', async () => {
  const reader = await settled();
  await reader.change({ kind: 'deleteGroup', group: 'chess' });
  await reader.google.control('settings', { lagSeconds: { groups: 30_000, members: 30_000 } });
  await reader.pass(10_000);
  await reader.run();
  expect(kindsOf(reader.takeSent())).toEqual([]);
  await reader.google.control('settings', { lagSeconds: { groups: 0, members: 0 } });
  await reader.passMinutes(20);
  expect(kindsOf(reader.takeSent())).toEqual(['group.deleted']);
});

it('a group whose members alone are not found is not missing', async () => {
  const reader = await settled();
  await reader.google.control('faults', [
    { match: { path: '*/groups/chess/members' }, times: 30, error: 'notFound' },
  ]);
  await reader.change({ kind: 'addMember', group: 'chess', member: 'a' });
  await reader.run();
  const { failingMs, missingMs } = (await reader.stored('chess')) ?? {};
  expect([failingMs, missingMs]).toEqual([expect.any(Number), undefined]);
});

it('a group whose deletion is not reported is deleted after a day without it', async () => {
  const reader = await settled(company({ rowing: ['a'], chess: ['c'], go: ['d'] }));
  await reader.google.control('settings', { lostLogEntries: 1 });
  await reader.change({ kind: 'deleteGroup', group: 'chess' });
  await reader.passMinutes(65);
  const { missingMs = 0 } = (await reader.stored('chess')) ?? {};
  expect(missingMs).toBeGreaterThan(0);
  reader.world.advance(missingMs + 24 * HOUR_MS - MINUTE_MS - reader.world.nowMs());
  await reader.run();
  expect(kindsOf(reader.takeSent())).not.toContain('group.deleted');
  await reader.passMinutes(10);
  expect(reader.shown('chess')).toEqual([]);
});

it('the reader sends nothing about a group directly after an event of another source, and later corrects the group', async () => {
  const reader = await settled();
  await reader.deliver({ add: ['c'], to: 'rowing' });
  await reader.change({ kind: 'changeRole', group: 'rowing', member: 'a', role: 'OWNER' });
  await reader.run();
  expect(reader.takeSent()).toEqual([]);
  await reader.work(40);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b', 'u-c']]);
  await reader.passMinutes(30);
  expect(reader.shown('rowing')).toEqual([['u-a', 'u-b']]);
});

it('the next run of the reader sends a group again if the queue refused its message', async () => {
  const reader = await settled();
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'b' });
  reader.closeQueue(true);
  await expect(reader.run()).rejects.toThrow('the events queue did not accept a message');
  reader.closeQueue(false);
  await reader.run();
  expect(reader.takeSent().map(({ data }) => data.members)).toEqual([[{ id: 'a' }]]);
});

it('an unfinished run of the reader blocks other runs until its lease expires, and writes nothing after the expiry', async () => {
  const reader = await settled();
  const { name } = await reader.world.connection();
  const span = { nowMs: reader.world.nowMs(), lengthMs: 16 * MINUTE_MS };
  const stale = await reader.ports.leases.take(name, 'directory', span);
  expect(await reader.run()).toBeUndefined();
  await reader.pass(17 * MINUTE_MS);
  expect(await reader.run()).toMatchObject({ groups: 2 });
  const group = await reader.stored('rowing');
  if (stale === undefined || group === undefined) throw new Error('expected a lease and a group');
  expect(await reader.ports.reader.putGroup(name, { ...group, dueMs: 0 }, stale)).toBe(false);
  expect(await reader.ports.reader.write(name, { cursor: '0' }, stale)).toBe(false);
  expect(await reader.ports.reader.removeGroup(name, group.group, stale)).toBe(false);
});

it.each([
  ['putGroup', true],
  ['write', false],
] as const)(
  'a suspended run of the reader stops at the call of %s that another run has made invalid (all groups: %s)',
  async (call, isFull) => {
    const reader = await settled(company({ rowing: ['a'] }));
    await reader.passMinutes(30);
    const { [call]: store } = reader.ports.reader;
    const late = async (...given: Parameters<typeof store>) => {
      await reader.pass(17 * MINUTE_MS);
      await reader.run();
      return (store as (...all: typeof given) => Promise<boolean>)(...given);
    };
    const ports = { ...reader.ports, reader: { ...reader.ports.reader, [call]: late } };
    const run = readDirectory(await reader.world.connection(), ports, { deadlineMs: Infinity, isFull });
    await expect(run).rejects.toThrow('another run now reads the directory');
  },
);

it('the reader has no group and no cursor of a directory that was replaced while a run read it', async () => {
  const reader = await settled(company({ rowing: ['a'] }));
  await reader.passMinutes(30);
  const okta = { kind: 'okta', orgUrl: 'https://acme.okta.com' };
  const { putGroup } = reader.ports.reader;
  const replacing: typeof putGroup = async (...given) => {
    await reader.ports.reader.forget(CONNECTION);
    return putGroup(...given);
  };
  const ports = { ...reader.ports, reader: { ...reader.ports.reader, putGroup: replacing } };
  const old = await reader.world.connection();
  await readDirectory(old, ports, { deadlineMs: Infinity, isFull: true });
  expect(await reader.stored('rowing')).toBeDefined();
  const directory = { ...reader.simulated.directory, groups: async function* () {} };
  const cursors: string[] = [];
  const cursorAt = async (ms: number) => {
    cursors.push(await reader.simulated.directory.cursorAt(ms));
    return 'new';
  };
  const opened = {
    ...reader.ports,
    directories: { ...ports.directories, open: async () => ({ ...directory, cursorAt }) },
  };
  await reader.ports.reader.noteMove(CONNECTION, {
    from: groupId('rowing'),
    to: groupId('00g1'),
    source: 'directory',
  });
  const settings = parseSettings({ ...old.settings, directory: okta });
  reader.world.advance(HOUR_MS);
  await readDirectory({ ...old, settings }, opened, { deadlineMs: Infinity });
  expect(await reader.stored('rowing')).toBeUndefined();
  expect(cursors.length).toBe(1);
});

const vault = { store: async () => 'v1', remove: async () => true };
const portsOf = ({ world }: Reader) => ({ ...world.toolPorts, vault });

async function set(reader: Reader, key: string, value: unknown) {
  const ports = portsOf(reader);
  await changeSettings(await planSettings(CONNECTION, [{ key, value }], ports), ports);
  await reader.passMinutes(65);
}

const AWAY = {
  'the settings did not select it': async (reader: Reader, during: () => Promise<void>) => {
    await set(reader, 'groups.exclude', ['chess']);
    await during();
    await set(reader, 'groups.exclude', []);
  },
  'its connection was removed': async (reader: Reader, during: () => Promise<void>) => {
    const { company, settings } = await reader.world.connection();
    await removeConnection(CONNECTION, portsOf(reader));
    await during();
    const given = { name: CONNECTION, company, settings, token: 't', observing: false, known: undefined };
    await storeConnection(given, portsOf(reader));
    await reader.ports.reader.forget(CONNECTION);
    await reader.passMinutes(65);
  },
};

it.each(['the settings did not select it', 'its connection was removed'] as const)(
  'a group that the directory deleted while %s is deleted on the platform a day later',
  async (reason) => {
    const reader = await settled(company({ rowing: ['a'], chess: ['c'], go: ['d'] }));
    await AWAY[reason](reader, () => reader.change({ kind: 'deleteGroup', group: 'chess' }));
    expect(reader.shown('chess')).toEqual([['u-c']]);
    reader.world.advance(24 * HOUR_MS);
    await reader.passMinutes(15);
    expect([reader.shown('chess'), reader.shown('rowing')]).toEqual([[], [['u-a']]]);
  },
);

it('a group with a new name that the settings do not select is excluded, also if only the list shows the name', async () => {
  const groups = { include: ['Group *'], exclude: [], policies: [] };
  const reader = await settle(await openReader({ world: WORLD, settings: { groups } }), 80);
  await reader.google.control('settings', { lostLogEntries: 1 });
  await reader.change({ kind: 'changeGroup', group: 'chess', name: 'Private' });
  await reader.passMinutes(130);
  expect((await reader.state('chess'))?.registers.name?.value).toBe('Private');
  expect(await reader.stored('chess')).toBeUndefined();
});

const inner = { include: ['Group sport'], exclude: [], policies: [] };
const world = company({ rowing: ['a', 'b'], sport: ['c', 'rowing', 'guests@partner.test'] });
const flattened = { nested: 'flatten', groups: inner };

it('the outer group lacks the users of nested groups if the connection does not flatten nested groups', async () => {
  const reader = await settled(world, { groups: inner });
  expect(reader.shown('sport')).toEqual([['u-c']]);
});

it('the outer group has the users of its nested groups, even if the reader does not sync the nested groups themselves', async () => {
  const reader = await settled(world, flattened);
  expect(reader.shown('sport')).toEqual([['u-a', 'u-b', 'u-c']]);
  expect(reader.shown('rowing')).toEqual([]);
});

it('after a change of the setting nested, the next run reads the groups with nested groups', async () => {
  const reader = await settle(await openReader({ world, settings: { groups: inner } }), 80);
  await set(reader, 'nested', 'flatten');
  expect(reader.shown('sport')).toEqual([['u-a', 'u-b', 'u-c']]);
  await set(reader, 'nested', 'ignore');
  expect(reader.shown('sport')).toEqual([['u-c']]);
});

it('a user stays in the outer group until both the direct and the nested membership have ended', async () => {
  const reader = await settled(world, flattened);
  await reader.change(
    { kind: 'addMember', group: 'rowing', member: 'c' },
    { kind: 'removeMember', group: 'sport', member: 'c' },
  );
  await reader.passMinutes(15);
  expect(reader.shown('sport')).toEqual([['u-a', 'u-b', 'u-c']]);
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'c' });
  await reader.passMinutes(15);
  expect(reader.shown('sport')).toEqual([['u-a', 'u-b']]);
});

it('the reader skips nested groups of another company and reads everything else', async () => {
  const reader = await settled(world, flattened);
  const member = {
    kind: 'addMember',
    group: 'sport',
    member: 'all@partner.test',
    memberKind: 'externalGroup',
  };
  await reader.change(member, { kind: 'addMember', group: 'sport', member: 'd' });
  await reader.passMinutes(15);
  expect(reader.shown('sport')).toEqual([['u-a', 'u-b', 'u-c', 'u-d']]);
});

it('a group with the member "all users of the company" stays unchanged, and the reader reads all other groups', async () => {
  const reader = await settled(company({ rowing: ['a'], chess: ['c'] }));
  await reader.change(
    { kind: 'addMember', group: 'rowing', member: 'all', memberKind: 'everyone' },
    { kind: 'addMember', group: 'chess', member: 'd' },
  );
  await reader.passMinutes(15);
  expect(reader.shown('rowing')).toEqual([['u-a']]);
  expect(reader.shown('chess')).toEqual([['u-c', 'u-d']]);
  expect(await reader.stored('rowing')).toMatchObject({ problem: expect.stringContaining('every user') });
});
