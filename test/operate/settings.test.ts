import { expect, it } from 'vitest';
import { applySetting } from '../../shared/contract/change-setting.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { storeConnection } from '../../shared/operate/connect/connect.ts';
import { journalOf } from '../../shared/operate/journal.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings, listConnections, planSettings } from '../../shared/operate/settings.ts';
import { eachConnection } from '../../shared/runtime/each-connection.ts';
import { createScimTokenStore } from '../../shared/scim/store/scim-token-store.ts';
import { createHealthStore } from '../../shared/store/connection-states.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { connectionKey } from '../../shared/store/keys.ts';
import type { Value } from '../../shared/store/table.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import type { GateStore } from '../../shared/sync/ports/bundles.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { WORKERS_KNOW_AFTER_MS } from '../../shared/sync/wake.ts';
import { allOf, calledBy, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION } from '../support/engine/world.ts';
import { nativeEvent } from '../support/events.ts';
import { savedWorld } from '../support/operate/world.ts';

/** A fake secret store that stores no secret. */
const KEEPS_NONE = { store: async () => 'v1', remove: async () => false };

/** Returns a world with a group in sync, a worker that caches connections, and an operator who changes a setting. */
async function company() {
  const engine = await createTestEngine();
  const { world } = engine;
  await engine.hire('a');
  await engine.deliver({ snapshot: 'g', of: ['a'] });
  const { toolPorts } = world;
  const remembering = {
    ...toolPorts,
    connections: createConnectionStore(toolPorts.table, { clock: world.nowMs, rememberMs: 30_000 }),
  };
  await remembering.connections.find(CONNECTION);
  const change = async (over: object = {}, key = 'nameTemplate', value = 'new {id}') => {
    const ports = { ...toolPorts, vault: KEEPS_NONE, ...over };
    return changeSettings(await planSettings(CONNECTION, [{ key, value }], ports), ports);
  };
  const names = () => [...world.platform.groups.values()].map(({ name }) => name);
  return { ...engine, remembering, change, names };
}

it('memberIdField cannot change while groups are linked', async () => {
  const { change, world } = await company();
  await expect(change({}, 'memberIdField', 'id')).rejects.toThrow(
    'memberIdField: expected userId while groups are linked (1 group), got id',
  );
  expect((await world.connection()).settings.memberIdField).toBe('userId');
});

it.each<[string, () => unknown]>([
  [
    'the process of the operator crashes before the groups are marked dirty',
    () => {
      throw new Error('dies');
    },
  ],
  ['the index does not show the group when the groups are marked dirty', async function* () {}],
])('a changed setting takes effect, although %s', async (_, all) => {
  const { change, deliver, names, world } = await company();
  const index = { ...world.toolPorts.index, all: all as never };
  const outcome = await change({ index }).catch(({ message }: Error) => message);
  expect(['dies', { replanned: 0, requested: [] }]).toContainEqual(outcome);
  await deliver();
  for (const waitMs of [170_000, 11_000]) {
    expect(await world.toolPorts.connections.current(CONNECTION)).toHaveProperty('replanSinceMs');
    expect(names()).not.toEqual(['new g']);
    world.advance(waitMs);
    await requeueDue(CONNECTION, world.toolPorts);
  }
  world.advance(WORKERS_KNOW_AFTER_MS);
  await deliver();
  expect(names()).toEqual(['new g']);
  expect(await world.toolPorts.connections.current(CONNECTION)).not.toHaveProperty('replanSinceMs');
});

it.each(
  ['http://127.0.0.1:1', 'https://169.254.169.254', 'https://10.1.2.3', 'https://[fd00::1]'].flatMap(
    (address) =>
      [
        ['baseUrl', address, address],
        ['directory.baseUrl', address, { kind: 'google', administrator: 'a@acme.test', baseUrl: address }],
      ] as const,
  ),
)('%s=%s is accepted only if the functions run on the same machine', async (name, address, value) => {
  const { toolPorts } = (await createTestEngine()).world;
  const tool = (allowsLoopback: boolean) => ({ ...toolPorts, deployment: { allowsLoopback } as never });
  const [key = ''] = name.split('.');
  await expect(planSettings(CONNECTION, [{ key, value }], tool(false))).rejects.toThrow(
    `${name}: expected an address that AWS can reach, got ${address}`,
  );
  expect(await planSettings(CONNECTION, [{ key, value }], tool(true))).toMatchObject({
    next: { [key]: value },
  });
});

