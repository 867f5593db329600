import type { ConnectionName, GroupRef, PlatformGroupId } from '../../domain/ids.ts';

export interface Owners {
  readonly now: ReadonlyMap<PlatformGroupId, GroupRef>;
  /** Of platform groups that are gone, as long as it is remembered. */
  readonly before: ReadonlyMap<PlatformGroupId, GroupRef>;
}

export interface Claim {
  readonly id: PlatformGroupId;
  /** When groupsync learned that its own POST had created the platform group. Missing for an adopted group. */
  readonly createdAtMs?: number;
}

/** One platform group has one owner, in all connections of a company. */
export interface ClaimStore {
  /**
   * Claims the platform group. `createdAtMs` is given if `owner` created it.
   * @returns true also if `owner` had the claim already; false if another group has it
   */
  claim(company: string, id: PlatformGroupId, owner: GroupRef, createdAtMs?: number): Promise<boolean>;
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
  /** The claims of the connection, in no order. */
  claimedBy(company: string, connection: ConnectionName): Promise<readonly Claim[]>;
  /** Which directory group owns each of these platform groups; groups that never had an owner are in neither. */
  owners(company: string, ids: readonly PlatformGroupId[]): Promise<Owners>;
}
