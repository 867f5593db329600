import {
  type ConnectionName,
  connectionName,
  type GroupRef,
  groupId,
  type PlatformGroupId,
} from '../domain/ids.ts';
import type { Claim, Owners } from '../sync/ports/claims.ts';
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

/** Each platform group has at most one owner among all connections of a company. */
export function createClaimStore(table: Table) {
  return {
    /**
     * Claims the platform group. `createdAtMs` is given if `owner` created the platform group.
     * @returns true if `owner` now has the claim, even if it had the claim before; false if another group has the claim
     */
    async claim(company: string, id: PlatformGroupId, owner: GroupRef, createdAtMs?: number) {
      const set = { platformId: id, connection: owner.connection, group: owner.group };
      const change = { set, setIfMissing: plain({ createdAtMs }), remove: [RETIRED] };
      return (await table.update(claimKey(company, id), change, freeOrOwn(owner))).written;
    },

    /** Moves the claim, and stores the previous owner. Returns false if `from` no longer has the claim. */
    async takeOver(
      company: string,
      id: PlatformGroupId,
      { from, to }: { readonly from: GroupRef; readonly to: GroupRef },
    ) {
      const set = {
        connection: to.connection,
        group: to.group,
        previousConnection: from.connection,
        previousGroup: from.group,
      };
      return (await table.update(claimKey(company, id), { set, remove: [RETIRED] }, ownedBy(from))).written;
    },

    /** The directory group from which the claim was taken over; undefined if the claim was not taken over. */
    async previousOwner(company: string, id: PlatformGroupId): Promise<GroupRef | undefined> {
      const item = await table.get(claimKey(company, id));
      if (item?.['previousGroup'] === undefined) return undefined;
      return {
        connection: connectionName(String(item['previousConnection'])),
        group: groupId(String(item['previousGroup'])),
      };
    },

    /**
     * Ends the claim of `owner` to a platform group that is gone or was released, so that any directory group may claim
     * it. `owner` stays stored as the last owner at least until `untilMs`.
     */
    async retire(
      company: string,
      id: PlatformGroupId,
      { owner, untilMs }: { readonly owner: GroupRef; readonly untilMs: number },
    ) {
      const set = { [RETIRED]: Math.ceil(untilMs / 1_000) };
      await table.update(claimKey(company, id), { set }, ownedBy(owner));
    },

    async claimedBy(company: string, connection: ConnectionName): Promise<readonly Claim[]> {
      const claimed: Claim[] = [];
      for (let shard = 0; shard < SHARDS; shard += 1) {
        for await (const page of table.query({ partition: claimPartition(company, shard) })) {
          const own = page.filter((item) => item['connection'] === connection && !(RETIRED in item));
          claimed.push(...own.map(claimOf));
        }
      }
      return claimed;
    },

    /** Returns the owners of these platform groups. Platform groups without a stored owner are in neither map. */
    async owners(company: string, ids: readonly PlatformGroupId[]): Promise<Owners> {
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
