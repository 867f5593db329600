import type {
  FlapDamping,
  GroupError,
  GroupState,
  LinkedGroup,
  MemberCounts,
  SettledState,
  Uncertain,
} from '../../domain/group-state.ts';
import type { IntentId } from '../../domain/ids.ts';
import type { AuditLink } from './logs.ts';

/** The conclusions from a fetch of the platform group, in addition to the view. */
export interface Findings {
  /** The drift records that apply must close after it has restored the group. */
  readonly openDrift?: readonly string[];
  readonly unattributed?: readonly string[];
  readonly flapDamping?: FlapDamping | undefined;
  readonly audited?: AuditLink;
  /** Whether the platform group is gone, as the function `existence` decided. */
  readonly isGone?: boolean;
  /** Whether this change explains a recorded refusal of a write: the refusal was only a version conflict. */
  readonly explainsRefusal?: boolean;
  readonly uncertain?: Uncertain | undefined;
}

/** The state of a group after the outcome of a platform write is known. */
export interface Commit {
  readonly intent: IntentId;
  /** The item when the write was planned. The group stays dirty if rev or the hold changed, or if it is paused. */
  readonly seen: GroupState;
  /** The time of the write; undefined if the platform refused the write. */
  readonly writtenAtMs: number | undefined;
  /** The time of the next wake-up, if the group is still dirty after the commit. */
  readonly wakeAtMs: number;
  /** The linked platform group; undefined if it is gone. */
  readonly platform?: LinkedGroup;
  readonly createdAtMs?: number;
  /**
   * The state of the group after the write. Undefined if the platform shows other content than the write sent, because
   * the group is then not settled.
   */
  readonly settled: SettledState | undefined;
  readonly counts: MemberCounts;
  readonly calledMs?: readonly number[];
  /** Whether the group stays dirty, because apply must write or fetch the group again. */
  readonly unfinished?: boolean;
  /** The digests of the approvals whose removals the write made. */
  readonly consumes?: readonly string[];
  /** Whether every record in `openDrift` was closed. */
  readonly driftClosed?: boolean;
  /** The conclusions from the answer to the write, or from a later fetch. */
  readonly found?: Findings;
  /** Whether the record of uncertain writes ends, because no earlier write can still take effect. */
  readonly isCertain?: boolean;
  /** Whether the write removed members. After such a write, the next failure of the group is reported again. */
  readonly hasRemoved?: boolean;
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
  /** The id of this worker's last intent. */
  readonly mine: IntentId | undefined;
}
