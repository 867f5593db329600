import { expect, it } from 'vitest';
import type { ActivityEvent } from '../../../shared/domain/drift.ts';
import { groupId, platformGroupId } from '../../../shared/domain/ids.ts';
import { AT_WORK_MS } from '../../../shared/domain/wake-up.ts';
import { approveHold } from '../../../shared/operate/holds.ts';
import { adoptGroup } from '../../../shared/operate/ownership.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { PlatformFailure } from '../../../shared/sync/ports/platform.ts';
import { followFeed } from '../../../shared/sync/reconcile/feed.ts';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';
import { Crash, type Worker } from '../../../simulate/worker.ts';
import { CONNECTION, START_MS, type World } from '../../support/engine/world.ts';
import { crashBeforeEachEffect, expectSuccessOrCrash } from './support/crashing-worker.ts';
import {
  activityEvent,
  apply,
  applyGone,
  change,
  deliver,
  event,
  follow,
  followAll,
  followThenApply,
  HOUR_MS,
  joins,
  leaves,
  REF,
  records,
  settled,
  shown,
  tellThenApply,
  USERS,
} from './support/drift.ts';

it('a difference is not attributed to a client that changed the group after apply found the difference', async () => {
  const { world, id } = await settled();
  world.platform.changeAsOther(id, { name: 'Theirs' });
  await tellThenApply(world, leaves('m0'));
  const later = new Date(START_MS + 3 * HOUR_MS).toISOString();
  await follow(world, id, activityEvent({ id: 'own', initiator: 'EXTERNAL', at: later }));
  expect(await records(world)).toMatchObject([{ initiator: 'UNKNOWN' }]);
});

it('apply finds a difference in the answer to PATCH if the platform compares no version', async () => {
  const { world, id } = await settled({}, { enforceVersionOnPatch: false });
  world.platform.changeAsOther(id, { name: 'Theirs' });
  await tellThenApply(world, leaves('m0'));
  await apply(world);
  expect(await records(world)).toMatchObject([{ kind: 'name', settledBy: 'restore' }]);
  expect(shown(world, id)).toEqual({ name: 'Ours', users: USERS.slice(1) });
});

it('the drift record stores the author of a difference in the form of the feed', async () => {
  const { world, id } = await settled();
  const [ports, connection] = [world.toolPorts, await world.connection()];
  const readFeed = () => followFeed(connection, ports as never, Number.POSITIVE_INFINITY);
  await readFeed();
  world.platform.changeAsOther(id, { name: 'Theirs' });
  await tellThenApply(world, leaves('m0'));
  expect(await records(world)).toMatchObject([{ initiator: 'UNKNOWN' }]);
  world.advance(HOUR_MS);
  await readFeed();
  const actor = { role: expect.any(String), name: expect.any(String) };
  expect(await records(world)).toMatchObject([{ initiator: 'ROLE', actor }]);
  world.platform.changeAsOther(id, { users: USERS });
  world.advance(HOUR_MS);
  await readFeed();
  await apply(world);
  expect(await records(world)).toMatchObject([{ kind: 'name' }, { kind: 'members_added', actor }]);
});

const spokeIdAndUsers = ({ platform }: World, id: string) => {
  const { spokeId, users = [] } = platform.groups.get(id) ?? {};
  return [spokeId, [...users].sort()];
};
async function beside(options = {}) {
  const settledGroup = await settled({}, options);
  const { world } = settledGroup;
  await deliver(world, event('group.upserted', { group: { id: 'h', name: 'Other' } }));
  await applyGroup({ connection: CONNECTION, group: groupId('h') }, world.toolPorts);
  world.advance(HOUR_MS);
  return settledGroup;
}

