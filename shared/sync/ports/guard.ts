import type { GuardRecord } from '../../domain/group-state.ts';
import type { GroupRef, PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { Reservation } from '../../plan/facts.ts';
import type { GroupLoss } from '../../plan/guard.ts';

export type HeldSet = ReadonlySet<PlatformUserId>;

export type GuardReservation = GroupRef &
  GuardRecord & {
    /** The platform group from which the write removes users. A takeover gives it to another directory group. */
    readonly platformId?: PlatformGroupId | undefined;
    /** The number of users in the group before the write. */
    readonly size: number;
    readonly deletes?: PlatformGroupId | undefined;
  };

/** The counts of groups, which the store cannot compute because it does not know the limits of the guard. */
type GroupCounts = 'deletedGroups' | 'managedGroups' | 'emptiedGroups' | 'smallGroups';

/** The removals within the rolling hour. */
export type RecentReservations = Omit<Reservation['recent'], GroupCounts> & {
  readonly deleted: ReadonlySet<PlatformGroupId>;
  /** The removals from each other group of the connection, without the removals of deletions. */
  readonly losses: readonly GroupLoss[];
};
