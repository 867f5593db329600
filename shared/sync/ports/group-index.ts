import type { PendingMark, SettledState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, MemberId } from '../../domain/ids.ts';

/** What the index shows of a group; up to a second or so behind the group itself. */
export interface GroupSummary {
  readonly ref: GroupRef;
  /** As the directory last gave it. */
  readonly name?: string;
  readonly settled?: SettledState;
  readonly dirtySinceMs?: number;
  readonly failedAtMs?: number;
  readonly pausedAtMs?: number;
  /** It has a hold, decided or not. */
  readonly holdWaits: boolean;
  /** Its hold waits for a decision. */
  readonly holdUndecided: boolean;
  /** When a dirty group is read again; undefined if that is not scheduled. */
  readonly dueMs?: number;
}

export interface PendingEntry extends PendingMark {
  readonly ref: GroupRef;
  readonly member: MemberId;
}

/** Lists over many groups, from the one index. */
export interface GroupIndex {
  /** Dirty groups whose time has come, the longest due first. */
  due(
    connection: ConnectionName,
    at: { readonly nowMs: number; readonly limit: number },
  ): Promise<readonly GroupSummary[]>;
  /**
   * Stores another wake-up of a dirty group. Returns false if the item differs from the index.
   * @param at.dueMs when the wake-up counts as lost, if it is not the usual time
   */
  reschedule(
    seen: GroupSummary,
    at: { readonly wakeAtMs: number; readonly dueMs?: number },
  ): Promise<boolean>;
  /** `unsettled`: without groups in sync. */
  all(connection: ConnectionName, which?: 'unsettled'): AsyncIterable<readonly GroupSummary[]>;
  pending(connection: ConnectionName): AsyncIterable<readonly PendingEntry[]>;
}
