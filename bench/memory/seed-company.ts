import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { snapshotMessage, userMessages } from '../../shared/directory/reading/events.ts';
import { groupId, memberId } from '../../shared/domain/ids.ts';
import {
  groupIndexSort,
  groupKey,
  IN_SYNC,
  indexPartition,
  memberKey,
  READER_GROUP_PREFIX,
  readerKey,
  shardOf,
  userKey,
} from '../../shared/store/keys.ts';
import { type Attributes, type Item, itemsOf } from '../../shared/store/table.ts';
import { CONNECTION, type Rig } from './rig.ts';

const MODEL = 'model';
const MODEL_ADDRESS = 'model@bench.test';
const HOUR_MS = 3_600_000;

/**
 * Stores the users, groups and direct members of a company without ingest, because ingest of a million memberships
 * takes too long. The function ingests one group with one member and copies the stored items. Nested groups are stored
 * with the members of their inner groups.
 */
export async function seedCompany(rig: Rig, { users = [], groups = [] }: WorldInput): Promise<void> {
  const { table } = rig.ports;
  const [groupModel, memberModel, userModel] = await storeModel(rig);
  for (const { id, primaryEmail } of users) {
    const attributes = JSON.parse(
      JSON.stringify(userModel['attributes']).replaceAll(MODEL_ADDRESS, primaryEmail),
    ) as Attributes;
    await table.put({ ...userModel, ...userKey(CONNECTION, memberId(id)), member: id, attributes });
  }
  const membersOf = new Map(groups.map(({ id, members = [] }) => [id, members]));
  for (const { id, name = '', members = [] } of groups) {
    const ref = { connection: CONNECTION, group: groupId(id) };
    const named = { ...(groupModel['name'] as Attributes), value: name };
    const gpk = indexPartition('groups', CONNECTION, shardOf(ref.group));
    const index = { gpk, gsk: groupIndexSort(IN_SYNC, ref.group) };
    await table.put({ ...groupModel, ...groupKey(ref), ...index, group: id, name: named });
    for (const { member } of members.flatMap((one) => membersOf.get(one.member) ?? [one]))
      await table.put({ ...memberModel, ...memberKey(ref, memberId(member)), member });
  }
}

async function storeModel(rig: Rig): Promise<readonly [group: Item, member: Item, user: Item]> {
  const ref = { connection: CONNECTION, group: groupId(MODEL) };
  const member = memberId(MODEL);
  const origin = { readId: MODEL, stampMs: rig.clock() };
  const attributes = new Map([
    ['email', MODEL_ADDRESS],
    ['userName', MODEL_ADDRESS],
  ]);
  const bodies = [
    ...userMessages([{ id: member, attributes, isActive: true }], origin),
    snapshotMessage({ id: ref.group, name: MODEL }, [member], origin),
  ];
  for (const body of bodies) rig.events.send({ body, attributes: { connection: CONNECTION } });
  await rig.ingestQueued();
  const { table } = rig.ports;
  const keys = [groupKey(ref), memberKey(ref, member), userKey(CONNECTION, member)];
  const [group, register, user] = await Promise.all(keys.map((key) => table.get(key)));
  if (group === undefined || register === undefined || user === undefined)
    throw new Error('expected a group, a member and a user to copy');
  for (const key of keys) await table.delete(key);
  return [group, register, user];
}

/** Stores for every group that two reads had the same result. The next read of each group is then due one day later. */
export async function settleGroups(rig: Rig): Promise<void> {
  const { table } = rig.ports;
  const partition = readerKey(CONNECTION).pk;
  const items = await itemsOf(table, { partition, prefix: READER_GROUP_PREFIX });
  const dueMs = Math.ceil((rig.clock() + 23 * HOUR_MS) / HOUR_MS) * HOUR_MS;
  for (const item of items) {
    await table.put({ ...item, agreedMs: 0, dueMs });
  }
}
