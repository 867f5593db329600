import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { planTakeover, takeOverGroups } from '../../../shared/directory/operate/takeover.ts';
import { OPEN_GATE } from '../../../shared/domain/gate.ts';
import { groupId, platformGroupId } from '../../../shared/domain/ids.ts';
import type { Source } from '../../../shared/domain/source.ts';
import { explainMember } from '../../../shared/operate/explain.ts';
import { ofOtherSources } from '../../../shared/operate/other-source.ts';
import { adoptGroup } from '../../../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup } from '../../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../../shared/operate/settings.ts';
import { readGroupStatus } from '../../../shared/operate/status.ts';
import { obstacleTo } from '../../../shared/operate/who.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { planGroup } from '../../../shared/sync/apply/plan-group.ts';
import { ingest } from '../../../shared/sync/ingest/ingest.ts';
import type { ToolPorts as ToolPortsOfCommands } from '../../../shared/sync/ports/bundles.ts';
import { requeueDue } from '../../../shared/sync/requeue.ts';
import { runCli } from '../../support/cli/io.ts';
import { createTestEngine } from '../../support/engine/test-engine.ts';
import { CONNECTION, MINUTE_MS, takeEvents } from '../../support/engine/world.ts';
import { temporaryFile } from '../../support/folder.ts';
import {
  directory,
  dyingAfter,
  openWith,
  PEOPLE,
  plan,
  portsWith,
  resume,
  type Scim,
  scimOf,
  takeOver,
} from '../../support/operate/takeovers.ts';
import { company, platformGroupsOf, type Reader } from '../reading/fixture.ts';
import { openGoogle } from '../vendors/google/reader.ts';

it('after each of several takeovers, all answers about the earlier owners name the owner', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  const { world, ref } = reader;
  const { toolPorts: ports } = world;
  reader.emit({ snapshot: 'okta-1', name: 'Group rowing', of: ['a'] });
  await reader.pass(5 * MINUTE_MS);
  const scim = await (await scimOf(reader)).group('Group rowing', ['a']);
  const ids = { events: 'okta-1', scim, directory: 'rowing' };
  const connection = await world.connection();
  const owners = new Set(['okta-1']);
  for (const to of ['scim', 'directory', 'scim', 'events', 'directory', 'events'] as const) {
    await takeOver(reader, to);
    owners.add(ids[to]);
    const others = [...owners].filter((id) => id !== ids[to]);
    const released = `${ids[to]} of another source owns this group`;
    expect(await ofOtherSources(connection, others.map(groupId), ports)).toEqual(
      to === 'events' ? [] : others.map((group) => ({ group, source: to })),
    );
    for (const group of others) {
      expect((await readGroupStatus(ref(group), ports))?.released).toBe(released);
      expect((await planGroup(ref(group), ports)).note).toBe(released);
      const { decision } = await explainMember(ref(group), 'a@acme.test', { connection, ports });
      expect(decision.detail).toContain(released);
    }
  }
  await reader.passMinutes(30);
  expect(await reader.stored('rowing')).toMatchObject({ other: 'okta-1' });
});

it('the plan of a takeover finds the SCIM group by its external id if the name differs', async () => {
  const reader = await openWith({ rowing: ['a'] });
  await reader.passMinutes(30);
  const scim = await scimOf(reader);
  const group = await scim.group('Rowing Club', ['a'], 'rowing@acme.test');
  expect((await plan(reader, 'scim')).groups).toMatchObject([{ target: group, by: 'externalId' }]);
});

/** Creates the group "Group rowing" with these members in a source. @returns the group's id in this source */
const BY_SOURCE: Readonly<
  Record<Source, (reader: Reader, members: readonly string[], scim: Scim) => Promise<string>>
> = {
  directory: async (reader) => {
    await reader.passMinutes(30);
    return 'rowing';
  },
  events: async (reader, members) => {
    reader.emit({ snapshot: 'okta-1', name: 'Group rowing', of: members });
    await reader.pass(5 * MINUTE_MS);
    return 'okta-1';
  },
  scim: async (reader, members, scim) => {
    const group = await scim.group('Group rowing', members);
    await reader.pass(5 * MINUTE_MS);
    return group;
  },
};

const DIRECTIONS: readonly (readonly [Source, Source])[] = [
  ['events', 'directory'],
  ['scim', 'directory'],
  ['directory', 'scim'],
  ['directory', 'events'],
  ['scim', 'events'],
  ['events', 'scim'],
];

