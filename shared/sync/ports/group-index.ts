import type { PendingMark, SettledState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, MemberId } from '../../domain/ids.ts';

/** A group as the index shows it. The index is usually less than a second behind the group's item. */
export interface GroupSummary {
  readonly ref: GroupRef;
  readonly name?: string;
  readonly settled?: SettledState;
  /** The number of members that the platform showed when the group was settled. */
  readonly applied?: number;
  readonly dirtySinceMs?: number;
  readonly failedAtMs?: number;
  readonly pausedAtMs?: number;
  /** Whether the group has held removals, with or without a decision. */
  readonly hasHolds: boolean;
  /** Whether removals wait for a decision. */
  readonly holdWaits: boolean;
  /** The time from which the requeue job may wake the dirty group; undefined if no wake-up is scheduled. */
  readonly dueMs?: number;
}

export interface PendingEntry extends PendingMark {
  readonly ref: GroupRef;
  readonly member: MemberId;
}

export interface GroupIndex {
  /** Returns the dirty groups that are due. The group that has been due for the longest time comes first. */
  due(
    connection: ConnectionName,
    at: { readonly nowMs: number; readonly limit: number },
  ): Promise<readonly GroupSummary[]>;
  /**
   * Replaces the wake-up of a dirty group. Returns false if the group is clean or has another due time.
   * @param at.dueMs the time at which the wake-up counts as lost; undefined for the usual time
   */
  reschedule(
    seen: GroupSummary,
    at: { readonly wakeAtMs: number; readonly dueMs?: number },
  ): Promise<boolean>;
  /** All groups; with `unsettled`, only the groups that are not in sync. */
  all(connection: ConnectionName, which?: 'unsettled'): AsyncIterable<readonly GroupSummary[]>;
  pending(connection: ConnectionName): AsyncIterable<readonly PendingEntry[]>;
}
