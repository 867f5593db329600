import type { GroupError, GroupState, StateChange } from '../../domain/group-state.ts';
import type { IntentId } from '../../domain/ids.ts';
import type { KnownOutcome } from '../../plan/transition.ts';

export interface Commit extends Pick<KnownOutcome, 'platform' | 'settled' | 'counts'> {
  readonly intent: IntentId;
  /** The item when the write was planned. The group stays dirty if rev or the hold changed, or if it is paused. */
  readonly seen: GroupState;
  /** The time of the next wake-up, if the group is still dirty after the commit. */
  readonly wakeAtMs: number;
  /** Whether the group stays dirty, because apply must write or fetch the group again. */
  readonly unfinished?: boolean;
  /** The digests of the approvals whose removals the write made. */
  readonly consumes?: readonly string[] | undefined;
  /** What the outcome changes in the state, apart from the removals. */
  readonly change: StateChange;
}

/** A failure, with the digest of its report. */
export interface ReportedError extends GroupError {
  readonly reported: string;
}

export interface Postponement extends Pick<GroupState, 'attempts' | 'calledMs'> {
  readonly retryAtMs: number;
  /** Whether the caller sends a message for a wake-up at `retryAtMs`. Otherwise the requeue job sends it. */
  readonly isRetrySent: boolean;
  /** The time that replaces `retryAtMs` if the group has changed since `seen` was read. */
  readonly soonerMs: number;
  readonly error: GroupError;
  readonly mine: IntentId | undefined;
}