it.each([
  ['events', 'scim'],
  ['scim', 'events'],
  ['directory', 'events'],
] as const)('a group of %s is not duplicated if %s sends the group before the takeover', async (from, to) => {
  const reader = await openWith({ rowing: ['a'] }, from === 'directory' ? { directory } : {});
  const scim = await scimOf(reader);
  await BY_SOURCE[from](reader, ['a'], scim);
  const before = platformGroupsOf(reader);
  const second = await BY_SOURCE[to](reader, ['b'], scim);
  await reader.pass(120 * MINUTE_MS);
  expect(platformGroupsOf(reader)).toEqual(before);
  expect((await reader.state(second))?.lastError).toMatchObject({
    code: 'name_of_other_source',
    message: expect.stringContaining(`groupsync directory takeover --to ${to}`),
  });
});

it.each([
  [30_000, 2],
  [180_000, 1],
])('a second source that sends the same group %i ms later leads to %i platform groups', async (ms, count) => {
  const engine = await createTestEngine({ platform: { listLagMs: 60_000 } });
  const reader = { ...engine, google: undefined as never } as unknown as Reader;
  await engine.hire(...PEOPLE);
  await engine.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a'] });
  engine.world.advance(ms);
  const scim = await scimOf(reader);
  const group = await scim.group('Group rowing', ['a']);
  await engine.pass(30 * MINUTE_MS);
  expect(platformGroupsOf(reader)).toHaveLength(count);
  const moved = { group: 'okta-1', target: group };
  if (count === 2) {
    const unmapped = [{ ...moved, reason: 'has_platform_group' }];
    expect(await plan(reader, 'scim')).toMatchObject({ groups: [], unmapped });
    const { stdout } = await runCli(['directory', 'takeover', '--to', 'scim', '--dry-run'], {
      ports: engine.world.toolPorts as unknown as ToolPortsOfCommands,
    });
    const [, release = ''] = /keep that of okta-1: `groupsync (release [^`]+)`/.exec(stdout) ?? [];
    const ports = { ...engine.world.toolPorts, deployment: { queue: async () => undefined } } as never;
    expect((await runCli([...release.split(' '), '--yes', '--no-wait'], { ports })).code).toBe(0);
    await resume(reader);
  }
  expect(await plan(reader, 'scim')).toMatchObject({ groups: [moved], unmapped: [] });
});

it('a takeover finds a group that moves within the index during a read', async () => {
  const reader = await openWith({}, {});
  const scim = await scimOf(reader);
  await BY_SOURCE.events(reader, ['a'], scim);
  const target = await BY_SOURCE.scim(reader, ['a'], scim);
  const { toolPorts } = reader.world;
  const { index } = toolPorts;
  let reads = 0;
  async function* all(...args: Parameters<typeof index.all>) {
    reads += 1;
    for await (const page of index.all(...args))
      yield page.filter(({ ref }) => reads > 1 || ref.group !== target);
  }
  const connection = await reader.world.connection();
  const ports = { ...toolPorts, index: { ...index, all } };
  expect(await planTakeover(connection, { source: 'scim', sameIds: false }, ports)).toMatchObject({
    groups: [{ target }],
  });
});

it('a group with another name moves by the file of an operator, if a pause comes before its first event', async () => {
  const reader = await openWith({}, {});
  const { toolPorts } = reader.world;
  const scim = await scimOf(reader);
  await BY_SOURCE.events(reader, ['a'], scim);
  const [before] = platformGroupsOf(reader);
  await pauseConnection(CONNECTION, undefined, toolPorts);
  const group = await scim.group('Rowers', ['a']);
  await reader.pass(30 * MINUTE_MS);
  const planned = () => plan(reader, 'scim', false, new Map([['okta-1', group]]));
  await takeOverGroups(await reader.world.connection(), await planned(), toolPorts);
  expect(await planned()).toMatchObject({ groups: [] });
  await resume(reader);
  expect(platformGroupsOf(reader)).toEqual([{ ...before, name: 'Rowers', spokeId: group }]);
});

it('a resume before the reader has read the members removes no member', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  const scim = await scimOf(reader);
  await BY_SOURCE.directory(reader, [], scim);
  await BY_SOURCE.scim(reader, ['c', 'd'], scim);
  await takeOver(reader, 'scim');
  await resume(reader);
  const there = platformGroupsOf(reader);
  expect(there).toMatchObject([{ users: ['u-c', 'u-d'] }]);
  await takeOver(reader, 'directory');
  await resume(reader);
  expect(platformGroupsOf(reader)).toEqual(there);
  await reader.passMinutes(30);
  expect(platformGroupsOf(reader)).toMatchObject([{ users: ['u-a', 'u-b'] }]);
});

it('the guard counts removals before and after a takeover together', async () => {
  const guard = { minSize: 1, maxRemovedCount: 5, maxRemovedShare: 1 };
  const everybody = [...'abcdefghij'];
  const reader = await openWith({}, { guard });
  await reader.hire(...everybody);
  const scim = await scimOf(reader);
  await BY_SOURCE.events(reader, everybody, scim);
  await reader.deliver({ take: [...'abcd'], from: 'okta-1' });
  expect(platformGroupsOf(reader)).toMatchObject([{ users: [...'efghij'].map((user) => `u-${user}`) }]);
  const group = await BY_SOURCE.scim(reader, ['i', 'j'], scim);
  await takeOver(reader, 'scim');
  await resume(reader);
  expect((await reader.state(group))?.hold).toMatchObject({ removes: 4, rule: 'count' });
  expect(platformGroupsOf(reader)[0]?.users).toHaveLength(6);
});

/** Creates a group of events that a takeover to SCIM can move. */
async function openMove(settings: Readonly<Record<string, unknown>> = {}) {
  const reader = await openWith({}, settings);
  const scim = await scimOf(reader);
  await BY_SOURCE.events(reader, ['a', 'b'], scim);
  const group = await BY_SOURCE.scim(reader, ['a', 'b'], scim);
  await scim.user('c');
  return { reader, scim, group, id: platformGroupsOf(reader)[0]?.id ?? '' };
}

it('if the table is restored to any step of a takeover, the platform group stays the same', async () => {
  const { reader, scim, group } = await openMove();
  const { table, toolPorts } = reader.world;
  const steps: (readonly (typeof table.items extends Map<string, infer One> ? One : never)[])[] = [];
  const copy = async () => void steps.push(structuredClone([...table.items.values()]));
  await takeOver(reader, 'scim', { ports: portsWith(reader, copy) });
  await resume(reader);
  await scim.join(group, 'c');
  await reader.pass(20 * MINUTE_MS);
  const [now] = platformGroupsOf(reader);
  expect(now).toMatchObject({ spokeId: group, users: ['u-a', 'u-b', 'u-c'] });
  expect(steps.length).toBeGreaterThan(8);
  for (const items of steps) {
    for (const { pk, sk } of [...table.items.values()]) await table.delete({ pk, sk });
    for (const item of items) table.store(item);
    await reader.pass(5 * MINUTE_MS);
    if ((await toolPorts.reader.moves(CONNECTION)).length === 0) await takeOver(reader, 'scim');
    await requeueDue(CONNECTION, toolPorts);
    await resume(reader);
    await scim.join(group, 'c');
    await reader.pass(20 * MINUTE_MS);
    expect(platformGroupsOf(reader)).toEqual([now]);
  }
});

it('a worker whose group begins to move before its commit ends, and the new group settles its write', async () => {
  const { reader, scim, group, id } = await openMove();
  const { world, ref } = reader;
  await scim.join(group, 'c');
  reader.emit({ add: ['c'], to: 'okta-1' });
  await ingest(takeEvents(world), world.toolPorts);
  const dying = portsWith(reader, async () => {
    if ((await reader.state('okta-1'))?.openMove) throw new Error('it dies here');
  });
  let isSent = false;
  let commits = 0;
  const effect = async (kind: string) => {
    isSent ||= kind === 'platform.patch';
    if (!isSent || kind !== 'update GROUP') return;
    commits += 1;
    if (commits > 9) throw new Error('expected a few commits');
    if (commits === 1) await expect(takeOver(reader, 'scim', { ports: dying })).rejects.toThrow('dies here');
  };
  await applyGroup(ref('okta-1'), world.portsFor({ effect }));
  expect(commits).toBeGreaterThan(0);
  expect(await readGroupStatus(ref(group), world.toolPorts)).toMatchObject({
    moving: expect.stringMatching(/\(scim\).* is open for .*groupsync doctor/),
  });
  await reader.pass(5 * MINUTE_MS);
  await resume(reader);
  expect(platformGroupsOf(reader)).toMatchObject([{ id, spokeId: group, users: ['u-a', 'u-b', 'u-c'] }]);
});

it('removals that a change of mode permits during a move wait after the move', async () => {
  const { reader, group, id } = await openMove({ mode: 'additive', guard: {} });
  const { platform, toolPorts } = reader.world;
  platform.changeAsOther(id, { users: ['u-a', 'u-b', 'u-d'] });
  await expect(takeOver(reader, 'scim', { ports: dyingAfter(reader, 6) })).rejects.toThrow('dies here');
  const moving = await reader.state(group);
  expect(moving && obstacleTo(moving, await reader.world.connection(), OPEN_GATE, 0)?.outcome).toBe('moving');
  await expect(pauseGroup(reader.ref(group), toolPorts)).rejects.toThrow('nothing was changed: the move');
  const set = await planSettings(CONNECTION, [{ key: 'mode', value: 'authoritative' }], toolPorts);
  await changeSettings(set, { ...toolPorts, vault: {} as never });
  await reader.pass(5 * MINUTE_MS);
  await resume(reader);
  await reader.pass(120 * MINUTE_MS);
  expect(platformGroupsOf(reader)).toMatchObject([{ id, users: ['u-a', 'u-b', 'u-d'] }]);
  expect((await reader.state(group))?.hold).toMatchObject({ removes: 1 });
});

it('a takeover with --same-ids keeps id and members of the group, and the next event is applied', async () => {
  const reader = await openWith({ rowing: ['a', 'b'] });
  await reader.passMinutes(30);
  const [before] = platformGroupsOf(reader);
  expect((await plan(reader, 'events')).unmapped).toMatchObject([{ group: 'rowing' }]);
  await takeOver(reader, 'events', { sameIds: true });
  await resume(reader);
  await reader.deliver({ add: ['c'], to: 'rowing' });
  await reader.change({ kind: 'removeMember', group: 'rowing', member: 'a' });
  await reader.passMinutes(90);
  expect(platformGroupsOf(reader)).toEqual([{ ...before, users: ['u-a', 'u-b', 'u-c'] }]);
  await takeOver(reader, 'directory');
  await resume(reader);
  await reader.passMinutes(90);
  expect(platformGroupsOf(reader)).toEqual([{ ...before, users: ['u-b'] }]);
});

// The table is empty, so the first source makes no difference.
it.each(DIRECTIONS.filter(([from, to]) => from === (to === 'scim' ? 'events' : 'scim')))(
  'after a takeover from %s to %s, an empty table is filled again with the same platform group',
  async (from, to) => {
    const hasReader = from === 'directory' || to === 'directory';
    const reader = await openWith({ rowing: ['a', 'b'] }, hasReader ? { directory } : {});
    const { world, ref } = reader;
    const { table, toolPorts } = world;
    const scim = await scimOf(reader);
    await BY_SOURCE[from](reader, ['a', 'b'], scim);
    const owner = await BY_SOURCE[to](reader, ['a', 'b'], scim);
    await takeOver(reader, to);
    await reader.passMinutes(hasReader ? 30 : 0);
    await resume(reader);
    const [before] = platformGroupsOf(reader);
    expect(before).toMatchObject({ spokeId: owner, users: ['u-a', 'u-b'] });

    const connection = await world.connection();
    for (const { pk, sk } of [...table.items.values()]) await table.delete({ pk, sk });
    const { settings } = connection;
    const read = to === 'directory' ? settings.directory : null;
    await toolPorts.connections.save({ ...connection, settings: { ...settings, directory: read } });
    await reader.hire(...PEOPLE);
    const again = await BY_SOURCE[to](reader, ['a', 'b'], await scimOf(reader));
    await reader.pass(30 * MINUTE_MS);
    // A SCIM client creates its groups again, so groupsync gives them new ids, and a person must link them.
    const { clashes } = await planGroup(ref(again), toolPorts);
    expect(clashes.map(({ platformId }) => platformId)).toEqual(to === 'scim' ? [before?.id] : []);
    for (const { platformId } of clashes)
      await adoptGroup(ref(again), platformGroupId(platformId), toolPorts);
    await reader.pass(30 * MINUTE_MS);
    expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: again }]);
  },
);

/** Returns the commands of a section of docs/migrate.md, in their order. */
function commandsOf(section: string): readonly string[] {
  const page = readFileSync('docs/migrate.md', 'utf8');
  const [own = ''] = page.slice(page.indexOf(`## ${section}`) + 3).split('\n## ');
  return [...own.matchAll(/^ *groupsync (.+)$/gm)].map(([, command = '']) => command);
}

