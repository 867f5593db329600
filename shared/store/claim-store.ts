import { connectionName, type GroupRef, groupId, type PlatformGroupId } from '../domain/ids.ts';
import type { ClaimStore } from '../sync/ports/claims.ts';
import { claimKey, claimPartition, SHARDS } from './keys.ts';
import { all, any, type Condition, equal, exists, type Item, missing, type Table } from './table.ts';

/** Only a claim that is over ends by itself. */
const RETIRED = 'expiresAt';

const freeOrOwn = (owner: GroupRef): Condition => any(missing('pk'), exists(RETIRED), ownedBy(owner));
const ownedBy = ({ connection, group }: GroupRef): Condition =>
  all(equal('connection', connection), equal('group', group));

export function createClaimStore(table: Table): ClaimStore {
  return {
    claim: (company, id, owner) =>
      table.put(
        { ...claimKey(company, id), platformId: id, connection: owner.connection, group: owner.group },
        freeOrOwn(owner),
      ),

    async drop(company, id, owner) {
      await table.delete(claimKey(company, id), ownedBy(owner));
    },

    async retire(company, id, { owner, untilMs }) {
      const set = { [RETIRED]: Math.ceil(untilMs / 1_000) };
      await table.update(claimKey(company, id), { set }, ownedBy(owner));
    },

    async count(company, connection) {
      let count = 0;
      for (let shard = 0; shard < SHARDS; shard += 1) {
        for await (const page of table.query({ partition: claimPartition(company, shard) }))
          count += page.filter((item) => item['connection'] === connection && !(RETIRED in item)).length;
      }
      return count;
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