it('apply finds a removed spokeId in the answer to the PATCH if the platform compares no version', async () => {
  const { world, id } = await beside({ enforceVersionOnPatch: false });
  world.platform.changeAsOther(id, { spokeId: null });
  await tellThenApply(world, leaves('m0'));
  await apply(world);
  expect(spokeIdAndUsers(world, id)).toEqual(['g', USERS.slice(1)]);
  expect(await records(world)).toMatchObject([{ kind: 'spoke_id', settledBy: 'restore' }]);
});

it('apply finds a removed spokeId when it continues after a crash of a worker during a write', async () => {
  const { world, id } = await beside();
  await deliver(world, leaves('m0'));
  let calls = 0;
  const effect = async (kind: string) => {
    if (kind !== 'put A#') return;
    calls += 1;
    if (calls === 1) throw new Crash(kind);
  };
  await expect(applyGroup(REF, world.portsFor({ effect }))).rejects.toThrow(Crash);
  world.platform.changeAsOther(id, { spokeId: null });
  world.advance(AT_WORK_MS);
  await apply(world);
  expect(spokeIdAndUsers(world, id)).toEqual(['g', USERS.slice(1)]);
});

it('a spokeId that the platform never shows causes no drift', async () => {
  const { world } = await beside({ echoSpokeId: false });
  await tellThenApply(world, leaves('m0'));
  expect(await records(world)).toEqual([]);
  expect(world.platform.writes.map(({ action }) => action)).toEqual(['create', 'create', 'patch']);
});

const strangers = ['s0', 's1', 's2', 's3', 's4', 's5', 's6'];
const guard = { minSize: 5, maxRemovedShare: 0.5, maxRemovedCount: 100, perHourCount: 500 };

it('a difference stays open while the guard holds its removals, and ends after an operator approves them', async () => {
  const { world, id } = await settled({ guard });
  world.platform.changeAsOther(id, { name: 'Theirs', users: [...USERS, ...strangers] });
  await followThenApply(world, id, activityEvent());
  expect(shown(world, id)).toEqual({ name: 'Ours', users: [...USERS, ...strangers].sort() });
  const open = { settledBy: null, settledAtMs: null };
  expect((await records(world)).find(({ kind }) => kind === 'members_added')).toMatchObject(open);
  expect((await world.toolPorts.groups.read(REF))?.settled).toBe('held');
  await approveHold(REF, { reason: 'right' }, world.toolPorts);
  await apply(world);
  expect(shown(world, id)?.users).toEqual(USERS);
  for (const record of await records(world)) expect(record).toMatchObject({ settledBy: 'restore' });
});

it('an open difference ends with the result reported if the settings exclude the group', async () => {
  const { world, id } = await settled({ guard });
  world.platform.changeAsOther(id, { users: [...USERS, ...strangers] });
  await followThenApply(world, id, activityEvent());
  await change(world, { groups: { exclude: ['g'] } });
  await apply(world);
  expect(await records(world)).toMatchObject([{ kind: 'members_added', settledBy: 'report' }]);
});

it('a difference is recorded once and ends once, even after a crash of apply at any point', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const { world, id } = await settled();
    world.platform.changeAsOther(id, { name: 'Theirs', users: USERS.slice(2) });
    await follow(world, id, activityEvent());
    await expectSuccessOrCrash(applyGroup(REF, world.portsFor(worker)));
    world.advance(AT_WORK_MS);
    await apply(world);
    const found = await records(world);
    expect(found.map(({ kind }) => kind).sort(), where).toEqual(['members_removed', 'name']);
    for (const record of found) expect(record).toMatchObject({ initiator: 'ROLE', settledBy: 'restore' });
    expect(shown(world, id)).toEqual({ name: 'Ours', users: USERS });
    const settledAt = found.map(({ settledAtMs }) => settledAtMs);
    await followThenApply(world, id, activityEvent());
    expect((await records(world)).map(({ settledAtMs }) => settledAtMs)).toEqual(settledAt);
    expect((await world.toolPorts.groups.read(REF))?.openDrift).toEqual([]);
  });
});

