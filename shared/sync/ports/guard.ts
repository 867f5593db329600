import type { GuardRecord } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, PlatformGroupId, PlatformUserId } from '../../domain/ids.ts';
import type { Reservation } from '../../plan/facts.ts';

/** The removals that a hold is about, in full. */
export type HeldSet = ReadonlySet<PlatformUserId>;

export type GuardReservation = GroupRef &
  GuardRecord & {
    /** Users in the group before the write. */
    readonly size: number;
    /** The platform group that the write deletes, or empties because the directory has deleted it. */
    readonly deletes?: PlatformGroupId | undefined;
  };

/** The removals of the rolling hour, and the platform groups that are deleted in it. */
export type RecentReservations = Omit<Reservation['recent'], 'deletedGroups' | 'managedGroups'> & {
  readonly deleted: ReadonlySet<PlatformGroupId>;
};

export interface GuardStore {
  /** The removals within the rolling hour, without these records; `writtenAtMs` as for `reserve`. */
  recent(
    ref: GroupRef,
    atMs: number,
    besides: readonly (GuardRecord | undefined)[],
    writtenAtMs?: number,
  ): Promise<RecentReservations>;
  /**
   * Puts the reservation, then reads every other one that counts: removals of the group and of the connection.
   * @param instead the record that this one replaces, which is therefore not counted
   * @param writtenAtMs time of the group's last write; reservations before it are not concurrent
   */
  reserve(
    reservation: GuardReservation,
    instead?: GuardRecord,
    writtenAtMs?: number,
  ): Promise<RecentReservations>;
  /** Fewer removals happened than were reserved; none: the record goes. */
  reduce(reservation: GuardReservation, removals: number): Promise<void>;
  /**
   * Puts the unlinking of a platform group that answers 404.
   * @returns how many others the connection unlinked within the last hour
   */
  unlink(connection: ConnectionName, id: PlatformGroupId, atMs: number): Promise<number>;
  /** The group stays linked. */
  keepLink(connection: ConnectionName, id: PlatformGroupId): Promise<void>;
  /** The write will certainly not happen. */
  cancel(reservation: Pick<GuardReservation, 'connection' | 'intent' | 'atMs'>): Promise<void>;
}
