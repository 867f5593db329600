import { connectionName, type GroupRef, groupId, type PlatformGroupId } from '../domain/ids.ts';
import type { Claim, ClaimStore } from '../sync/ports/claims.ts';
import { plain } from './item-form.ts';
import { claimKey, claimPartition, SHARDS } from './keys.ts';
import { all, any, type Condition, equal, exists, type Item, missing, type Table } from './table.ts';

/** The attribute of a retired claim. A claim without this attribute does not expire. */
const RETIRED = 'expiresAt';

const freeOrOwn = (owner: GroupRef): Condition => any(missing('pk'), exists(RETIRED), ownedBy(owner));
const ownedBy = ({ connection, group }: GroupRef): Condition =>
  all(equal('connection', connection), equal('group', group));

const claimOf = ({ platformId, createdAtMs }: Item): Claim => ({
  id: String(platformId) as PlatformGroupId,
  ...(createdAtMs !== undefined && { createdAtMs: Number(createdAtMs) }),
});

export function createClaimStore(table: Table): ClaimStore {
  return {
    async claim(company, id, owner, createdAtMs) {
      const set = { platformId: id, connection: owner.connection, group: owner.group };
      const change = { set, setIfMissing: plain({ createdAtMs }), remove: [RETIRED] };
      return (await table.update(claimKey(company, id), change, freeOrOwn(owner))).written;
    },

    async takeOver(company, id, { from, to }) {
      const set = {
        connection: to.connection,
        group: to.group,
        previousConnection: from.connection,
        previousGroup: from.group,
      };
      return (await table.update(claimKey(company, id), { set, remove: [RETIRED] }, ownedBy(from))).written;
    },

    async previousOwner(company, id) {
      const item = await table.get(claimKey(company, id));
      if (item?.['previousGroup'] === undefined) return undefined;
      return {
        connection: connectionName(String(item['previousConnection'])),
        group: groupId(String(item['previousGroup'])),
      };
    },

    async retire(company, id, { owner, untilMs }) {
      const set = { [RETIRED]: Math.ceil(untilMs / 1_000) };
      await table.update(claimKey(company, id), { set }, ownedBy(owner));
    },

    async claimedBy(company, connection) {
      const claimed: Claim[] = [];
      for (let shard = 0; shard < SHARDS; shard += 1) {
        for await (const page of table.query({ partition: claimPartition(company, shard) })) {
          const own = page.filter((item) => item['connection'] === connection && !(RETIRED in item));
          claimed.push(...own.map(claimOf));
        }
      }
      return claimed;
    },

    async owners(company, ids) {
      const items = await table.getMany(ids.map((id) => claimKey(company, id)));
      const ownerOf = ({ platformId, connection, group }: Item): [PlatformGroupId, GroupRef] => [
        String(platformId) as PlatformGroupId,
        { connection: connectionName(String(connection)), group: groupId(String(group)) },
      ];
      const owners = (isOver: boolean) =>
        new Map(items.filter((item) => RETIRED in item === isOver).map(ownerOf));
      return { now: owners(false), before: owners(true) };
    },
  };
}
