import type { GroupRef, PlatformGroupId } from '../../domain/ids.ts';

/** One platform group has one owner, in all connections of a company. */
export interface ClaimStore {
  /** Claims for `owner`; true also where the claim was its own already, false where another group has it. */
  claim(company: string, id: PlatformGroupId, owner: GroupRef): Promise<boolean>;
  /** Drops the claim if `owner` has it. */
  drop(company: string, id: PlatformGroupId, owner: GroupRef): Promise<void>;
  /** Which directory group owns each of these platform groups; those without an owner are left out. */
  owners(company: string, ids: readonly PlatformGroupId[]): Promise<ReadonlyMap<PlatformGroupId, GroupRef>>;
}