it('a difference that apply stores before a crash gets its author if the feed reports the change', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const { world, id } = await settled();
    world.platform.changeAsOther(id, { name: 'Theirs' });
    await deliver(world, leaves('m0'));
    await expectSuccessOrCrash(applyGroup(REF, world.portsFor(worker)));
    await follow(world, id, activityEvent());
    world.advance(AT_WORK_MS);
    await apply(world);
    for (const { initiator } of await records(world)) expect(initiator, where).toBe('ROLE');
  });
});

it('a difference that another client reverts between a crash and the next apply is recorded as restored', async () => {
  await crashBeforeEachEffect(async (worker, where) => {
    const { world, id } = await settled();
    world.platform.changeAsOther(id, { name: 'Theirs' });
    await follow(world, id, activityEvent());
    await expectSuccessOrCrash(applyGroup(REF, world.portsFor(worker)));
    // The other client restores the name and causes a new version, so no difference remains.
    world.platform.changeAsOther(id, { name: 'Ours' });
    await follow(world, id, activityEvent({ id: 'event-2' }));
    world.advance(AT_WORK_MS);
    await apply(world);
    for (const record of await records(world)) expect(record.settledBy, where).toBe('restore');
  });
});

it('an external change that recurs with the same version is recorded again', async () => {
  const { world, id } = await settled();
  const answers = new Map<string, string | number>();
  // The platform derives the version from the content of the group.
  const asContent = (one: { version: string | number; name: string }) =>
    Object.assign(one, { version: answers.get(one.name) ?? one.version });
  for (let time = 1; time <= 2; time += 1) {
    world.platform.changeAsOther(id, { name: 'Theirs' });
    answers.set('Theirs', answers.get('Theirs') ?? world.platform.groups.get(id)?.version ?? '');
    asContent(world.platform.groups.get(id) as never);
    await followThenApply(world, id, activityEvent({ id: `event-${time}` }));
    expect(shown(world, id)?.name).toBe('Ours');
    world.advance(3 * HOUR_MS);
  }
  expect(await records(world)).toMatchObject([
    { kind: 'name', settledBy: 'restore' },
    { kind: 'name', settledBy: 'restore' },
  ]);
});

it('a write of another worker during a read does not count as an external change', async () => {
  const { world, id } = await settled();
  await deliver(world, joins('late'));
  const state = await world.toolPorts.groups.read(REF);
  if (state === undefined) throw new Error('no group');
  const at = { nowMs: world.nowMs(), wakeAtMs: world.nowMs(), isAtOnce: true };
  await world.toolPorts.groups.noteSuspected(
    state,
    { version: null, activityEvents: [], atMs: at.nowMs },
    at,
  );
  const { platforms } = world.toolPorts;
  let isFirst = true;
  const slow = {
    ...world.toolPorts,
    platforms: {
      open: async (connection: Parameters<typeof platforms.open>[0]) => {
        const platform = await platforms.open(connection);
        const get: typeof platform.groups.get = async (asked) => {
          // During this read, a second worker writes and stops before its commit.
          if (isFirst) {
            isFirst = false;
            await expect(applyGroup(REF, world.portsFor(stoppedAfterWriting()))).rejects.toThrow(Crash);
          }
          return platform.groups.get(asked);
        };
        return { ...platform, groups: { ...platform.groups, get } };
      },
    },
  };
  await applyGroup(REF, slow);
  expect(await records(world)).toEqual([]);
  await apply(world);
  expect(shown(world, id)?.users).toEqual(['u-late', ...USERS]);
  expect(await records(world)).toEqual([]);
});

function stoppedAfterWriting(): Worker {
  let hasWritten = false;
  return {
    name: 'second',
    skewMs: 0,
    isDead: () => hasWritten,
    effect: async (kind) => {
      if (hasWritten) throw new Crash(kind);
      hasWritten = kind === 'platform.patch' || kind === 'platform.put';
    },
  };
}