/** Returns the commands for a move. "Another tool" refers to the commands "To a directory", without the takeover. */
function commandsFor(from: Origin, to: Source): readonly string[] {
  if (to !== 'directory') return commandsOf('To SCIM or events');
  const commands = commandsOf('To a directory').filter(
    (one) => from === 'another customer' || !one.includes('--accept-deletions'),
  );
  if (from !== 'another tool') return commands;
  return [...commandsOf('Another tool'), ...commands.filter((one) => !one.includes('takeover'))];
}

type Origin = Source | 'another customer' | 'another tool';

/** Creates the group. Returns its first id, the directory to connect with the administrator, and its id there. */
async function begin(from: Origin, reader: Reader, scim: Scim) {
  const acme = { google: reader.google, administrator: 'admin@acme.test', there: 'rowing' };
  const { platform } = reader.world;
  if (from === 'another tool') {
    platform.adopted.add(platform.addForeign({ name: 'Group rowing', users: ['u-a'], spokeId: 'rowing' }));
    return { ...acme, first: undefined };
  }
  if (from !== 'another customer') return { ...acme, first: await BY_SOURCE[from](reader, ['a', 'b'], scim) };
  const { groups = [], ...world } = company({ 'other-rowing': ['a', 'b'] });
  const renamed = groups.map((group) => ({ ...group, name: 'Group rowing' }));
  return {
    google: await openGoogle({
      world: { ...world, groups: renamed },
      administrator: 'admin@acme.test',
    }),
    administrator: 'admin@other.test',
    there: 'other-rowing',
    first: await BY_SOURCE.directory(reader, [], scim),
  };
}

