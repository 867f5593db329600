import { beforeEach, describe, expect, it } from 'vitest';
import { resumeConnection } from '../../../shared/operate/pausing.ts';
import { formatKeptMembers, groupsWithKeptMembers } from '../../../shared/operate/status.ts';
import { isRestated } from '../../../shared/plan/restore.ts';
import { KEPT_MEMBERS } from '../../../shared/scim/server/context.ts';
import { createScimStore } from '../../../shared/scim/store/scim-store.ts';
import { clientNextTo } from '../../directory/reading/scim-client.ts';
import { createTestEngine } from '../../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS } from '../../support/engine/world.ts';
import { backupOf } from '../../support/restore.ts';
import { add, remove, replace } from '../../support/scim-operations.ts';
import type { Client } from './support/server.ts';

/*
 * These tests send SCIM requests and check the platform. SCIM requests and events use the same apply, guard and gate.
 */

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

let engine: Awaited<ReturnType<typeof createTestEngine>>;
let client: Client;
let ids: Record<string, string>;
let group: string;

beforeEach(async () => {
  engine = await createTestEngine({ settings: { guard: {} } });
  await engine.hire(...NAMES);
  client = await clientNextTo(engine);
  ids = {};
  for (const name of NAMES) {
    const emails = [{ value: `${name}@acme.test`, type: 'work' }];
    ids[name] = (await client.post('/Users', { userName: name, emails })).body.id;
  }
  group = (await client.post('/Groups', { displayName: 'Engineering', members: valuesOf(NAMES) })).body.id;
  await engine.deliver();
});

const valuesOf = (names: readonly string[]) => names.map((name) => ({ value: ids[name] }));
const users = (...names: readonly string[]) => names.map((name) => `u-${name}`);
const patch = (...operations: readonly unknown[]) => client.patch(`/Groups/${group}`, operations);
const listed = async () => (await client.get(`/Groups/${group}`)).body.members.length;

it.each(['PUT', 'PATCH'])(
  'a %s gives a group its name back after an import has renamed it',
  async (method) => {
    engine.emit({ snapshot: group, name: 'Imported', of: [] });
    await engine.deliver();
    expect(engine.world.platform.groups.values().next().value?.name).toBe('Imported');
    engine.world.advance(60_000);
    if (method === 'PUT') await client.put(`/Groups/${group}`, { displayName: 'Engineering' });
    else await patch(replace('displayName', 'Engineering'));
    await engine.deliver();
    expect(engine.world.platform.groups.values().next().value?.name).toBe('Engineering');
  },
);

it.each([6, 101])('a PUT of all %i members completes a group after a restore', async (size) => {
  const { world } = engine;
  const unknown = Array.from({ length: size - NAMES.length }, (_, at) => ({ value: `unknown-${at}` }));
  const document = { displayName: 'Engineering', members: [...valuesOf(NAMES), ...unknown] };
  await client.put(`/Groups/${group}`, document);
  await engine.deliver();
  const restore = backupOf(world.table, world.nowMs);
  await patch(remove(`members[value eq "${ids['a']}"]`));
  await engine.deliver();
  restore();
  world.advance(HOUR_MS);
  await resumeConnection(CONNECTION, world.toolPorts);
  world.advance(60_000);
  await client.put(`/Groups/${group}`, document);
  await engine.deliver();
  const state = await world.toolPorts.groups.read(engine.ref(group));
  expect(state && isRestated(state, (await world.connection()).restoredAtMs)).toBe(true);
});

