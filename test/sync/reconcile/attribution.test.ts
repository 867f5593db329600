import { describe, expect, it } from 'vitest';
import type { Trace } from '../../../shared/domain/drift.ts';
import { groupId, platformGroupId } from '../../../shared/domain/ids.ts';
import { adoptGroup } from '../../../shared/operate/ownership.ts';
import { applyGroup } from '../../../shared/sync/apply/apply.ts';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';
import { CONNECTION } from '../../support/engine/world.ts';
import {
  applyGone,
  event,
  follow,
  followAll,
  HOUR_MS,
  joins,
  leaves,
  REF,
  records,
  settled,
  tell,
  tellThenApply,
  trace,
} from './support/drift.ts';

describe('a deletion that apply meets before the feed has told of it', () => {
  const removed = trace({ id: 'removed', initiator: 'SYSTEM', type: 'EXTERNAL_GROUP_REMOVE' });
  const ownWrite = trace({ id: 'own', initiator: 'EXTERNAL', type: 'EXTERNAL_GROUP_MEMBER_ADD' });
  const ownCreation = trace({ id: 'made', initiator: 'EXTERNAL', type: 'EXTERNAL_GROUP_ADD' });

  async function deleted(settings: Readonly<Record<string, unknown>> = {}) {
    const { world, id } = await settled(settings);
    world.platform.deleteAsOther(id);
    if ('drift' in settings) world.platform.addForeign({ name: 'Beside', spokeId: 'beside', users: [] });
    await tell(world, joins('late'));
    await applyGone(world);
    expect(await records(world)).toMatchObject([{ kind: 'deleted', initiator: 'UNKNOWN', platformId: id }]);
    return {
      world,
      id,
      again: [...world.platform.groups.values()].find(({ spokeId }) => spokeId === 'g')?.id ?? '',
    };
  }
  const named = [{ kind: 'deleted', initiator: 'SYSTEM', eventIds: ['removed'] }];

  it.each<[string, (old: string, again: string) => Readonly<Record<string, readonly Trace[]>>[]]>([
    ['at once', (old, again) => [{ [old]: [ownWrite, removed], [again]: [ownCreation, ownWrite] }]],
    [
      'about the new group first',
      (old, again) => [{ [again]: [ownCreation, ownWrite] }, { [old]: [removed] }],
    ],
    ['about our own write first', (old) => [{ [old]: [ownWrite] }, { [old]: [removed] }]],
  ])('is named when it tells of it: %s', async (_, told) => {
    const { world, id, again } = await deleted();
    expect(again).not.toBe('');
    for (const step of told(id, again)) await followAll(world, step);
    expect(await records(world)).toMatchObject(named);
    expect((await world.onlooker.groups.read(REF))?.unattributed).toEqual([]);
  });

  it('is named where the policy lets it stand', async () => {
    const { world, id, again } = await deleted({ drift: 'report' });
    expect(again).toBe('');
    await follow(world, id, removed);
    expect(await records(world)).toMatchObject(named);
  });

  it('is named where it was told while apply was at it', async () => {
    const { world, id } = await settled();
    world.platform.deleteAsOther(id);
    await tell(world, joins('late'));
    const seen = await world.onlooker.groups.readMany([REF]);
    await applyGone(world);
    const readMany = async () => seen;
    const owners = async () => ({ now: new Map([[platformGroupId(id), REF]]), before: new Map() });
    const { groups, claims } = world.onlooker;
    const late = { groups: { ...groups, readMany }, claims: { ...claims, owners } };
    await follow({ ...world, onlooker: { ...world.onlooker, ...late } }, id, removed);
    expect(await records(world)).toMatchObject(named);
  });
});

describe('a deletion that another worker takes for a group still there', () => {
  it.each(['restore', 'report'])('from an old listing is named all the same, under %s', async (drift) => {
    const { world, id } = await settled({ drift });
    const old = [...world.platform.groups.values()].map((group) => ({ ...group }));
    world.platform.deleteAsOther(id);
    world.platform.addForeign({ name: 'Beside', spokeId: 'beside', users: [] });
    await tell(world, joins('late'));
    await applyGone(world);
    const { platforms } = world.onlooker;
    const open: typeof platforms.open = async (connection) => {
      const platform = await platforms.open(connection);
      const list: typeof platform.groups.list = async (ageMs) =>
        ageMs > 0 ? (old as never) : platform.groups.list(ageMs);
      return { ...platform, groups: { ...platform.groups, list } };
    };
    await tell(world, leaves('m0', 30));
    await applyGroup(REF, { ...world.onlooker, platforms: { ...platforms, open } });
    await follow(world, id, trace({ id: 'removed', initiator: 'SYSTEM', type: 'EXTERNAL_GROUP_REMOVE' }));
    expect(await records(world)).toMatchObject([{ kind: 'deleted', initiator: 'SYSTEM' }]);
  });

  it('and takes back while the first still lets go of it stays ours', async () => {
    const { world, id } = await settled();
    world.platform.hidden = (asked) => asked === id;
    await tellThenApply(world, joins('late'));
    world.advance(60_000);
    const { claims } = world.onlooker;
    const second = { name: 'second', skewMs: 0, effect: async () => {}, isDead: () => false };
    const retire: typeof claims.retire = async (...told) => {
      world.platform.hidden = () => false;
      await applyGroup(REF, world.portsFor(second));
      await claims.retire(...told);
    };
    await applyGroup(REF, { ...world.onlooker, claims: { ...claims, retire } });
    await tell(world, event('group.upserted', { group: { id: 'h', name: 'Other' } }, 5));
    const other = { connection: CONNECTION, group: groupId('h') };
    expect(await adoptGroup(other, platformGroupId(id), world.onlooker)).toMatchObject({
      kind: 'owned',
      owner: REF,
    });
  });
});

describe('a difference', () => {
  it('is not put down to whoever did something else before it', async () => {
    const { world, id } = await settled();
    world.platform.deleteAsOther(id);
    await follow(world, id, trace({ id: 'add', type: 'EXTERNAL_GROUP_MEMBER_ADD' }));
    await applyGone(world);
    await follow(world, id, trace({ id: 'removed', initiator: 'SYSTEM', type: 'EXTERNAL_GROUP_REMOVE' }));
    expect(await records(world)).toMatchObject([{ kind: 'deleted', initiator: 'SYSTEM' }]);
  });

  it.each([
    ['named once the feed tells of it', 0, 'ROLE'],
    ['not put down to whoever touches it a month later', 30 * 24, 'UNKNOWN'],
  ])('that a sweep met, a second group of one spokeId, is %s', async (_, hours, initiator) => {
    const { world, id } = await settled();
    const twin = world.platform.copyAsOther(id);
    const connection = await world.onlooker.connections.find(CONNECTION);
    if (connection === undefined) throw new Error('no connection');
    await sweep(connection, { ...world.onlooker, feed: { read: async () => undefined } } as never);
    expect(await records(world)).toMatchObject([{ kind: 'duplicate_spoke_id', initiator: 'UNKNOWN' }]);
    world.advance(hours * HOUR_MS);
    await follow(world, twin, trace({ id: 'rename', at: new Date(world.nowMs()).toISOString() }));
    expect(await records(world)).toMatchObject([{ kind: 'duplicate_spoke_id', initiator }]);
  });
});
