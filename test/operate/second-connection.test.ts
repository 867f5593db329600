import { expect, it } from 'vitest';
import { type ConnectionName, connectionName, groupId, roleId } from '../../shared/domain/ids.ts';
import { inspectCredential } from '../../shared/operate/connect/inspect.ts';
import { adoptGroup } from '../../shared/operate/ownership.ts';
import { removeConnection } from '../../shared/operate/settings.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { previewGroup } from '../../shared/sync/apply/preview.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { COMPANY, CONNECTION, HOUR_MS } from '../support/engine/world.ts';
import { nativeEvent } from '../support/events.ts';
import { crashBeforeEachEffect, expectSuccessOrCrash } from '../sync/reconcile/support/crashing-worker.ts';

const OTHER = connectionName('acme');

/** Creates a company connected as `default`, whose group g is in sync with the members a and b. */
async function company(settings: Readonly<Record<string, unknown>> = {}) {
  const engine = await createTestEngine({ settings });
  const { world, hire, deliver } = engine;
  const { toolPorts } = world;
  await hire('a', 'b');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  const before = await world.connection();
  const vault = { store: async () => 'v', remove: async () => true };
  const refOf = (connection: ConnectionName) => ({ connection, group: groupId('g') });
  return {
    ...engine,
    refOf,
    platformGroups: () =>
      [...world.platform.groups.values()].map(({ spokeId, users }) => ({ spokeId, users })),
    remove: () => removeConnection(CONNECTION, { ...toolPorts, vault } as never),
    async connect(name: ConnectionName) {
      await toolPorts.connections.save({ ...before, name });
      for (const id of ['a', 'b']) {
        const person = { role: roleId(id), userId: `u-${id}`, state: 'ACTIVE', fanOutDue: false };
        const values = new Map([['workEmail', `${id}@acme.test`]]);
        const [seen] = (await toolPorts.people.read(name, [roleId(id)])).values();
        await toolPorts.people.save(name, { ...person, values }, seen);
      }
    },
    /** Ingests a snapshot of the group g from the directory of this connection. */
    async says(name: ConnectionName, ...members: readonly string[]) {
      world.advance(1_000);
      const listed = members.map((id) => ({ id, email: `${id}@acme.test` }));
      const data = { group: { id: 'g', name: 'Group g' }, members: listed };
      const time = new Date(world.nowMs()).toISOString();
      const body = nativeEvent('group.snapshot', data, { connection: name, time });
      await ingest([{ messageId: 'm', body, sentAtMs: world.nowMs() }], toolPorts);
    },
    apply: (name: ConnectionName) => applyGroup(refOf(name), toolPorts),
    stateOf: (name: ConnectionName) => toolPorts.groups.read(refOf(name)),
    async owner() {
      const [platformGroup] = world.platform.groups.keys();
      const owners = await toolPorts.claims.owners(before.company, [platformGroup as never]);
      return [...owners.now.values()][0];
    },
  };
}

/** Creates a company whose first connection was removed, and whose new connection has sent the group. */
async function replaced(settings?: Readonly<Record<string, unknown>>) {
  const engine = await company(settings);
  await engine.remove();
  await engine.connect(OTHER);
  await engine.says(OTHER, 'a');
  return engine;
}

it('before the new connection adopts the group, a plan shows the adoption, and the sweep counts the group as an orphan', async () => {
  const { world, owner, refOf, stateOf } = await replaced();
  const [id] = world.platform.groups.keys();
  const state = await stateOf(OTHER);
  const connection = await world.toolPorts.connections.current(OTHER);
  if (state === undefined || connection === undefined) throw new Error('expected a connected group');
  const { decision } = await previewGroup(state, connection, world.toolPorts);
  expect(decision).toMatchObject({ kind: 'write', plan: { action: 'put' } });
  expect((await sweep(connection, world.toolPorts)).report).toMatchObject({ orphans: 1 });
  expect(await owner()).toEqual(refOf(CONNECTION));
  expect(await adoptGroup(refOf(OTHER), id as never, world.toolPorts)).toMatchObject({ kind: 'adopted' });
  expect(await owner()).toEqual(refOf(OTHER));
});

