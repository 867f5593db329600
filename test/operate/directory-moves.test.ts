import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { groupId, platformGroupId } from '../../shared/domain/ids.ts';
import type { Source } from '../../shared/domain/source.ts';
import { blockPerson } from '../../shared/operate/block.ts';
import { groupsOfReader } from '../../shared/operate/directory/reader-groups.ts';
import {
  planTakeover,
  type TakeoverTarget,
  takeOverGroups,
} from '../../shared/operate/directory/takeover.ts';
import { rejectHold } from '../../shared/operate/holds.ts';
import { ofOtherSources } from '../../shared/operate/other-source.ts';
import { adoptGroup } from '../../shared/operate/ownership.ts';
import { pauseGroup, readPause, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { readGroupStatus } from '../../shared/operate/status.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import type { ToolPorts as ToolPortsOfCommands } from '../../shared/sync/ports/bundles.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { runCli } from '../support/cli/io.ts';
import { CONNECTION, HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';
import { temporaryFile } from '../support/folder.ts';
import { add } from '../support/scim-operations.ts';
import { company, openReader, platformGroupsOf, type Reader } from '../sync/directory/fixture.ts';
import { clientNextTo } from '../sync/directory/scim-client.ts';

const directory = { kind: 'google', administrator: 'admin@acme.test' };
const PEOPLE = ['a', 'b', 'c', 'd'];

async function openWith(
  groups: Readonly<Record<string, readonly string[]>>,
  settings: Readonly<Record<string, unknown>> = { directory },
) {
  const reader = await openReader({ world: company(groups), settings });
  await reader.hire(...PEOPLE);
  return reader;
}

const targetOf = (source: Source, { google }: Reader, sameIds = false): TakeoverTarget =>
  source === 'directory' ? { source, directory: google.directory, replaces: false } : { source, sameIds };

async function plan(reader: Reader, to: Source, sameIds = false, file?: ReadonlyMap<string, string>) {
  const { world } = reader;
  return planTakeover(await world.connection(), targetOf(to, reader, sameIds), world.toolPorts, file);
}

async function takeOver(
  reader: Reader,
  to: Source,
  { sameIds = false, ports = reader.world.toolPorts } = {},
) {
  const planned = await plan(reader, to, sameIds);
  return takeOverGroups(await reader.world.connection(), planned, ports);
}

type ToolPorts = Reader['world']['toolPorts'];

/** Returns the ports of one worker. `before` is called before each of its writes, with the number of earlier writes. */
function portsWith(reader: Reader, before: (writes: number) => Promise<void>): ToolPorts {
  let writes = 0;
  const effect = async (kind: string) => {
    if (!/^(put|update|delete)/.test(kind)) return;
    await before(writes);
    writes += 1;
  };
  return reader.world.portsFor({ effect });
}

/** Returns the ports of a worker that dies before its next write after this number of writes. */
const dyingAfter = (reader: Reader, most: number): ToolPorts =>
  portsWith(reader, async (writes) => {
    if (writes >= most) throw new Error('it dies here');
  });

async function resume(reader: Reader) {
  await resumeConnection(CONNECTION, reader.world.toolPorts);
  await reader.pass(20 * MINUTE_MS);
}

/** Creates a SCIM client of an identity provider, which sends its own copies of users and groups. */
async function scimOf(reader: Reader) {
  const client = await clientNextTo(reader);
  const users = new Map<string, string>();
  const user = async (name: string) => {
    const known = users.get(name);
    if (known !== undefined) return known;
    const emails = [{ value: `${name}@acme.test`, type: 'work' }];
    const { body } = await client.post('/Users', { userName: name, emails });
    users.set(name, body.id);
    return body.id as string;
  };
  return {
    ...client,
    user,
    async group(displayName: string, members: readonly string[], externalId?: string) {
      const values = await Promise.all(members.map(async (one) => ({ value: await user(one) })));
      const { body } = await client.post('/Groups', { displayName, externalId, members: values });
      return body.id as string;
    },
    async join(group: string, name: string) {
      await client.patch(`/Groups/${group}`, [add('members', [{ value: await user(name) }])]);
    },
  };
}

describe('takeover from a reader to SCIM', () => {
  it('after a takeover to SCIM, the SCIM client owns the platform group, and the reader only compares', async () => {
    const reader = await openWith({ rowing: ['a', 'b'] });
    await reader.passMinutes(30);
    const before = platformGroupsOf(reader);
    const scim = await scimOf(reader);
    const group = await scim.group('Group rowing', ['a', 'c']);
    await reader.passMinutes(30);
    expect(platformGroupsOf(reader)).toEqual(before);
    expect(await plan(reader, 'scim')).toMatchObject({
      to: 'scim',
      groups: [{ group: 'rowing', name: 'Group rowing', target: group, by: 'name' }],
      unmapped: [],
    });
    await takeOver(reader, 'scim');
    await reader.passMinutes(30);
    expect(platformGroupsOf(reader)).toEqual(before);
    await resume(reader);
    const [moved] = platformGroupsOf(reader);
    expect(platformGroupsOf(reader)).toEqual([{ ...before[0], spokeId: group, users: ['u-a', 'u-c'] }]);
    await scim.join(group, 'd');
    await reader.passMinutes(30);
    expect(platformGroupsOf(reader)).toEqual([{ ...moved, users: ['u-a', 'u-c', 'u-d'] }]);
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

type Scim = Awaited<ReturnType<typeof scimOf>>;

const DIRECTIONS: readonly (readonly [Source, Source])[] = [
  ['events', 'directory'],
  ['scim', 'directory'],
  ['directory', 'scim'],
  ['directory', 'events'],
  ['scim', 'events'],
  ['events', 'scim'],
];

describe('takeover in each direction', () => {
  it.each(DIRECTIONS)(
    'a group of %s that moves to %s and back keeps its platform group, which changes only after a resume',
    async (from, to) => {
      const hasReader = from === 'directory' || to === 'directory';
      const reader = await openWith({ rowing: ['a', 'b'] }, hasReader ? { directory } : {});
      const scim = await scimOf(reader);
      const first = await BY_SOURCE[from](reader, ['a', 'b'], scim);
      const [before, ...others] = platformGroupsOf(reader);
      expect(others).toEqual([]);
      expect(before).toMatchObject({ spokeId: first, users: ['u-a', 'u-b'] });
      const second = await BY_SOURCE[to](reader, ['b', 'c'], scim);
      await reader.pass(30 * MINUTE_MS);
      expect(platformGroupsOf(reader)).toEqual([before]);

      expect((await takeOver(reader, to)).groups).toMatchObject([{ group: first, target: second }]);
      await reader.passMinutes(hasReader ? 30 : 0);
      await reader.pass(30 * MINUTE_MS);
      expect(platformGroupsOf(reader)).toEqual([before]);
      await resume(reader);
      await reader.passMinutes(hasReader ? 30 : 0);
      const there = {
        ...before,
        spokeId: second,
        users: to === 'directory' ? ['u-a', 'u-b'] : ['u-b', 'u-c'],
      };
      expect(platformGroupsOf(reader)).toEqual([there]);

      expect((await takeOver(reader, from)).groups).toMatchObject([{ group: second, target: first }]);
      await reader.passMinutes(hasReader ? 30 : 0);
      expect(platformGroupsOf(reader)).toEqual([there]);
      await resume(reader);
      await reader.passMinutes(hasReader ? 30 : 0);
      expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: first, users: ['u-a', 'u-b'] }]);
      expect((await plan(reader, from)).groups).toEqual([]);
    },
  );
});

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

const JOIN: Readonly<
  Record<Source, (reader: Reader, group: string, name: string, scim: Scim) => Promise<void>>
> = {
  directory: async (reader, group, member) => {
    await reader.change({ kind: 'addMember', group, member });
    await reader.run({ isFull: true });
  },
  events: async (reader, to, name) => reader.emit({ add: [name], to }),
  scim: async (_, group, name, scim) => scim.join(group, name),
};

/** Lets the directory add d, and loses the answer of the platform. The write stays open. */
async function loseAnswer(reader: Reader, source: Source, group: string, scim: Scim) {
  let hasWritten = false;
  reader.troubles.platform = (call) => {
    if (call !== 'patch' && call !== 'put') return hasWritten ? 'unavailable_before' : 'none';
    hasWritten = true;
    return 'lost_after';
  };
  await JOIN[source](reader, group, 'd', scim);
  for (let round = 0; round < 60 && !hasWritten; round += 1) await reader.work(1);
  await reader.work(3);
  reader.troubles.platform = () => 'none';
  expect((await reader.state(group))?.intent).toBeDefined();
}

describe('interrupted takeover', () => {
  /**
   * Lets the command and the requeue job continue a takeover in turns. The first worker dies before its first write, the
   * second before its second, and so on. Between them, both groups are applied, as after a message.
   * @returns the number of workers
   */
  async function inTurns(
    reader: Reader,
    to: Source,
    [from, next]: readonly [string, string],
    meanwhile = async () => {},
  ) {
    const { toolPorts } = reader.world;
    for (let workers = 1; ; workers += 1) {
      const ports = dyingAfter(reader, workers - 1);
      const job = async () => {
        const { stuck = [] } = await requeueDue(CONNECTION, ports);
        if (stuck.length > 0) throw new Error(stuck.join());
      };
      const run = workers % 2 === 0 ? job() : takeOver(reader, to, { ports });
      await run.catch((error: Error) => expect(error.message).toContain('it dies here'));
      await meanwhile();
      for (const group of [from, next]) await applyGroup(reader.ref(group), toolPorts);
      const moves = await toolPorts.reader.moves(CONNECTION);
      const own = moves.find((move) => move.from === from && move.to === next);
      if (own !== undefined && own.openSinceMs === undefined) return workers;
      if (own !== undefined) await expect(resume(reader)).rejects.toThrow('is not finished');
    }
  }

  it.each(DIRECTIONS)(
    'a takeover from %s to %s moves pause and open write, whatever write its workers die before',
    async (from, to) => {
      const hasReader = from === 'directory' || to === 'directory';
      const reader = await openWith({ rowing: ['a', 'b'] }, hasReader ? { directory } : {});
      const scim = await scimOf(reader);
      const first = await BY_SOURCE[from](reader, ['a', 'b'], scim);
      const second = await BY_SOURCE[to](reader, ['b', 'c'], scim);
      await loseAnswer(reader, from, first, scim);
      await pauseGroup(reader.ref(first), reader.world.toolPorts, 'wait for Jo');
      const before = platformGroupsOf(reader);
      expect(before).toMatchObject([{ spokeId: first, users: ['u-a', 'u-b', 'u-d'] }]);
      const left = await reader.state(first);
      const isSent = { count: 0 };
      const meanwhile = async () => {
        isSent.count += 1;
        if (from !== 'directory') await JOIN[from](reader, first, isSent.count % 2 === 0 ? 'c' : 'a', scim);
      };
      // Otherwise apply settles the open write before the move.
      reader.troubles.platform = () => 'unavailable_before';
      expect(await inTurns(reader, to, [first, second], meanwhile)).toBeGreaterThan(8);
      reader.troubles.platform = () => 'none';
      expect(platformGroupsOf(reader)).toEqual(before);
      const moved = await reader.state(second);
      expect(moved).toMatchObject({
        ...{ intent: left?.intent, pausedAtMs: left?.pausedAtMs, released: false },
        link: { ...left?.link, takeOver: true },
        movedAt: expect.any(Number),
      });
      expect(await reader.state(first)).toMatchObject({ released: true, movedTo: second });
      expect(await readPause(reader.ref(second), reader.world.toolPorts)).toMatchObject({
        entry: { reason: 'wait for Jo' },
      });
      await reader.passMinutes(hasReader ? 30 : 0);
      await resume(reader);
      expect(platformGroupsOf(reader)).toEqual(before);
      await resumeGroup(reader.ref(second), reader.world.toolPorts);
      await reader.pass(120 * MINUTE_MS);
      const users = to === 'directory' ? ['u-a', 'u-b'] : ['u-b', 'u-c'];
      expect(platformGroupsOf(reader)).toEqual([{ ...before[0], spokeId: second, users }]);

      await inTurns(reader, from, [second, first]);
      await reader.passMinutes(hasReader ? 30 : 0);
      await resume(reader);
      await reader.passMinutes(hasReader ? 30 : 0);
      expect(platformGroupsOf(reader)).toMatchObject([{ id: before[0]?.id, spokeId: first }]);
      expect((await plan(reader, from)).groups).toEqual([]);
    },
  );
});

describe('takeover of a group with decisions', () => {
  const deletions = { deletedGroups: 0, deletedGroupsShare: 0 };
  const guard = { minSize: 1, maxRemovedCount: 1, maxRemovedShare: 0.5, ...deletions };
  const remove = (reader: Reader) =>
    reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b'] });

  it.each<readonly [string, (reader: Reader) => Promise<unknown>, readonly string[]]>([
    ['whose removals wait', remove, ['u-a', 'u-b', 'u-c', 'u-d']],
    [
      'whose removals were rejected',
      async (reader) => {
        await remove(reader);
        await rejectHold(reader.ref('okta-1'), { reason: 'they stay' }, reader.world.toolPorts);
      },
      ['u-a', 'u-b', 'u-c', 'u-d'],
    ],
    ['whose deletion waits', (reader) => reader.deliver({ remove: 'okta-1' }), ['u-a', 'u-b', 'u-c']],
    [
      'with a blocked person',
      ({ world }) => blockPerson(CONNECTION, { text: 'u-c', reason: 'stolen laptop' }, world.toolPorts),
      ['u-a', 'u-b'],
    ],
  ])('a group %s keeps the decision, and the same platform group', async (_, decide, users) => {
    const reader = await openWith({ rowing: ['a', 'b', 'c'] }, { directory, guard });
    await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c', 'd'] });
    await decide(reader);
    await reader.deliver();
    await reader.pass(2 * HOUR_MS);
    const [before] = platformGroupsOf(reader);
    expect((await takeOver(reader, 'directory')).groups).toMatchObject([
      { group: 'okta-1', target: 'rowing' },
    ]);
    await reader.passMinutes(30);
    await resume(reader);
    await reader.passMinutes(30);
    expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: 'rowing', users }]);
  });
});

