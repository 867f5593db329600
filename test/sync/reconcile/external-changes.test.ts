import { expect, it } from 'vitest';
import type { DriftKind } from '../../../shared/domain/drift.ts';
import { planGroup } from '../../../shared/sync/apply/plan-group.ts';
import { followFeed } from '../../../shared/sync/reconcile/feed.ts';
import type { HeldGroup } from '../../../simulate/platform/facts.ts';
import type { InitiatorType } from '../../../simulate/platform/rules.ts';
import type { World } from '../../support/engine/world.ts';
import { apply, applyGone, change, HOUR_MS, REF, records, settled, USERS } from './support/drift.ts';

type Change = readonly [kind: DriftKind, make: (world: World, id: string, by: InitiatorType) => void];

const CHANGES: Readonly<Record<string, Change>> = {
  renamed: ['name', ({ platform }, id, by) => platform.changeAsOther(id, { name: 'Theirs' }, by)],
  joined: [
    'members_added',
    ({ platform }, id, by) => platform.changeAsOther(id, { users: [...USERS, 'stranger'] }, by),
  ],
  left: [
    'members_removed',
    ({ platform }, id, by) => platform.changeAsOther(id, { users: USERS.slice(1) }, by),
  ],
  deleted: ['deleted', ({ platform }, id, by) => platform.deleteAsOther(id, by)],
  recreated: [
    'recreated',
    ({ platform }, id, by) => platform.asOther({ kind: 'recreate', group: 'g' }, id, by),
  ],
  relabelled: ['spoke_id', ({ platform }, id, by) => platform.changeAsOther(id, { spokeId: 'theirs' }, by)],
  unlabelled: ['spoke_id', ({ platform }, id, by) => platform.changeAsOther(id, { spokeId: null }, by)],
  copied: [
    'duplicate_spoke_id',
    ({ platform }, id, by) => platform.asOther({ kind: 'twin', group: 'g' }, id, by),
  ],
};
const INITIATORS = ['ROLE', 'SYSTEM', 'EXTERNAL'] as const;
const CASES = (['authoritative', 'report'] as const).flatMap((mode) =>
  Object.keys(CHANGES).flatMap((change) => INITIATORS.map((by) => [change, by, mode] as const)),
);

const ourselves = { name: 'Ours', spokeId: 'g', users: USERS };
const plain = (group: HeldGroup | undefined) =>
  group && { name: group.name, spokeId: group.spokeId, users: [...group.users].sort() };

/** Creates a linked group, and reads the feed up to the current time. */
async function followed(mode: string) {
  const { world, id } = await settled();
  await change(world, { mode });
  await apply(world);
  world.platform.addForeign({ name: 'Beside', spokeId: 'beside', users: [] });
  const connection = await world.connection();
  const read = async () => {
    world.advance(HOUR_MS);
    return followFeed(connection, world.toolPorts as never, Number.POSITIVE_INFINITY);
  };
  await read();
  return { world, id, read };
}

it.each(CASES)(
  'the record of an external change (%s by %s in the mode %s) contains its kind, its author and its end',
  async (what, by, mode) => {
    const [kind, make] = CHANGES[what] as Change;
    const { world, id, read } = await followed(mode);
    make(world, id, by);
    const changed = plain(world.platform.groups.get(id));
    expect((await read())?.failure).toBeUndefined();
    await applyGone(world);
    await read();
    await applyGone(world);
    const settledBy = mode === 'authoritative' && kind !== 'duplicate_spoke_id' ? 'restore' : 'report';
    expect(await records(world)).toMatchObject([
      { kind, initiator: by, settledBy, settledAtMs: expect.any(Number), eventIds: [expect.any(String)] },
    ]);
    if (mode === 'report') return expect(plain(world.platform.groups.get(id))).toEqual(changed);
    const linked = (await world.toolPorts.groups.read(REF))?.link?.id;
    expect(plain(world.platform.groups.get(linked ?? ''))).toEqual(ourselves);
  },
);

it('changes of two initiators between two reads of a group each get their author, and are planned', async () => {
  const { world, id, read } = await followed('authoritative');
  world.platform.changeAsOther(id, { name: 'Theirs' }, 'ROLE');
  world.platform.changeAsOther(id, { users: [...USERS, 'stranger'] }, 'SYSTEM');
  await read();
  expect(await planGroup(REF, world.toolPorts)).toMatchObject({
    ...{ action: 'put', held: [] },
    changes: [{ kind: 'rename' }, { before: 'stranger', reason: expect.stringContaining('another client') }],
  });
  await applyGone(world);
  expect((await records(world)).map(({ kind, initiator }) => [kind, initiator]).sort()).toEqual([
    ['members_added', 'SYSTEM'],
    ['name', 'ROLE'],
  ]);
  expect(plain(world.platform.groups.get(id))).toEqual(ourselves);
});
