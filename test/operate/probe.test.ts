import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { probePlatform } from '../../shared/operate/probe.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { journalOf } from '../../shared/sync/ports/logs.ts';
import { type GroupFields, PlatformFailure, type PlatformGroups } from '../../shared/sync/ports/platform.ts';
import type { Traits } from '../../simulate/simulation-run.ts';
import { allOf } from '../support/engine/test-engine.ts';
import { type createWorld, savedWorld } from '../support/operate/world.ts';

/** The name of the probe's group. New ids in these tests are consecutive numbers. */
const NAME = 'groupsync probe 000001';
const UNKNOWN_USER = 'groupsync-probe-000001-unknown';
const honoured = (status = 409) => {
  const found = `honoured: a stale version is refused with ${status}`;
  return { 'PATCH version': found, 'PUT version': found };
};

type Traited = NonNullable<Parameters<typeof createWorld>[1]>;

async function worldOf(traits: Traited = {}, settings: Partial<ConnectionSettings> = {}) {
  const world = await savedWorld(settings, traits);
  const stop = new AbortController();
  /** Runs the probe on a platform on which `bend` replaces some calls. */
  async function probe(bend: (groups: PlatformGroups) => Partial<PlatformGroups> = () => ({})) {
    const { platforms } = world.ports;
    const open: typeof platforms.open = async (connection, how) => {
      const platform = await platforms.open(connection, how);
      const { groups } = platform;
      return { ...platform, groups: { ...groups, ...bend(groups) } };
    };
    const connection = await current();
    const report = await probePlatform(
      { connection, signal: stop.signal },
      { ...world.ports, platforms: { open } },
    );
    return {
      ...report,
      found: Object.fromEntries(report.findings.map(({ about, found }) => [about, found])),
    };
  }
  const current = async () => (await world.ports.connections.current(world.connection.name)) as Connection;
  return { ...world, probe, current, stop };
}

const failing = (kind: PlatformFailure['kind'], status?: number) => async () => {
  throw new PlatformFailure(kind, 'as the test told it', { status });
};

it.each<[told: string, traits: Partial<Traits>, found: Readonly<Record<string, string>>]>([
  [
    'exactly the documented behaviour',
    {},
    {
      ...honoured(),
      'new group by its id': 'at once',
      'new group in the list': 'at once',
      'spokeId shown by': 'answer, get, list',
      'users in a new group that was created without users': '0',
      'unknown user': 'is kept; the rest of the write takes effect',
      'changes in the activity feed': 'at once',
      'activity parameter startDate': 'honoured',
      'activity parameter limit': 'honoured',
      'deleted group gone by its id': 'at once',
      'deleted group gone from the list': 'at once',
    },
  ],
  ['412 for a stale version', { staleStatus: 412 }, honoured(412)],
  ['400 for a stale version', { staleStatus: 400 }, honoured(400)],
  ['422 for a stale version', { staleStatus: 422 }, honoured(422)],
  [
    'a PATCH that ignores versions',
    { enforceVersionOnPatch: false },
    { ...honoured(), 'PATCH version': 'ignored' },
  ],
  ['groups without spokeId', { echoSpokeId: false }, { ...honoured(), 'spokeId shown by': 'nothing' }],
  ['names without outer white space', { names: 'trimmed' }, honoured()],
  ['names in lower case', { names: 'folded' }, honoured()],
  [
    'the app user in each new group',
    { installer: 'u-boss' },
    { ...honoured(), 'users in a new group that was created without users': '1' },
  ],
  ['changes late in lists', { listLagMs: 5_000 }, { ...honoured(), 'new group in the list': 'after 5 s' }],
  ['changes late in groups', { getLagMs: 3_000 }, { ...honoured(), 'new group by its id': 'after 3 s' }],
  ['changes late in feeds', { feedLagMs: 3_600_000 }, { 'changes in the activity feed': 'not within 20 s' }],
])('the probe reports a platform with %s, and leaves no group behind', async (_, traits, found) => {
  const { probe, platform, current } = await worldOf(traits);
  const report = await probe();
  expect(report.found).toMatchObject(found);
  expect(report).toMatchObject({ kept: true, stopped: null, left: [] });
  expect([...platform.groups.keys()]).toEqual([]);
  const { contract } = await current();
  expect(contract).toMatchObject({ baseUrl: 'https://platform.test', company: 'company' });
  expect(contract?.findings).toEqual(report.findings);
});

