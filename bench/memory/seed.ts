import {
  type GroupRef,
  groupId,
  platformGroupId,
  platformUserId,
  versionToken,
} from '../../shared/domain/ids.ts';
import {
  claimKey,
  groupIndexSort,
  groupKey,
  IN_SYNC,
  indexPartition,
  shardOf,
} from '../../shared/store/keys.ts';
import type { Attributes, Item } from '../../shared/store/table.ts';
import type { HeldGroup } from '../../simulate/platform/facts.ts';
import { COMPANY } from './platform.ts';
import { CONNECTION, type Rig } from './rig.ts';

/**
 * Adds synced groups with this many members by copying the items of the group `d0`. The copies are complete enough for
 * jobs that do not read members (sweep, feed).
 */
export async function seedGroups(rig: Rig, groups: number, members: number): Promise<void> {
  const { table } = rig.ports;
  const model = await table.get(groupKey(refOf('d0')));
  if (model === undefined) throw new Error('expected the group d0 to copy');
  for (let n = 1; n < groups; n += 1) {
    const ref = refOf(`d${n}`);
    const users = Array.from({ length: members }, (_, user) => `u${(n * 5 + user) % (groups * 5)}`);
    const { id, version } = rig.platform.seed({ name: `Group d${n}`, spokeId: `d${n}`, users });
    const item: Item = {
      ...model,
      ...groupKey(ref),
      group: ref.group,
      name: { ...(model['name'] as Attributes), value: `Group d${n}` },
      link: { ...(model['link'] as Attributes), id, version },
      gpk: indexPartition('groups', CONNECTION, shardOf(ref.group)),
      gsk: groupIndexSort(IN_SYNC, ref.group),
    };
    await table.put(item);
    await table.put({ ...claimKey(COMPANY, id), platformId: id, connection: CONNECTION, group: ref.group });
  }
}

/** Writes a group with one more member, which creates an event in the feed. */
export async function rewrite(rig: Rig, { id, spokeId, users, version }: HeldGroup): Promise<void> {
  const platform = await rig.ports.platforms.open(rig.connection);
  const joined = [...users, `joins-${id}`].map(platformUserId);
  const written = await platform.groups.patch(platformGroupId(id), { users: joined }, versionToken(version));
  await rig.ports.table.update(groupKey(refOf(spokeId ?? '')), { set: { version: written.version } });
}

const refOf = (group: string): GroupRef => ({ connection: CONNECTION, group: groupId(group) });
