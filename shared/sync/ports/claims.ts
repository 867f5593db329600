import type { ConnectionName, GroupRef, PlatformGroupId } from '../../domain/ids.ts';

export interface Owners {
  readonly now: ReadonlyMap<PlatformGroupId, GroupRef>;
  /** The last owners of platform groups that are gone, while they are stored. */
  readonly before: ReadonlyMap<PlatformGroupId, GroupRef>;
}

export interface Claim {
  readonly id: PlatformGroupId;
  /**
   * The time at which groupsync learned that its own POST had created the platform group. Missing for an adopted group.
   */
  readonly createdAtMs?: number;
}

/** One platform group has one owner, in all connections of a company. */
export interface ClaimStore {
  /**
   * Claims the platform group. `createdAtMs` is given if `owner` created the platform group.
   * @returns true also if `owner` had the claim already; false if another group has the claim
   */
  claim(company: string, id: PlatformGroupId, owner: GroupRef, createdAtMs?: number): Promise<boolean>;
  /**
   * Moves the claim from one group to another, and stores the previous owner. Returns false if `from` no longer owns
   * the platform group.
   */
  takeOver(
    company: string,
    id: PlatformGroupId,
    how: { readonly from: GroupRef; readonly to: GroupRef },
  ): Promise<boolean>;
  /** The directory group from which the claim was taken over; undefined if the claim was not taken over. */
  previousOwner(company: string, id: PlatformGroupId): Promise<GroupRef | undefined>;
  /**
   * Ends the claim of `owner` to a platform group that is gone. Any directory group may then claim the platform group.
   * Its previous owner stays stored at least until `untilMs`.
   */
  retire(
    company: string,
    id: PlatformGroupId,
    how: { readonly owner: GroupRef; readonly untilMs: number },
  ): Promise<void>;
  /** The claims of the connection, in no order. */
  claimedBy(company: string, connection: ConnectionName): Promise<readonly Claim[]>;
  /** Returns the owners of these platform groups. A platform group that never had an owner is missing in both maps. */
  owners(company: string, ids: readonly PlatformGroupId[]): Promise<Owners>;
}
