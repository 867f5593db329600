import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { groupsOfReader } from '../../../shared/directory/operate/reader-groups.ts';
import { takeOverGroups } from '../../../shared/directory/operate/takeover.ts';
import { groupId, platformGroupId } from '../../../shared/domain/ids.ts';
import type { Source } from '../../../shared/domain/source.ts';
import { ofOtherSources } from '../../../shared/operate/other-source.ts';
import { adoptGroup } from '../../../shared/operate/ownership.ts';
import { pauseConnection } from '../../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../../shared/operate/settings.ts';
import { readGroupStatus } from '../../../shared/operate/status.ts';
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
import { platformGroupsOf, type Reader } from '../reading/fixture.ts';

describe('takeover from a reader to SCIM', () => {
  it('after a takeover to SCIM, the SCIM client owns both groups, and the reader only compares', async () => {
    const reader = await openWith({ rowing: ['a', 'b'] });
    await reader.passMinutes(30);
    const scim = await scimOf(reader);
    const group = await scim.group('Group rowing', ['a', 'c']);
    await takeOver(reader, 'scim');
    await resume(reader);
    await reader.passMinutes(30);
    expect(await reader.stored('rowing')).toMatchObject({ other: group });
    const { toolPorts } = reader.world;
    const named = [groupId('rowing'), groupId(group)];
    expect(await ofOtherSources(await reader.world.connection(), named, toolPorts)).toEqual(
      named.map((one) => ({ group: one, source: 'scim' })).reverse(),
    );
    const released = `${group} of another source owns this group`;
    expect(await readGroupStatus(reader.ref('rowing'), toolPorts)).toMatchObject({ released });
  });

  it('the plan of a takeover finds the SCIM group by its external id if the name differs', async () => {
    const reader = await openWith({ rowing: ['a'] });
    await reader.passMinutes(30);
    const scim = await scimOf(reader);
    const group = await scim.group('Rowing Club', ['a'], 'rowing@acme.test');
    expect((await plan(reader, 'scim')).groups).toMatchObject([{ target: group, by: 'externalId' }]);
  });

  it('a group without a counterpart stays with the reader, and the directory cannot be disconnected', async () => {
    const reader = await openWith({ rowing: ['a'], chess: ['b'] });
    await reader.passMinutes(30);
    const scim = await scimOf(reader);
    await scim.group('Group rowing', ['a']);
    expect(await takeOver(reader, 'scim')).toMatchObject({
      unmapped: [{ group: 'chess', reason: 'not_found' }],
    });
    await resume(reader);
    await reader.change({ kind: 'addMember', group: 'chess', member: 'c' });
    await reader.passMinutes(60);
    expect(reader.shown('chess')).toEqual([['u-b', 'u-c']]);
    const toolPorts = { ...reader.world.toolPorts, vault: {} as never };
    expect(await groupsOfReader(await reader.world.connection(), toolPorts)).toEqual(['chess']);
    const off = await planSettings(CONNECTION, [{ key: 'directory', value: null }], toolPorts);
    await expect(changeSettings(off, toolPorts)).rejects.toThrow('the reader owns 1 group (chess)');
  });

  it('the directory can be disconnected after all groups have moved, and SCIM changes are still applied', async () => {
    const reader = await openWith({ rowing: ['a'] });
    await reader.passMinutes(30);
    const scim = await scimOf(reader);
    const group = await scim.group('Group rowing', ['a']);
    const toolPorts = { ...reader.world.toolPorts, vault: {} as never };
    const off = await planSettings(CONNECTION, [{ key: 'directory', value: null }], toolPorts);
    await expect(changeSettings(off, toolPorts)).rejects.toThrow('directory takeover --to scim');
    await takeOver(reader, 'scim');
    await resume(reader);
    await changeSettings(off, toolPorts);
    await scim.join(group, 'b');
    await reader.pass(20 * MINUTE_MS);
    expect(platformGroupsOf(reader)).toMatchObject([{ users: ['u-a', 'u-b'] }]);
  });
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

describe('takeover with steps in the wrong order', () => {
  it.each([
    ['events', 'scim'],
    ['scim', 'events'],
    ['directory', 'events'],
  ] as const)(
    'a group of %s is not duplicated if %s sends the group before the takeover',
    async (from, to) => {
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
    },
  );

  it.each([
    [30_000, 2],
    [180_000, 1],
  ])(
    'a second source that sends the same group %i ms later leads to %i platform groups',
    async (ms, count) => {
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
      expect(await plan(reader, 'scim')).toMatchObject(
        count === 1 ? { groups: [moved] } : { unmapped: [{ ...moved, reason: 'has_platform_group' }] },
      );
    },
  );

  it('a group gets its own platform group after the group of the other source was renamed', async () => {
    const reader = await openWith({}, {});
    const scim = await scimOf(reader);
    await BY_SOURCE.events(reader, ['a'], scim);
    await BY_SOURCE.scim(reader, ['b'], scim);
    expect(platformGroupsOf(reader)).toHaveLength(1);
    await reader.deliver({ snapshot: 'okta-1', name: 'Group sailing', of: ['a'] });
    await reader.pass(120 * MINUTE_MS);
    expect(platformGroupsOf(reader).map(({ name }) => name)).toEqual(['Group sailing', 'Group rowing']);
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
    const planned = await plan(reader, 'scim', false, new Map([['okta-1', group]]));
    await takeOverGroups(await reader.world.connection(), planned, toolPorts);
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

describe('open move', () => {
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
      if (commits === 1)
        await expect(takeOver(reader, 'scim', { ports: dying })).rejects.toThrow('dies here');
    };
    await applyGroup(ref('okta-1'), world.portsFor({ effect }));
    expect(commits).toBeGreaterThan(0);
    expect(await readGroupStatus(ref(group), world.toolPorts)).toMatchObject({
      moving: expect.stringContaining('is open for'),
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
    expect((await reader.state(group))?.openMove).toBeDefined();
    const set = await planSettings(CONNECTION, [{ key: 'mode', value: 'authoritative' }], toolPorts);
    await changeSettings(set, { ...toolPorts, vault: {} as never });
    await reader.pass(5 * MINUTE_MS);
    await resume(reader);
    await reader.pass(120 * MINUTE_MS);
    expect(platformGroupsOf(reader)).toMatchObject([{ id, users: ['u-a', 'u-b', 'u-d'] }]);
    expect((await reader.state(group))?.hold).toMatchObject({ removes: 1 });
  });
});

describe('takeover to events that use the ids of the directory', () => {
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
});

it.each(DIRECTIONS)(
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

/** Returns the commands of docs/migrate.md for a move to a source, in their order. */
function commandsFor(to: Source, options: string): readonly string[] {
  const page = readFileSync('docs/migrate.md', 'utf8');
  const section = to === 'directory' ? '## To a directory' : '## To SCIM or events';
  const [text = ''] = page.slice(page.indexOf(section)).split('**From another directory**');
  const [own = ''] = text.slice(3).split('\n## ');
  const commands = [...own.matchAll(/^ *groupsync (.+)$/gm)].map(([, command = '']) => command);
  return commands.map((command) => command.replace(/"\$.*?"/, options).replace('--to scim', `--to ${to}`));
}

describe('the steps of docs/migrate.md', () => {
  it.each(DIRECTIONS)(
    'the commands move a group of %s to %s from the first to the last',
    async (from, to) => {
      const reader = await openWith({ rowing: ['a', 'b'] }, from === 'directory' ? { directory } : {});
      const scim = await scimOf(reader);
      const first = await BY_SOURCE[from](reader, ['a', 'b'], scim);
      const [before] = platformGroupsOf(reader);
      const second = to === 'directory' ? 'rowing' : await BY_SOURCE[to](reader, ['b', 'c'], scim);
      const key = temporaryFile('key.json', JSON.stringify(reader.google.key));
      const options = `--directory google --administrator admin@acme.test --key ${key}`;
      const ports = {
        ...reader.world.toolPorts,
        directoryApplicants: { present: async () => reader.google.directory, store: async () => {} },
        deployment: { queue: async () => undefined },
        functions: { run: async () => ({ reports: [await reader.run()] }) },
      } as unknown as ToolPortsOfCommands;
      const commands = commandsFor(to, options);
      expect(commands.length).toBeGreaterThan(3);
      for (const command of commands) {
        const args = [...command.split(' '), ...(command === 'resume' ? ['--no-wait'] : []), '--yes'];
        const { code, stderr } = await runCli(args, { ports });
        expect(code, `${command}: ${stderr}`).toBe(0);
        await reader.pass(5 * MINUTE_MS);
        if (command !== 'resume') expect(platformGroupsOf(reader)).toEqual([before]);
      }
      await reader.pass(20 * MINUTE_MS);
      const users = to === 'directory' ? ['u-a', 'u-b'] : ['u-b', 'u-c'];
      expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: second, users }]);
      expect(await reader.state(first)).toMatchObject({ movedTo: second });
    },
  );
});