it('if a setting changes during a run of apply, apply uses the new value or leaves the group dirty', async () => {
  const { ref, remembering, change, names, state, world } = await company();
  await change();
  world.advance(WORKERS_KNOW_AFTER_MS);
  const [before] = names();
  let changed = false;
  const gates: GateStore = {
    ...world.toolPorts.gates,
    read: async (name) => {
      const gate = await world.toolPorts.gates.read(name);
      // At this point, apply has read the settings and the gate, and has written nothing.
      if (!changed) {
        changed = true;
        await change({}, 'nameTemplate', 'newest {id}');
      }
      return gate;
    },
  };
  await applyGroup(ref('g'), { ...remembering, gates });
  expect(before).toBeDefined();
  expect((await state('g'))?.dirtySinceMs !== undefined || names()[0] === 'newest g').toBe(true);
  world.advance(WORKERS_KNOW_AFTER_MS);
  await applyGroup(ref('g'), remembering);
  expect(names()).toEqual(['newest g']);
});

async function twoOperators(observing = false) {
  const { toolPorts } = (await createTestEngine({ settings: { guard: {} }, observing })).world;
  const vault = { ...KEEPS_NONE, remove: async () => false };
  const settings = async () => (await toolPorts.connections.current(CONNECTION))?.settings;
  const plan = (...changes: { key: string; value: unknown }[]) =>
    planSettings(CONNECTION, changes, toolPorts);
  type Plan = Awaited<ReturnType<typeof plan>>;
  const reported: string[] = [];
  const change = (planned: Plan, by: string) =>
    changeSettings(planned, { ...toolPorts, vault, ...calledBy(by) }, (meanwhile) => {
      reported.push(...meanwhile.map(({ key, before, after }) => `${by}: ${key} ${before} → ${after}`));
    });
  const journal = () => allOf(toolPorts.audit.read(journalOf(CONNECTION)));
  return { toolPorts, settings, plan, change, reported, journal };
}

it('if two operators change different settings, both changes are kept, and the later operator sees both', async () => {
  const { plan, change, settings, reported, journal } = await twoOperators();
  const [ann, bob] = [
    await plan({ key: 'mode', value: 'report' }, { key: 'guard.minSize', value: 3 }),
    await plan({ key: 'nameTemplate', value: '{id}' }, { key: 'guard.perHourCount', value: 50 }),
  ];
  await change(ann, 'Ann');
  await change(bob, 'Bob');
  expect(await settings()).toMatchObject({
    mode: 'report',
    nameTemplate: '{id}',
    guard: { minSize: 3, perHourCount: 50 },
  });
  expect(reported).toContain('Bob: mode "authoritative" → "report"');
  const [later] = await journal();
  expect(later).toMatchObject({ action: 'connections_set', actor: { id: 'Bob' }, outcome: 'written' });
  expect(later?.changes).toContainEqual({
    kind: 'set_setting',
    reason: 'nameTemplate',
    before: '"{name}"',
    after: '"{id}"',
  });
});

it.each([
  ['guard.minSize', 'guard.minSize', 7, 'guard.minSize: 5 → 3'],
  ['guard.minSize and the whole guard', 'guard', null, 'guard: {'],
])(
  'if two operators change %s, the later operator gets an error until the change is planned again',
  async (_, key, value, says) => {
    const { plan, change, settings } = await twoOperators();
    const [ann, bob] = [await plan({ key: 'guard.minSize', value: 3 }), await plan({ key, value })];
    await change(ann, 'Ann');
    await expect(change(bob, 'Bob')).rejects.toThrow(says);
    expect(await settings()).toMatchObject({ guard: { minSize: 3 } });
    await change(await plan({ key, value }), 'Bob');
    expect(await settings()).toMatchObject({ guard: value === null ? null : { minSize: value } });
  },
);

it('a changed setting keeps the end of the observation mode by another operator, and restores no removed connection', async () => {
  const { plan, change, toolPorts } = await twoOperators(true);
  const ann = await plan({ key: 'mode', value: 'report' });
  await resumeConnection(CONNECTION, toolPorts);
  await change(ann, 'Ann');
  expect(await toolPorts.connections.current(CONNECTION)).toMatchObject({
    observing: false,
    settings: { mode: 'report' },
  });
  const later = await plan({ key: 'mode', value: 'additive' });
  await toolPorts.connections.remove(CONNECTION);
  await expect(change(later, 'Ann')).rejects.toThrow('removed meanwhile');
  expect(await toolPorts.connections.current(CONNECTION)).toBeUndefined();
});

it('connecting again with outdated settings does not undo the change of another operator', async () => {
  const { plan, change, toolPorts, settings } = await twoOperators();
  const known = await toolPorts.connections.current(CONNECTION);
  if (known === undefined) throw new Error('expected a connection');
  const stored: string[] = [];
  const vault = {
    remove: async () => false,
    store: async (_: string, token: string) => `${stored.push(token)}`,
  };
  const ports = {
    ...toolPorts,
    vault,
    tokens: createScimTokenStore(toolPorts.table),
    health: createHealthStore(toolPorts.table),
  };
  await change(await plan({ key: 'mode', value: 'report' }), 'Ann');
  const request = { ...known, known, token: 'new', by: 'Bob' };
  await storeConnection({ ...request, settings: { ...known.settings, baseUrl: 'https://new.test' } }, ports);
  expect(await settings()).toMatchObject({ mode: 'report', baseUrl: 'https://new.test' });
  const other = { ...known.settings, baseUrl: 'https://other.test' };
  await expect(storeConnection({ ...request, token: 'lost', settings: other }, ports)).rejects.toThrow(
    'baseUrl: "https://platform.test" → "https://new.test"',
  );
  const first = { ...request, token: 'lost', known: undefined };
  await expect(storeConnection(first, ports)).rejects.toThrow('another operator connected');
  expect(stored).toEqual(['new']);
});