const READS: readonly Origin[] = ['directory', 'another customer'];

it.each<readonly [Origin, Source]>([
  ...DIRECTIONS,
  ['another customer', 'directory'],
  ['another tool', 'directory'],
])('the commands move a group of %s to %s from the first to the last', async (from, to) => {
  const reader = await openWith({ rowing: ['a', 'b'] }, READS.includes(from) ? { directory } : {});
  const scim = await scimOf(reader);
  const { google, administrator, there, first } = await begin(from, reader, scim);
  const [before] = platformGroupsOf(reader);
  const second = to === 'directory' ? there : await BY_SOURCE[to](reader, ['b', 'c'], scim);
  const key = temporaryFile('key.json', JSON.stringify(google.key));
  const options = `--directory google --administrator ${administrator} --key ${key}`;
  const isCustomer = from === 'another customer';
  Object.assign(reader.ports.directories, { open: async () => google.directory });
  const run = async (_: string, { acceptDeletions = false }) => ({
    reports: [await reader.run({ acceptsDeletions: acceptDeletions, isFull: isCustomer })],
  });
  const ports = {
    ...reader.world.toolPorts,
    directoryApplicants: { present: async () => google.directory, store: async () => {} },
    deployment: { queue: async () => undefined },
    functions: { run },
  } as unknown as ToolPortsOfCommands;
  const commands = commandsFor(from, to);
  expect(commands.length).toBeGreaterThan(3);
  for (const command of commands) {
    const given = command.replace(/"\$.*?"/, options).replace('--to scim', `--to ${to}`);
    const args = [...given.split(' '), ...(command === 'resume' ? ['--no-wait'] : []), '--yes'];
    const { code, stderr } = await runCli(args, { ports });
    const stops = isCustomer && command === 'directory read';
    expect(`${code} ${stderr}`).toMatch(stops ? /^[1-9](.|\n)*known groups are missing/ : /^0/);
    await reader.pass(5 * MINUTE_MS);
    if (command !== 'resume') expect(platformGroupsOf(reader)).toEqual([before]);
  }
  await reader.pass(20 * MINUTE_MS);
  const users = to === 'directory' ? ['u-a', 'u-b'] : ['u-b', 'u-c'];
  expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: second, users }]);
  if (first !== undefined) expect(await reader.state(first)).toMatchObject({ movedTo: second });
});
