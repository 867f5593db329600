import type { GroupRef, PlatformGroupId } from '../../domain/ids.ts';

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