it('settings of a later version of groupsync are reported once, stay stored and are not used', async () => {
  const { plan, change, toolPorts, settings } = await twoOperators();
  const stored = async () => (await toolPorts.table.get(connectionKey(CONNECTION)))?.['settings'];
  const policies = [{ match: 'x', mode: 'additive', until: 2030 }];
  const ours = (await settings()) as unknown as Record<'guard' | 'groups', Record<string, Value>>;
  const theirs = {
    ...ours,
    newest: { deep: [1] },
    guard: { ...ours.guard, perDayCount: 5 },
    groups: { ...ours.groups, policies },
  };
  await toolPorts.table.update(connectionKey(CONNECTION), { set: { settings: theirs } });
  const reported: unknown[] = [];
  const remembering = createConnectionStore(
    toolPorts.table,
    { clock: () => 0, rememberMs: 0 },
    (name, unknown) => reported.push([name, [...unknown].sort()]),
  );
  await remembering.find(CONNECTION);
  expect((await remembering.find(CONNECTION))?.settings).toEqual({
    ...ours,
    groups: { ...ours.groups, policies: [{ match: 'x', mode: 'additive' }] },
  });
  expect(reported).toEqual([[CONNECTION, ['groups.policies.0.until', 'guard.perDayCount', 'newest']]]);
  await change(
    await plan({ key: 'guard.minSize', value: 3 }, { key: 'groups.exclude', value: ['y'] }),
    'Ann',
  );
  await resumeConnection(CONNECTION, toolPorts);
  expect(await stored()).toEqual({
    ...theirs,
    guard: { ...theirs.guard, minSize: 3 },
    groups: { ...theirs.groups, exclude: ['y'] },
  });
  expect(() => applySetting(ours as never, 'guard.perDayCount', 6)).toThrow('unknown setting');
  await change(await plan({ key: 'guard', value: null }), 'Ann');
  expect(await stored()).toMatchObject({ guard: null, newest: { deep: [1] } });
});

const ACME = connectionName('acme');
const eventFor = (connection: string, nowMs: number) => ({
  messageId: connection,
  sentAtMs: nowMs,
  body: nativeEvent(
    'group.snapshot',
    { group: { id: 'h', name: 'H' }, members: [] },
    { connection, time: new Date(nowMs).toISOString() },
  ),
});

it.each([
  [{ guard: { minSize: 'x' } }, 'guard.minSize=7', 'guard.minSize: expected'],
  [{ baseUrl: 7, fourEyes: 'yes' }, 'baseUrl=https://p.test fourEyes=true', 'baseUrl: expected'],
])('with %j, only the connection stops, until connections set repairs it', async (faults, repair, text) => {
  const { ports, table, clock, connection: known, apply, cli } = await savedWorld();
  const { connections } = ports;
  await connections.save({ ...known, name: ACME });
  const settings = { ...known.settings, ...faults } as unknown as Value;
  await table.update(connectionKey(ACME), { set: { settings } });
  const receive = () => {
    clock.ms += 1_000;
    return ingest(
      [ACME, CONNECTION].map((name) => eventFor(name, clock.ms)),
      ports,
    );
  };
  expect([...(await receive()).failedMessages]).toEqual([ACME]);
  expect(await apply('h')).toMatchObject({ outcome: 'written' });
  const silent = { error: () => {}, info: () => {} } as never;
  const { reports, failure } = await eachConnection(
    { connections, only: undefined, logger: silent },
    async ({ name }) => name,
  );
  expect(reports).toEqual([CONNECTION]);
  expect(String(failure?.error)).toContain(text);
  const gates = async () => (await listConnections(ports)).map(({ gate }) => gate);
  expect(await gates()).toEqual(['invalid_settings', 'open']);
  const status = await cli('status', '--connection', ACME, '--json');
  expect(status.json.gate).toMatchObject({
    state: 'invalid_settings',
    reason: expect.stringContaining(text),
  });
  expect(status.stderr).toContain('next: groupsync connections set acme KEY=VALUE');
  expect((await cli('status', '--json')).json.gate.state).toBe('open');
  expect((await cli('connections', 'set', ACME, 'drift=report', '--yes')).stderr).toContain(text);
  expect((await cli('connections', 'set', ACME, ...repair.split(' '), '--yes')).stderr).toContain('→');
  expect(await gates()).toEqual(['open', 'open']);
  expect((await receive()).failedMessages.size).toBe(0);
});