describe('takeover while events arrive', () => {
  it.each([
    ['scim', 'events'],
    ['events', 'scim'],
    ['directory', 'scim'],
  ] as const)(
    'a takeover from %s to %s loses no change of the new source, and writes nothing',
    async (from, to) => {
      const reader = await openWith({ rowing: ['a'] }, from === 'directory' ? { directory } : {});
      const scim = await scimOf(reader);
      const first = await BY_SOURCE[from](reader, ['a'], scim);
      const [before] = platformGroupsOf(reader);
      const second = await BY_SOURCE[to](reader, ['a'], scim);
      const changeOf = async (source: Source, group: string, name: string) => {
        if (source === 'scim') await scim.join(group, name);
        if (source === 'events') reader.emit({ add: [name], to: group });
      };
      let steps = 0;
      const ports = portsWith(reader, async (writes) => {
        if (!(await reader.world.connection()).observing) return;
        await changeOf(from, first, 'b');
        await changeOf(to, second, writes % 2 === 0 ? 'c' : 'd');
        steps = writes;
        await reader.work(20);
      });
      const report = await takeOver(reader, to, { ports });
      expect(report.busy).toEqual([]);
      expect(steps).toBeGreaterThan(8);
      await reader.pass(20 * MINUTE_MS);
      expect(platformGroupsOf(reader)).toEqual([before]);
      await resume(reader);
      expect(platformGroupsOf(reader)).toEqual([
        { ...before, spokeId: second, users: ['u-a', 'u-c', 'u-d'] },
      ]);
    },
  );
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
