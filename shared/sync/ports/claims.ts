import type { ConnectionName, GroupRef, PlatformGroupId } from '../../domain/ids.ts';

export interface Owners {
  readonly now: ReadonlyMap<PlatformGroupId, GroupRef>;
  /** The last owners of platform groups that are gone or were released. `retire` sets how long an owner is stored. */
  readonly before: ReadonlyMap<PlatformGroupId, GroupRef>;
}

export interface Claim {
  readonly id: PlatformGroupId;
  /** The time at which groupsync learned that its POST created the platform group. Absent for an adopted group. */
  readonly createdAtMs?: number;
}

/** Each platform group has at most one owner among all connections of a company. */
export interface ClaimStore {
  /**
   * Claims the platform group. `createdAtMs` is given if `owner` created the platform group.
   * @returns true if `owner` now has the claim, even if it had the claim before; false if another group has the claim
   */
  claim(company: string, id: PlatformGroupId, owner: GroupRef, createdAtMs?: number): Promise<boolean>;
  /** Moves the claim, and stores the previous owner. Returns false if `from` no longer has the claim. */
  takeOver(
    company: string,
    id: PlatformGroupId,
    how: { readonly from: GroupRef; readonly to: GroupRef },
  ): Promise<boolean>;
  /** The directory group from which the claim was taken over; undefined if the claim was not taken over. */
  previousOwner(company: string, id: PlatformGroupId): Promise<GroupRef | undefined>;
  /**
   * Ends the claim of `owner` to a platform group that is gone or was released, so that any directory group may claim
   * it. `owner` stays stored as the last owner at least until `untilMs`.
   */
  retire(
    company: string,
    id: PlatformGroupId,
    how: { readonly owner: GroupRef; readonly untilMs: number },
  ): Promise<void>;
  claimedBy(company: string, connection: ConnectionName): Promise<readonly Claim[]>;
  /** Returns the owners of these platform groups. Platform groups without a stored owner are in neither map. */
  owners(company: string, ids: readonly PlatformGroupId[]): Promise<Owners>;
}
