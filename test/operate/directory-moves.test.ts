import { describe, expect, it } from 'vitest';
import { groupId, platformGroupId } from '../../shared/domain/ids.ts';
import type { Source } from '../../shared/domain/source.ts';
import { groupsOfReader } from '../../shared/operate/directory/reader-groups.ts';
import {
  planTakeover,
  type TakeoverTarget,
  takeOverGroups,
} from '../../shared/operate/directory/takeover.ts';
import { ofOtherSources } from '../../shared/operate/other-source.ts';
import { adoptGroup } from '../../shared/operate/ownership.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { readGroupStatus } from '../../shared/operate/status.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import { add } from '../support/scim-operations.ts';
import { CONNECTION, MINUTE_MS } from '../support/engine/world.ts';
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
type Effect = readonly ['groups' | 'claims' | 'reader', string];

/** The writes of a takeover, in their order. */
const EFFECTS: readonly Effect[] = [
  ['reader', 'noteMove'],
  ['reader', 'dropMove'],
  ['groups', 'release'],
  ['groups', 'storeObserved'],
  ['claims', 'takeOver'],
  ['groups', 'prepareView'],
  ['groups', 'adopt'],
];

/** Returns ports that call `before` immediately before each of these writes. */
function intercepted(ports: ToolPorts, effects: readonly Effect[], before: () => Promise<void>): ToolPorts {
  const replaced: Record<string, object> = {};
  for (const [port, method] of effects) {
    const original = ports[port] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const call = async (...args: unknown[]) => {
      await before();
      return original[method]?.(...args);
    };
    replaced[port] = { ...original, ...replaced[port], [method]: call };
  }
  return { ...ports, ...replaced };
}

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

/** In these three directions, groups leave each source once and join each source once. */
const INTERRUPTED: typeof DIRECTIONS = [
  ['events', 'directory'],
  ['directory', 'scim'],
  ['scim', 'events'],
];

describe('interrupted takeover', () => {
  const died = async () => {
    throw new Error('it dies here');
  };

  it.each(INTERRUPTED.flatMap(([from, to]) => EFFECTS.map((effect) => [from, to, effect] as const)))(
    'after a takeover from %s to %s has crashed before %j, the next takeover completes it',
    async (from, to, effect) => {
      const hasReader = from === 'directory' || to === 'directory';
      const reader = await openWith({ rowing: ['a', 'b'] }, hasReader ? { directory } : {});
      const scim = await scimOf(reader);
      await BY_SOURCE[from](reader, ['a', 'b'], scim);
      const [before] = platformGroupsOf(reader);
      const second = await BY_SOURCE[to](reader, ['a', 'b'], scim);
      const ports = intercepted(reader.world.toolPorts, [effect], died);
      await expect(takeOver(reader, to, { ports })).rejects.toThrow('it dies here');
      await reader.passMinutes(hasReader ? 10 : 0);
      await reader.pass(10 * MINUTE_MS);
      expect(platformGroupsOf(reader)).toEqual([before]);
      await takeOver(reader, to);
      await resume(reader);
      await reader.passMinutes(hasReader ? 30 : 0);
      expect(platformGroupsOf(reader)).toEqual([{ ...before, spokeId: second }]);
      expect((await plan(reader, to)).groups).toEqual([]);
    },
  );
});

describe('interrupted takeover back', () => {
  it.each(EFFECTS)(
    'after a reverse takeover has crashed before %s.%s, the next takeover completes it',
    async (...effect) => {
      const reader = await openWith({}, {});
      const scim = await scimOf(reader);
      await BY_SOURCE.events(reader, ['a', 'b'], scim);
      const [before] = platformGroupsOf(reader);
      await BY_SOURCE.scim(reader, ['a', 'b'], scim);
      await takeOver(reader, 'scim');
      await resume(reader);
      const ports = intercepted(reader.world.toolPorts, [effect], async () => {
        throw new Error('it dies here');
      });
      await expect(takeOver(reader, 'events', { ports })).rejects.toThrow('it dies here');
      await reader.pass(10 * MINUTE_MS);
      await takeOver(reader, 'events');
      await resume(reader);
      expect(platformGroupsOf(reader)).toEqual([before]);
      expect((await reader.state('okta-1'))?.link?.id).toBe(before?.id);
    },
  );
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
      let step = 0;
      const ports = intercepted(reader.world.toolPorts, EFFECTS, async () => {
        await changeOf(from, first, 'b');
        await changeOf(to, second, step % 2 === 0 ? 'c' : 'd');
        step += 1;
        await reader.work(20);
      });
      const report = await takeOver(reader, to, { ports });
      expect([report.busy, step]).toEqual([[], EFFECTS.length + 1]);
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
