import type { ConnectionName, GroupId, GroupRef, IntentId, PlatformUserId } from '../../domain/ids.ts';

export type { Hold } from '../../domain/hold.ts';

/** The removals that a hold is about, in full. */
export type HeldSet = ReadonlySet<PlatformUserId>;

export interface GuardReservation {
  readonly connection: ConnectionName;
  readonly group: GroupId;
  readonly intent: IntentId;
  readonly atMs: number;
  readonly removals: number;
}

/** Users removed, or about to be, within the last 60 minutes. */
export interface RecentRemovals {
  readonly group: number;
  readonly connection: number;
}

export interface GuardStore {
  /** Puts the reservation, then reads every other one of the last 60 minutes: removals of the group and of all. */
  reserve(reservation: GuardReservation): Promise<RecentRemovals>;
  /** The same sums without a reservation: for a dry run. */
  recent(ref: GroupRef, atMs: number): Promise<RecentRemovals>;
  /** The write will certainly not happen. */
  cancel(reservation: Pick<GuardReservation, 'connection' | 'intent' | 'atMs'>): Promise<void>;
}