it('a group that another client deleted is created after a change of the mode', async () => {
  const { world, id } = await settled();
  await change(world, { mode: 'report' });
  const shown = () => [...world.platform.groups.values()].filter(({ spokeId }) => spokeId === 'g');
  world.platform.deleteAsOther(id);
  await follow(world, id, activityEvent({ type: 'EXTERNAL_GROUP_REMOVE' }));
  await applyGone(world);
  expect(shown()).toHaveLength(0);
  await change(world, { mode: 'authoritative' });
  await apply(world);
  expect(shown()).toHaveLength(1);
});

it('a suspected change stays suspected and causes no drift record if the read of the group fails', async () => {
  const { world, id } = await settled();
  world.platform.changeAsOther(id, { name: 'Theirs' });
  await follow(world, id, activityEvent());
  const { platforms } = world.toolPorts;
  const failing = {
    ...world.toolPorts,
    platforms: {
      open: async (connection: Parameters<typeof platforms.open>[0]) => {
        const platform = await platforms.open(connection);
        const get = async () => {
          throw new PlatformFailure('unavailable', 'no', { status: 500 });
        };
        return { ...platform, groups: { ...platform.groups, get } };
      },
    },
  };
  expect((await applyGroup(REF, failing)).outcome).toBe('postponed');
  expect(await records(world)).toEqual([]);
  expect((await world.toolPorts.groups.read(REF))?.suspectedChange).toBeDefined();
});

const removed = activityEvent({ id: 'removed', initiator: 'SYSTEM', type: 'EXTERNAL_GROUP_REMOVE' });
const ownWrite = activityEvent({ id: 'own', initiator: 'EXTERNAL', type: 'EXTERNAL_GROUP_MEMBER_ADD' });
const ownCreation = activityEvent({ id: 'made', initiator: 'EXTERNAL', type: 'EXTERNAL_GROUP_ADD' });

async function deleted() {
  const { world, id } = await settled();
  world.platform.deleteAsOther(id);
  await deliver(world, joins('late'));
  await applyGone(world);
  expect(await records(world)).toMatchObject([{ kind: 'deleted', initiator: 'UNKNOWN', platformId: id }]);
  return {
    world,
    id,
    again: [...world.platform.groups.values()].find(({ spokeId }) => spokeId === 'g')?.id ?? '',
  };
}
const named = [{ kind: 'deleted', initiator: 'SYSTEM', eventIds: ['removed'] }];

it.each<[string, (old: string, again: string) => Readonly<Record<string, readonly ActivityEvent[]>>[]]>([
  ['both together', (old, again) => [{ [old]: [ownWrite, removed], [again]: [ownCreation, ownWrite] }]],
  ['the new group first', (old, again) => [{ [again]: [ownCreation, ownWrite] }, { [old]: [removed] }]],
  ['the write of groupsync first', (old) => [{ [old]: [ownWrite] }, { [old]: [removed] }]],
])('a deletion is attributed when the feed reports the events in this order: %s', async (_, reports) => {
  const { world, id, again } = await deleted();
  expect(again).not.toBe('');
  for (const step of reports(id, again)) await followAll(world, step);
  expect(await records(world)).toMatchObject(named);
  expect((await world.toolPorts.groups.read(REF))?.unattributed).toEqual([]);
});

it('a deletion is not attributed by a report that arrives more than a day later', async () => {
  const { world, id } = await deleted();
  world.advance(24 * HOUR_MS);
  await follow(world, id, removed);
  expect(await records(world)).toMatchObject([{ initiator: 'UNKNOWN' }]);
  expect((await world.toolPorts.groups.read(REF))?.unattributed).toEqual([]);
});

it('an event about a group that the platform shows malformed marks the group as suspected', async () => {
  const { world, id } = await settled();
  world.platform.malformed.add(id);
  await follow(world, id, removed);
  expect((await world.toolPorts.groups.read(REF))?.suspectedChange).toMatchObject({ version: null });
});