it.each([
  ['drops', 'refused', 'is dropped; the rest of the write takes effect'],
  ['refuses', 'unacceptable', 'is refused with 422; the rest of the write has no effect'],
] as const)('the probe reports a platform that %s unknown users', async (_, platformFault, found) => {
  const { probe, platform } = await worldOf();
  platform[platformFault].add(UNKNOWN_USER);
  expect((await probe()).found).toMatchObject({ ...honoured(), 'unknown user': found });
});

it('the probe reports a platform that refuses unknown users and applies the rest of the write', async () => {
  const { probe } = await worldOf();
  const { found } = await probe(({ patch }) => ({
    patch: async (id, fields, version) => {
      const written = await patch(id, { ...fields, users: [] }, version);
      return fields.users?.length === 1 ? failing('rejected', 422)() : written;
    },
  }));
  expect(found['unknown user']).toBe('is refused with 422; the rest of the write takes effect');
});

it('the probe reports which parameters of the activity feed the platform ignores', async () => {
  const activity = { startParam: 'from', endParam: 'to', sizeParam: 'size', pageSize: 1_000 };
  const { probe } = await worldOf({}, { activity });
  const ignored = { 'activity parameter from': 'ignored', 'activity parameter size': 'ignored' };
  expect((await probe()).found).toMatchObject(ignored);
});

it('the probe adds no employee to its group, and its audit entry names the operator', async () => {
  const { probe, ports, connection } = await worldOf();
  const users = new Set<string>();
  const noted = <Fields extends GroupFields>(fields: Fields): Fields => {
    for (const user of fields.users ?? []) users.add(user);
    return fields;
  };
  await probe(({ create, patch, put }) => ({
    create: (fields) => create(noted(fields)),
    patch: (id, fields, version) => patch(id, noted(fields), version),
    put: (id, fields, version) => put(id, noted(fields), version),
  }));
  expect([...users]).toEqual([UNKNOWN_USER]);
  expect(await allOf(ports.audit.read(journalOf(connection.name)))).toMatchObject([
    { action: 'probe', cause: 'local:tester', changes: [{ after: NAME }] },
  ]);
});

it('the probe changes only its own group, even if the answer to the creation shows another group', async () => {
  const { probe, platform } = await worldOf();
  const other = platform.addForeign({ name: 'Theirs', spokeId: 's', users: ['u-ann'] });
  const before = structuredClone(platform.groups.get(other));
  platform.confused = (call) => (call === 'create' ? other : undefined);
  const report = await probe();
  expect(report).toMatchObject({
    kept: false,
    stopped: expect.stringContaining('another group'),
    left: [],
  });
  expect([...platform.groups.values()]).toEqual([before]);
  expect(platform.violations).toEqual([]);
});

it('the probe finds and deletes its group if the creation had no answer', async () => {
  const { probe, platform } = await worldOf();
  const report = await probe(({ create }) => ({
    create: async (fields) => {
      await create(fields);
      return failing('unanswered')();
    },
  }));
  expect(report).toMatchObject({ kept: false, stopped: 'as the test told it', left: [] });
  expect([...platform.groups.keys()]).toEqual([]);
  expect(platform.writes.map(({ action }) => action)).toEqual(['create', 'delete']);
});

it('the probe reports the name of the group that may still be created after an unanswered creation', async () => {
  const { probe } = await worldOf();
  expect(await probe(() => ({ create: failing('unanswered') }))).toMatchObject({
    kept: false,
    left: [NAME],
  });
});

it('the probe writes nothing if the platform refuses to create a group, or while the gate is paused', async () => {
  const { probe, platform, ports, connection } = await worldOf();
  await expect(probe(() => ({ create: failing('forbidden', 403) }))).rejects.toThrow('as the test told it');
  const gate = await ports.gates.read(connection.name);
  await ports.gates.write(connection.name, gate, { state: 'paused', closings: 0 });
  await expect(probe()).rejects.toThrow('the gate is paused');
  expect(platform.writes).toEqual([]);
});