it('the new connection adopts the group after a crash of apply before any of its effects', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const { apply, platformGroups, world, refOf } = await replaced();
    await expectSuccessOrCrash(applyGroup(refOf(OTHER), world.portsFor(worker)));
    world.advance(HOUR_MS);
    await apply(OTHER);
    await apply(OTHER);
    expect(platformGroups(), where).toEqual([{ spokeId: 'g', users: ['u-a'] }]);
  });
});

it('in the mode additive, the new connection removes a leaver and keeps members of other clients', async () => {
  const { apply, world, platformGroups } = await replaced({ mode: 'additive' });
  const [id = ''] = world.platform.groups.keys();
  world.platform.changeAsOther(id, { users: ['u-a', 'u-b', 'stranger'] });
  await apply(OTHER);
  expect(platformGroups()).toEqual([{ spokeId: 'g', users: ['u-a', 'stranger'] }]);
});

it('the check of a credential lists a group for adoption only after the first connection is removed', async () => {
  const { remove, connect, says, world } = await company();
  await connect(OTHER);
  await says(OTHER, 'a');
  const { settings } = await world.connection();
  const applicant = {
    me: async () => ({ company: COMPANY, id: 'r' }),
    markInstalled: async () => {},
    groups: async () => [...world.platform.groups.values()],
    employees: async function* () {
      yield [];
    },
    refusesWrite: async () => false,
    hidesGroups: async () => false,
  };
  const adopted = async () => {
    const { adoption } = await inspectCredential(
      { name: OTHER, settings, applicant, isNew: true },
      world.toolPorts as never,
    );
    return { directory: adoption?.directory, adopted: adoption?.bySpokeId.map(({ group }) => group) };
  };
  expect(await adopted()).toEqual({ directory: 1, adopted: [] });
  await remove();
  expect(await adopted()).toEqual({ directory: 1, adopted: ['g'] });
});

it('no connection repeats a deletion that the first connection had begun before its removal', async () => {
  const { remove, connect, says, apply, world, emit, work, troubles, platformGroups } = await company();
  troubles.platform = (call) => (call === 'delete' ? 'unavailable_before' : 'none');
  emit({ remove: 'g' });
  await work(2);
  troubles.platform = () => 'none';
  await remove();
  await connect(OTHER);
  await says(OTHER, 'a');
  await apply(OTHER);
  await connect(CONNECTION);
  world.advance(HOUR_MS);
  await apply(CONNECTION);
  await apply(CONNECTION);
  expect(platformGroups()).toEqual([{ spokeId: 'g', users: ['u-a'] }]);
});

it('the second connection writes a group of the first only within an hour after its removal, and its error does not name it', async () => {
  const { remove, connect, says, apply, platformGroups, stateOf, owner, refOf, world } = await company();
  await connect(OTHER);
  await says(OTHER, 'a');
  expect(await apply(OTHER)).toMatchObject({ outcome: 'postponed' });
  expect(platformGroups()).toEqual([{ spokeId: 'g', users: ['u-a', 'u-b'] }]);
  expect(await owner()).toEqual(refOf(CONNECTION));
  expect(await stateOf(OTHER)).toMatchObject({
    lastError: {
      code: 'owned',
      message: expect.not.stringContaining('default'),
    },
  });
  await remove();
  world.advance(HOUR_MS);
  await apply(OTHER);
  expect(platformGroups()).toEqual([{ spokeId: 'g', users: ['u-a'] }]);
});

it('the first connection does not take back its groups when it is connected again', async () => {
  const { connect, says, apply, platformGroups, owner, refOf, stateOf } = await replaced();
  await apply(OTHER);
  await connect(CONNECTION);
  await says(CONNECTION, 'b');
  await apply(CONNECTION);
  expect(platformGroups()).toEqual([{ spokeId: 'g', users: ['u-a'] }]);
  expect(await owner()).toEqual(refOf(OTHER));
  expect(await stateOf(CONNECTION)).toMatchObject({ lastError: { code: 'owned' } });
  expect((await stateOf(CONNECTION))?.link?.id).toBeUndefined();
});

it('the connection continues to write the group that it wrote before its removal', async () => {
  const { remove, connect, says, apply, platformGroups, owner, refOf } = await company();
  await remove();
  await connect(CONNECTION);
  await says(CONNECTION, 'b');
  await apply(CONNECTION);
  expect(platformGroups()).toEqual([{ spokeId: 'g', users: ['u-b'] }]);
  expect(await owner()).toEqual(refOf(CONNECTION));
});