it('a deletion is attributed, even if the feed reports the deletion while apply processes it', async () => {
  const { world, id } = await settled();
  world.platform.deleteAsOther(id);
  await deliver(world, joins('late'));
  const seen = await world.toolPorts.groups.readMany([REF]);
  await applyGone(world);
  const readMany = async () => seen;
  const owners = async () => ({ now: new Map([[platformGroupId(id), REF]]), before: new Map() });
  const { groups, claims } = world.toolPorts;
  const late = { groups: { ...groups, readMany }, claims: { ...claims, owners } };
  await follow({ ...world, toolPorts: { ...world.toolPorts, ...late } }, id, removed);
  expect(await records(world)).toMatchObject(named);
});

it('a deletion is attributed although another worker uses a list from before the deletion', async () => {
  const { world, id } = await settled();
  const old = [...world.platform.groups.values()].map((group) => ({ ...group }));
  world.platform.deleteAsOther(id);
  world.platform.addForeign({ name: 'Beside', spokeId: 'beside', users: [] });
  await deliver(world, joins('late'));
  await applyGone(world);
  const { platforms } = world.toolPorts;
  const open: typeof platforms.open = async (connection) => {
    const platform = await platforms.open(connection);
    const list: typeof platform.groups.list = async (ageMs) =>
      ageMs > 0 ? (old as never) : platform.groups.list(ageMs);
    return { ...platform, groups: { ...platform.groups, list } };
  };
  await deliver(world, leaves('m0', 30));
  await applyGroup(REF, { ...world.toolPorts, platforms: { ...platforms, open } });
  await follow(world, id, removed);
  expect(await records(world)).toMatchObject([{ kind: 'deleted', initiator: 'SYSTEM' }]);
});

it('a platform group keeps its claim if another worker links it again during an unlink', async () => {
  const { world, id } = await settled();
  world.platform.hidden = (asked) => asked === id;
  await tellThenApply(world, joins('late'));
  world.advance(60_000);
  const { claims } = world.toolPorts;
  const retire: typeof claims.retire = async (...retired) => {
    world.platform.hidden = () => false;
    await applyGroup(REF, world.portsFor());
    await claims.retire(...retired);
  };
  await applyGroup(REF, { ...world.toolPorts, claims: { ...claims, retire } });
  await deliver(world, event('group.upserted', { group: { id: 'h', name: 'Other' } }, 5));
  const other = { connection: CONNECTION, group: groupId('h') };
  expect(await adoptGroup(other, platformGroupId(id), world.toolPorts)).toMatchObject({
    kind: 'owned',
    owner: REF,
  });
});

it('a difference is not attributed to a client whose change is older than the difference', async () => {
  const { world, id } = await settled();
  world.platform.deleteAsOther(id);
  await follow(world, id, activityEvent({ id: 'add', type: 'EXTERNAL_GROUP_MEMBER_ADD' }));
  await applyGone(world);
  await follow(world, id, removed);
  expect(await records(world)).toMatchObject([{ kind: 'deleted', initiator: 'SYSTEM' }]);
});

it.each([
  ['attributed once the feed reports it', 0, 'ROLE'],
  ['not attributed to a client that changes the copied group a month later', 30 * 24, 'UNKNOWN'],
])('a duplicate spokeId that a sweep finds is %s', async (_, hours, initiator) => {
  const { world, id } = await settled();
  const twin = world.platform.copyAsOther(id);
  await sweep(await world.connection(), {
    ...world.toolPorts,
    feed: { read: async () => undefined },
  } as never);
  expect(await records(world)).toMatchObject([{ kind: 'duplicate_spoke_id', initiator: 'UNKNOWN' }]);
  world.advance(hours * HOUR_MS);
  await follow(world, twin, activityEvent({ id: 'rename', at: new Date(world.nowMs()).toISOString() }));
  expect(await records(world)).toMatchObject([{ kind: 'duplicate_spoke_id', initiator }]);
});