it.each([0, 1, 2, 3, 4])('the probe deletes its group if it ends after %i writes', async (writes) => {
  const { probe, platform, stop, current } = await worldOf();
  let left = writes;
  const report = await probe(({ create, patch }) => ({
    create: async (fields) => {
      const made = await create(fields);
      if (left === 0) stop.abort();
      return made;
    },
    patch: async (...call) => {
      left -= 1;
      if (left === 0) stop.abort();
      return patch(...call);
    },
  }));
  expect(report).toMatchObject({ kept: false, stopped: 'it was interrupted', left: [] });
  expect([...platform.groups.keys()]).toEqual([]);
  expect((await current()).contract).toBeUndefined();
});

it('the probe deletes its group after an internal error, and reports the error', async () => {
  const { probe, platform } = await worldOf();
  const broken = () => Promise.reject(new TypeError('a defect'));
  await expect(probe(() => ({ put: broken }))).rejects.toThrow('a defect');
  expect([...platform.groups.keys()]).toEqual([]);
});

it.each([
  ['is refused', failing('unavailable', 503)],
  ['is answered with success but has no effect', async () => 'deleted' as const],
])('the probe reports the id of its group if the deletion of the group %s', async (_, answer) => {
  const { probe, platform } = await worldOf();
  const report = await probe(() => ({ delete: answer }));
  expect(report).toMatchObject({ kept: true, stopped: null, left: [...platform.groups.keys()] });
  expect(report.left).toHaveLength(1);
});

it('the probe reports a finding as unknown if its call fails, and continues with the next findings', async () => {
  const { probe } = await worldOf();
  const report = await probe(() => ({ put: failing('unavailable', 503) }));
  expect(report.found).toMatchObject({
    ...honoured(),
    'PUT version': 'unknown: as the test told it',
  });
  expect(report).toMatchObject({ kept: true, stopped: null });
});

it.each([
  ['is answered 503', failing('unavailable', 503)],
  ['is answered with success and not done', (_: unknown, get: () => Promise<unknown>) => get()],
  ['is refused with the current version too', failing('rejected', 422)],
] as const)(
  'the probe stores no report if PATCH %s, because it cannot find out whether versions are compared',
  async (_, answer) => {
    const { probe, current } = await worldOf({ enforceVersionOnPatch: false });
    await probe();
    const earlier = await current();
    const report = await probe(({ get }) => ({ patch: (id) => answer(undefined, () => get(id)) as never }));
    expect(report).toMatchObject({
      kept: false,
      stopped: null,
      found: { 'PATCH version': expect.stringMatching(/^unknown: /) },
    });
    expect(earlier.contract?.findings).toContainEqual({ about: 'PATCH version', found: 'ignored' });
    expect(await current()).toEqual(earlier);
  },
);

it('a probe report is valid only for its own base URL and company, and is removed with its connection', async () => {
  const { probe, ports, current, connection } = await worldOf();
  await probe();
  const known = await current();
  const moved = parseSettings({ ...known.settings, baseUrl: 'https://elsewhere.test' });
  await ports.connections.replace({ ...known, settings: moved }, known);
  expect((await current()).contract).toBeUndefined();
  await ports.connections.replace(known, await current());
  expect((await current()).contract).toEqual(known.contract);
  await ports.connections.save({ ...connection, company: 'another' });
  expect((await current()).contract).toBeUndefined();
  await ports.connections.remove(connection.name);
  await ports.connections.save(connection);
  expect((await current()).contract).toBeUndefined();
});

it('an unreadable probe report is ignored, and the connection keeps working', async () => {
  const { table, ports, current, connection } = await worldOf();
  await table.update(
    { pk: `C#${connection.name}`, sk: 'CONNECTION' },
    { set: { contract: { of: 'tomorrow' } } },
  );
  expect(await current()).toMatchObject({ company: 'company' });
  expect((await current()).contract).toBeUndefined();
  expect(await ports.connections.list()).toHaveLength(1);
});

it('a new probe report replaces the cached report immediately', async () => {
  const { probe, table, clock, connection } = await worldOf();
  const remembering = createConnectionStore(table, { clock: () => clock.ms, rememberMs: 30_000 });
  await remembering.find(connection.name);
  await probe();
  const report = { ...connection, baseUrl: connection.settings.baseUrl, atMs: 1, findings: [] };
  await remembering.keepContract(connection.name, report);
  expect((await remembering.find(connection.name))?.contract?.findings).toEqual([]);
});