it('status shows a group whose members a PUT did not mention, until a request mentions its members', async () => {
  const { toolPorts, table } = engine.world;
  const status = () =>
    groupsWithKeptMembers(CONNECTION, { groups: toolPorts.groups, scim: createScimStore(table) });
  const path = `/Groups/${group}`;
  const put = (body: object, headers = {}) => client.put(path, { displayName: 'Eng', ...body }, headers);
  const [all, none] = [valuesOf(NAMES), { total: 0, groups: [] }];
  // A worker that stops may leave an entry.
  for (const id of ['outdated', group]) await createScimStore(table).point(CONNECTION, KEPT_MEMBERS, id);
  expect(await status()).toEqual(none);
  for (const mention of [
    () => put({ members: all }),
    () => put({ members: all }, { 'if-match': '*' }),
    () => put({ members: [] }),
    () => patch(add('members', all)),
    () => patch(remove('members[value eq "none"]')),
    () => client.delete(path),
  ]) {
    await put({ members: all });
    expect(await status()).toEqual(none);
    for (const displayName of ['Eng', 'Engineering', 'Engineering']) {
      expect((await put({ displayName })).body.members).toHaveLength(NAMES.length);
      const since = expect.stringMatching(/Z$/);
      expect(await status()).toEqual({ total: 1, groups: [{ id: group, name: displayName, since }] });
    }
    await patch(replace('displayName', 'Other'));
    expect(formatKeptMembers(await status())).toBe(
      `1 group kept all members, because a PUT did not mention members: Other (${group})`,
    );
    expect((await mention()).status).toBeLessThan(300);
    expect(await status()).toEqual(none);
  }
  const groups = ['a', 'b', 'c', 'd'].map((id) => ({ id, name: null, since: '' }));
  expect(formatKeptMembers({ total: 4, groups })).toContain('members: a, b, c and 1 more');
});

it.each<[string, () => Promise<{ status: number }>]>([
  ['an empty member list', () => patch(replace('members', []))],
  ['an empty list without a path', () => patch({ op: 'replace', value: { id: group, members: [] } })],
  ['an empty PUT', () => client.put(`/Groups/${group}`, { displayName: 'Engineering', members: [] })],
  ['a PUT of null', () => client.put(`/Groups/${group}`, { displayName: 'Engineering', members: null })],
  ['a removal of all by id', () => patch({ op: 'Remove', path: 'members', value: valuesOf(NAMES) })],
])('a request with %s succeeds, and the guard holds the removals', async (_title, push) => {
  expect((await push()).status).toBeLessThan(300);
  expect(await listed()).toBe(0);
  await engine.deliver();
  expect(engine.shown(group)).toEqual([users(...NAMES)]);
  expect(await engine.state(group)).toMatchObject({ settled: 'held', hold: { removes: 6 } });
  // The answer shows the list of the client, although the removals are held.
  expect(await listed()).toBe(0);
  expect((await patch(add('members', valuesOf(['a'])))).status).toBe(204);
  await engine.deliver();
  expect(engine.shown(group)).toEqual([users(...NAMES)]);
});

describe('deleted SCIM user', () => {
  const rest = ['b', 'c', 'd', 'e', 'f'];
  beforeEach(async () => {
    expect((await client.delete(`/Users/${ids['a']}`)).status).toBe(204);
    await engine.deliver();
    engine.world.advance(1_000);
  });

  it.each<[string, (late: unknown[]) => Promise<{ status: number }>]>([
    ['adds members', (late) => patch(add('members', late))],
    ['replaces the member list', (late) => patch(replace('members', late))],
    ['is a PUT', (late) => client.put(`/Groups/${group}`, { displayName: 'Engineering', members: late })],
  ])('a deleted user stays deleted when a late request that names the user %s', async (_what, request) => {
    expect((await request(valuesOf(NAMES))).status).toBeLessThan(300);
    await engine.deliver();
    expect(engine.shown(group)).toEqual([users(...rest)]);
    const members = (await client.get(`/Groups/${group}`)).body.members;
    expect(members.map(({ value }: { value: string }) => value).sort()).toEqual(
      rest.map((name) => ids[name]).sort(),
    );
    expect((await client.get(`/Users/${ids['a']}`)).status).toBe(404);
  });

  it('a deleted user can return only as a user with a new id', async () => {
    const emails = [{ value: 'a@acme.test', type: 'work' }];
    const again = await client.post('/Users', { userName: 'a', emails });
    expect(again.body.id).not.toBe(ids['a']);
    await patch(add('members', [{ value: again.body.id }]));
    await engine.deliver();
    expect(engine.shown(group)).toEqual([users(...NAMES)]);
  });
});
