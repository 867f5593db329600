import type { GuardRecord } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { Reservation } from '../../plan/facts.ts';
import type { GroupLoss } from '../../plan/guard.ts';

export type HeldSet = ReadonlySet<PlatformUserId>;

export type GuardReservation = GroupRef &
  GuardRecord & {
    /** The number of users in the group before the write. */
    readonly size: number;
    /** The platform group, if the write deletes it, or empties it because the directory deleted the directory group. */
    readonly deletes?: PlatformGroupId | undefined;
  };

/** The counts of groups, which the store cannot compute because it does not know the limits of the guard. */
type GroupCounts = 'deletedGroups' | 'managedGroups' | 'emptiedGroups' | 'smallGroups';

/** The removals within the rolling hour. */
export type RecentReservations = Omit<Reservation['recent'], GroupCounts> & {
  /** The platform groups that were deleted. */
  readonly deleted: ReadonlySet<PlatformGroupId>;
  /** The removals from each other group of the connection, without the removals of deletions. */
  readonly losses: readonly GroupLoss[];
};

export interface GuardStore {
  /** Returns the removals of the rolling hour, without the records in `excluded`. For `writtenAtMs` see `reserve`. */
  recent(
    ref: GroupRef,
    atMs: number,
    excluded: readonly (GuardRecord | undefined)[],
    writtenAtMs?: number,
  ): Promise<RecentReservations>;
  /**
   * Stores the reservation. After that, reads all other reservations of the rolling hour, for the group and for the
   * connection.
   * @param instead a record that the new reservation replaces, so that it is not counted
   * @param writtenAtMs the time of the group's last write. Only later reservations count as concurrent
   */
  reserve(
    reservation: GuardReservation,
    instead?: GuardRecord,
    writtenAtMs?: number,
  ): Promise<RecentReservations>;
  /** Reduces a reservation to the removals that happened. With 0 removals, the record is deleted. */
  reduce(reservation: GuardReservation, removals: number): Promise<void>;
  /**
   * Records that the link to a missing platform group ends.
   * @returns the number of other links that the connection ended within the last hour
   */
  unlink(connection: ConnectionName, id: PlatformGroupId, atMs: number): Promise<number>;
  /** Deletes the record of `unlink`, because the link stays. */
  keepLink(connection: ConnectionName, id: PlatformGroupId): Promise<void>;
  /** Deletes the reservation of a write that will certainly not happen. */
  cancel(reservation: Pick<GuardReservation, 'connection' | 'intent' | 'atMs'>): Promise<void>;
}
