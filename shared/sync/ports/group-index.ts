import type { PendingMark, SettledState } from '../../domain/group-state.ts';
import type { GroupRef, MemberId } from '../../domain/ids.ts';

/** A group as the index shows it. The index is usually less than a second behind the group's item. */
export interface GroupSummary {
  readonly ref: GroupRef;
  readonly name?: string;
  readonly settled?: SettledState;
  /** The number of members that the platform showed when the group was settled. */
  readonly applied?: number;
  readonly excluded?: number;
  readonly dirtySinceMs?: number;
  readonly failedAtMs?: number;
  readonly pausedAtMs?: number;
  /** Whether the group has held removals, with or without a decision. */
  readonly hasHolds: boolean;
  readonly holdWaits: boolean;
  /** The time from which the requeue job may wake the dirty group; undefined if no wake-up is scheduled. */
  readonly dueMs?: number;
}

export interface PendingEntry extends PendingMark {
  readonly ref: GroupRef;
  readonly member: MemberId;
}
