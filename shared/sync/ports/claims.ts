import type { ConnectionName, GroupRef, PlatformGroupId } from '../../domain/ids.ts';

export interface Owners {
  readonly now: ReadonlyMap<PlatformGroupId, GroupRef>;
  /** Of platform groups that are gone, as long as it is remembered. */
  readonly before: ReadonlyMap<PlatformGroupId, GroupRef>;
}

/** One platform group has one owner, in all connections of a company. */
export interface ClaimStore {
  /** Claims the platform group. @returns true also if `owner` had the claim already; false if another group has it */
  claim(company: string, id: PlatformGroupId, owner: GroupRef): Promise<boolean>;
  /** Moves the claim from one group to another, and stores the previous owner; false if `from` no longer owns it. */
  takeOver(
    company: string,
    id: PlatformGroupId,
    how: { readonly from: GroupRef; readonly to: GroupRef },
  ): Promise<boolean>;
  /** The group from which the claim was taken over, if it was. */
  previousOwner(company: string, id: PlatformGroupId): Promise<GroupRef | undefined>;
  /**
   * Ends the claim of `owner` to a platform group that is gone. Any directory group may claim it from now on; its previous
   * owner stays known at least until `untilMs`.
   */
  retire(
    company: string,
    id: PlatformGroupId,
    how: { readonly owner: GroupRef; readonly untilMs: number },
  ): Promise<void>;
  /** The platform groups that the connection has claimed, in no order. */
  claimedBy(company: string, connection: ConnectionName): Promise<readonly PlatformGroupId[]>;
  /** Which directory group owns each of these platform groups; groups that never had an owner are in neither. */
  owners(company: string, ids: readonly PlatformGroupId[]): Promise<Owners>;
}
