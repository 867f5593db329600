import type { GroupField } from '../../domain/group-fields.ts';
import type {
  FlapDamping,
  GroupError,
  GroupState,
  Intent,
  LinkedGroup,
  MemberCounts,
  OpenMove,
  PendingMark,
  RefusedValue,
  SettledState,
  StoredMember,
  SuspectedChange,
  Uncertain,
  ViewPointer,
} from '../../domain/group-state.ts';
import type { Hold, RemovalSet } from '../../domain/hold.ts';
import type { ConnectionName, GroupId, GroupRef, IntentId, MemberId } from '../../domain/ids.ts';
import type { UserChange, View } from '../../domain/view.ts';
import type { Dirty } from './desired.ts';
import type { HeldSet } from './guard.ts';
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

interface Postponement extends Pick<GroupState, 'attempts' | 'calledMs'> {
  readonly retryAtMs: number;
  /** Whether the caller sends a message for a wake-up at `retryAtMs`. Otherwise the requeue job sends it. */
  readonly isRetrySent: boolean;
  /** The time that replaces `retryAtMs` if the group has changed since `seen` was read. */
  readonly soonerMs: number;
  readonly error: GroupError;
  /** The id of this worker's last intent. */
  readonly mine: IntentId | undefined;
}

export interface GroupStore {
  read(ref: GroupRef): Promise<GroupState | undefined>;
  /**
   * Returns every member register of the group, including tombstones. Groups within the group are replaced by their
   * users.
   * @throws Error if the group contains more groups or users than the limits allow
   */
  members(ref: GroupRef): Promise<readonly StoredMember[]>;
  /** Returns the group's own registers of these members. The result omits a member without a register. */
  registers(ref: GroupRef, members: readonly MemberId[]): Promise<readonly StoredMember[]>;
  /** Sets or clears the reason why a member is pending. The index lists the members with a reason. */
  markPending(ref: GroupRef, member: MemberId, mark: PendingMark | undefined): Promise<void>;
  /** @returns undefined if the stored chunks do not match the pointer. The caller must then fetch the platform group */
  readView(ref: GroupRef, pointer: ViewPointer): Promise<View | undefined>;
  /** Stores a view. The caller may store the returned pointer only while the group still has the view of `seen`. */
  prepareView(seen: GroupState, id: IntentId, view: View): Promise<ViewPointer>;
  /** Stores the users that an intent changes, or that uncertain writes may change. */
  prepareChange(seen: GroupState, id: IntentId, change: UserChange): Promise<ViewPointer>;
  /** Returns undefined if the stored set does not match the pointer. */
  readChange(ref: GroupRef, pointer: ViewPointer): Promise<UserChange | undefined>;
  /**
   * @returns false if another worker has opened an intent, changed the view or settled the group since `seen` was read
   */
  openIntent(seen: GroupState, intent: Intent): Promise<boolean>;
  /**
   * Stores the observed platform group as the view, or ends the link. Ends the suspected change. The dirty mark stays.
   * @returns false if an intent, a view, a suspected change or a settlement was stored since `seen` was read
   */
  storeObserved(seen: GroupState, platform: LinkedGroup | undefined, found?: Findings): Promise<boolean>;
  /**
   * Notes a suspected external change. The same write raises rev and marks the group dirty. Returns false if another
   * suspected change was noted since `seen` was read, or if the link has ended.
   */
  noteSuspected(seen: GroupState, suspectedChange: SuspectedChange, at: Dirty): Promise<boolean>;
  /**
   * Stores the list of removals after an operator's decision, raises rev and marks the group dirty, in one write.
   * Returns false if the list has changed since `seen` was read.
   */
  decideRemovals(seen: GroupState, sets: readonly RemovalSet[], at: Dirty): Promise<boolean>;
  /**
   * Links a platform group that an operator chose, raises rev and marks the group dirty.
   * @returns false if another worker has opened an intent or changed the view since `seen` was read
   */
  adopt(seen: GroupState, link: LinkedGroup, at: Dirty): Promise<boolean>;
  /** Replaces the view of the link by one with the same content and other marks. */
  storeMarks(seen: GroupState, view: ViewPointer): Promise<boolean>;
  /**
   * Notes that this group may get a new platform group although an unmanaged one has its name, raises rev and marks the
   * group dirty.
   * @returns false if there is no such group, or the group has a platform group
   */
  createNamesake(seen: GroupState, at: Dirty): Promise<boolean>;
  /**
   * Marks the group as released and dirty, and raises rev. Apply then ends the link.
   * @param movedTo the group of another source that owns the group's platform group, or its name
   * @returns false if there is no such group
   */
  release(ref: GroupRef, at: Dirty, movedTo?: GroupId): Promise<boolean>;
  /**
   * Ends the release in favour of the group `from`, raises rev and marks the group dirty.
   * @returns false if the group is not released in favour of this group
   */
  endRelease(ref: GroupRef, at: Dirty, from: GroupId): Promise<boolean>;
  /**
   * Moves the state of a platform group to the group of another source, as far as possible.
   * @param mayDecide whether the caller may write decisions about removals. The commands of operators may not, so a move
   * of a group with decisions is left to the requeue job
   * @returns false if the move has no effect, because the old group was released or the new group has a platform group;
   * undefined if a group is busy, so that the move must be tried again
   */
  move(
    connection: ConnectionName,
    move: OpenMove,
    at: Dirty,
    mayDecide?: boolean,
  ): Promise<boolean | undefined>;
  /** @returns false if there is no such group */
  pause(ref: GroupRef, atMs: number): Promise<boolean>;
  /**
   * Ends the pause that began at `pausedAtMs`, raises rev and marks the group dirty. Returns false if the group is not
   * paused, or if a later pause has begun.
   */
  resume(ref: GroupRef, at: Dirty & { readonly pausedAtMs: number }): Promise<boolean>;
  /**
   * Reads many groups, each with a consistent read. Groups that do not exist are omitted.
   * @param onUnreadable called for each unreadable item. The result omits this item. Without this callback, an
   * unreadable item causes an error
   */
  readMany(refs: readonly GroupRef[], onUnreadable?: (ref: GroupRef) => void): Promise<readonly GroupState[]>;
  /**
   * Deletes chunks of ended writes and expired tombstones.
   * @returns the number of deleted items
   */
  collect(state: GroupState, nowMs: number): Promise<number>;
  /**
   * Notes that a sweep saw the previous platform group in a list, raises rev and marks the group dirty. Returns false
   * if the group has a link again.
   */
  noteListed(seen: GroupState, at: Dirty): Promise<boolean>;
  /** Notes the time of the first 404 for the platform group that `seen` is linked to or will adopt. */
  noteMissing(seen: GroupState, atMs: number): Promise<void>;
  /**
   * Notes that an operator replays the dead-lettered message of the group. Apply then tries refused fields again, and
   * reports the next failure.
   */
  noteReplay(ref: GroupRef, failedBefore: string): Promise<void>;
  noteRefusedField(seen: GroupState, field: GroupField, refused: RefusedValue): Promise<boolean>;
  /** Forgets the refused values, so that the next write tries the fields again. */
  forgetRefusedFields(ref: GroupRef): Promise<void>;
  /** Counts a search that did not find a created group, or an answered deletion without effect. */
  noteMiss(ref: GroupRef, intent: Intent): Promise<boolean>;
  /**
   * Ends an intent without a new view. Examples are a refused write, and a write whose effect no fetch shows.
   * @param left.uncertain the new record of uncertain writes; undefined if the record does not change
   * @param left.isRefused whether the platform refused the write. If so, the write's stored sets are deleted
   */
  dropIntent(
    ref: GroupRef,
    intent: Intent,
    left: {
      readonly uncertain?: Uncertain | undefined;
      readonly isRefused?: boolean;
      readonly audited?: AuditLink | undefined;
    },
  ): Promise<boolean>;
  /**
   * Ends the intent, stores the written view, and clears the dirty mark if rev has not changed.
   * @returns whether the group is now clean; undefined if the intent was no longer open
   */
  commit(ref: GroupRef, commit: Commit): Promise<{ readonly clean: boolean } | undefined>;
  /**
   * Clears the dirty mark of a group that needs no write now. Returns false if the group is paused or has an open
   * intent, or if rev, the view or the hold has changed since `seen` was read.
   * @param how.driftClosed whether every record in `openDrift` was closed
   * @param how.againAtMs if given, the group stays dirty until this time, and apply then reads the group again
   * @param how.failing the error about a refused field, if this field is the only difference
   */
  settle(
    seen: GroupState,
    settled: SettledState,
    how: Required<Pick<Commit, 'counts' | 'driftClosed' | 'calledMs'>> & {
      /** Whether the group is excluded, or its changes are only shown. */
      readonly isUnwritten: boolean;
      readonly againAtMs?: number | undefined;
      readonly failing?: ReportedError | undefined;
    },
  ): Promise<boolean>;
  /** Replaces the group's list of drift records without an initiator by `ids`. */
  keepUnattributed(seen: GroupState, ids: readonly string[]): Promise<void>;
  /**
   * Stores the time of the next attempt, and the error. The group stays dirty. Other workers may settle this worker's
   * open intent immediately.
   * @returns the stored wake-up, `soonerMs` if rev has changed; undefined for a clean group or another open intent
   */
  postpone(seen: GroupState, how: Postponement): Promise<number | undefined>;
  /**
   * Stops the attempts until the next change of the group. After a day, the sweep wakes the group.
   * @returns false if the group has changed since `seen` was read
   */
  fail(seen: GroupState, error: ReportedError, audited: AuditLink): Promise<boolean>;
  /** @returns the stored list; undefined if rev has changed. The caller must then plan again */
  storeRemovals(
    seen: GroupState,
    sets: readonly RemovalSet[],
    audited: AuditLink,
  ): Promise<readonly RemovalSet[] | undefined>;
  readHeld(ref: GroupRef, hold: Hold): Promise<HeldSet | undefined>;
  /** Finds the users of a set that may no longer be on the list; empty if they are no longer stored. */
  findHeld(ref: GroupRef, digest: string): Promise<HeldSet>;
}
