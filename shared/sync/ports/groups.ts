import type { GroupField } from '../../domain/group-fields.ts';
import type {
  AcceptedDeletion,
  FlapDamping,
  GroupError,
  GroupState,
  Intent,
  LinkedGroup,
  MemberCounts,
  PendingMark,
  RefusedValue,
  SettledState,
  StoredMember,
  SuspectedChange,
  Uncertain,
  ViewPointer,
} from '../../domain/group-state.ts';
import type { HeldSetName, Hold } from '../../domain/hold.ts';
import type { GroupId, GroupRef, IntentId, MemberId } from '../../domain/ids.ts';
import type { UserChange, View } from '../../domain/view.ts';
import type { HeldRemovals } from '../../plan/hold.ts';
import type { Dirty } from './desired.ts';
import type { HeldSet } from './guard.ts';
import type { AuditLink } from './logs.ts';

/** What a fetch of the platform group showed, in addition to the view. */
export interface Findings {
  /** Drift records to be closed once the group is restored. */
  readonly openDrift?: readonly string[];
  readonly unattributed?: readonly string[];
  readonly acceptedDeletion?: AcceptedDeletion;
  readonly flapDamping?: FlapDamping | undefined;
  /** The audit entry about the change. */
  readonly audited?: AuditLink;
  /** Whether the platform group is gone, by the rule `existence`. */
  readonly isGone?: boolean;
  /** Whether this change explains a recorded refusal of groupsync's write, which was then a version conflict. */
  readonly explainsRefusal?: boolean;
  /** The new record of uncertain writes. */
  readonly uncertain?: Uncertain | undefined;
}

/** The state of a group after the outcome of a platform write is known. */
export interface Commit {
  readonly intent: IntentId;
  /** The group's item from which the write was planned. The dirty mark is cleared only if rev has not changed since. */
  readonly seen: GroupState;
  /** undefined if the platform refused the write. */
  readonly writtenAtMs: number | undefined;
  /** The wake-up of a group that is not clean after the commit. */
  readonly wakeAtMs: number;
  /** undefined if the platform group is gone or released. */
  readonly platform?: LinkedGroup;
  readonly createdAtMs?: number;
  /** undefined if the platform shows another content than was sent, so the group is not settled. */
  readonly settled: SettledState | undefined;
  readonly counts: MemberCounts;
  readonly calledMs?: readonly number[];
  /** Whether the group stays dirty, because more must be written. */
  readonly unfinished?: boolean;
  /** The hold that the write used up. */
  readonly consumedHold?: string;
  /** Whether every record in `openDrift` was closed. */
  readonly driftClosed?: boolean;
  /** Set if the platform group shows more than groupsync's own write. */
  readonly found?: Findings;
  /**
   * Whether the record of uncertain writes ends: the earlier writes were answered, and the platform shows this write
   * completely.
   */
  readonly isCertain?: boolean;
  /** Whether the write removed members. If the group fails again later, the failure is then reported again. */
  readonly hasRemoved?: boolean;
}

/** A failure, and the digest under which it was reported. */
export interface ReportedError extends GroupError {
  readonly reported: string;
}

export interface Postponement extends Pick<GroupState, 'attempts' | 'calledMs'> {
  readonly retryAtMs: number;
  /** The earlier time that applies if the group has changed since `seen` was read. */
  readonly soonerMs: number;
  readonly error: GroupError;
  /** The last intent of this worker. */
  readonly mine: IntentId | undefined;
}

export type { HeldRemovals } from '../../plan/hold.ts';

/** An operator's decision about removals of one set. */
export interface HoldDecided {
  /** The set that contained the removals. */
  readonly from: HeldSetName;
  /** The other removals of that set; undefined if there are none. */
  readonly rest: HeldRemovals | undefined;
  /** The removals with this decision, including those that were decided in the same way before. */
  readonly decided: HeldRemovals;
}

export interface GroupStore {
  read(ref: GroupRef): Promise<GroupState | undefined>;
  /**
   * Every member register of the group, tombstones included. Groups within the group are replaced by their users.
   * @throws Error if the group contains more groups or users than the limits allow
   */
  members(ref: GroupRef): Promise<readonly StoredMember[]>;
  /** Returns the group's own registers of these members. A member without a register is left out. */
  registers(ref: GroupRef, members: readonly MemberId[]): Promise<readonly StoredMember[]>;
  /** Sets or clears the reason why a member is pending. The index lists pending members. */
  markPending(ref: GroupRef, member: MemberId, mark: PendingMark | undefined): Promise<void>;
  /** @returns undefined if the stored chunks do not match the pointer; the caller then fetches the platform group */
  readView(ref: GroupRef, pointer: ViewPointer): Promise<View | undefined>;
  /** Stores a view. Its pointer may be stored only while the group's view is still the view of `seen`. */
  prepareView(seen: GroupState, id: IntentId, view: View): Promise<ViewPointer>;
  /** Writes the users that uncertain writes may change. */
  prepareChange(seen: GroupState, id: IntentId, change: UserChange): Promise<ViewPointer>;
  /** Returns undefined if the stored set does not match the pointer. */
  readChange(ref: GroupRef, pointer: ViewPointer): Promise<UserChange | undefined>;
  /**
   * @returns false if another worker has opened an intent, changed the view or settled the group since `seen` was read
   */
  openIntent(seen: GroupState, intent: Intent): Promise<boolean>;
  /**
   * Stores the observed platform group as the view. The dirty mark stays, and the suspected change of `seen` is
   * removed.
   * @returns false if an intent was opened, the view was changed or the group was settled since `seen` was read
   */
  storeObserved(seen: GroupState, platform: LinkedGroup | undefined, found?: Findings): Promise<boolean>;
  /**
   * Notes a suspected external change. The same write raises rev and marks the group dirty. Returns false if another
   * suspected change was noted since `seen` was read, or if the link has ended.
   */
  noteSuspected(seen: GroupState, suspectedChange: SuspectedChange, at: Dirty): Promise<boolean>;
  /**
   * Moves removals to the set of their decision, raises rev and marks the group dirty. One write does this, so no
   * removal is ever without its set. Returns false if a set of the group has changed since `seen`.
   */
  decideHold(seen: GroupState, decided: HoldDecided, at: Dirty): Promise<boolean>;
  /**
   * Links a platform group that an operator chose, raises rev and marks the group dirty.
   * @returns false if `seen` is out of date
   */
  adopt(seen: GroupState, link: LinkedGroup, at: Dirty): Promise<boolean>;
  /**
   * Marks the group as released and dirty, and raises rev. Apply then ends the link.
   * @param movedTo the group to which a takeover moves this group
   * @returns false if there is no such group
   */
  release(ref: GroupRef, at: Dirty, movedTo?: GroupId): Promise<boolean>;
  /**
   * Ends the release of a group without a platform group, raises rev and marks the group dirty.
   * @returns false if there is no such group
   */
  endRelease(ref: GroupRef, at: Dirty): Promise<boolean>;
  /** @returns false if there is no such group */
  pause(ref: GroupRef, atMs: number): Promise<boolean>;
  /**
   * Ends the pause that began at `pausedAtMs`, raises rev and marks the group dirty. Returns false if the group is not
   * paused, or was paused again.
   */
  resume(ref: GroupRef, at: Dirty & { readonly pausedAtMs: number }): Promise<boolean>;
  /**
   * Reads many groups at once, only for comparisons.
   * @param onUnreadable called for each unreadable item, which is then left out; without it, such an item is an error
   */
  readMany(refs: readonly GroupRef[], onUnreadable?: (ref: GroupRef) => void): Promise<readonly GroupState[]>;
  /**
   * Deletes chunks of ended writes and expired tombstones.
   * @returns the number of deleted items
   */
  collect(state: GroupState, nowMs: number): Promise<number>;
  /**
   * Notes that a sweep saw the previous platform group in a list, raises rev and marks the group dirty. Returns false
   * if the group has a link by now.
   */
  noteListed(seen: GroupState, at: Dirty): Promise<boolean>;
  /** Notes the first 404 for the platform group that `seen` is linked to, or will adopt. */
  noteMissing(seen: GroupState, atMs: number): Promise<void>;
  /**
   * Notes that an operator replays the dead-lettered message of the group. So refused fields are tried again, and the
   * next failure is reported.
   */
  noteReplay(ref: GroupRef, failedBefore: string): Promise<void>;
  noteRefusedField(seen: GroupState, field: GroupField, refused: RefusedValue): Promise<boolean>;
  /** Forgets the refused values, so that the next write tries the fields again. */
  forgetRefusedFields(ref: GroupRef): Promise<void>;
  /** Counts a search that did not find a created group, or an answered deletion without effect. */
  noteMiss(ref: GroupRef, intent: Intent): Promise<boolean>;
  /**
   * Ends an intent whose write was refused, or was not found.
   * @param left.uncertain the new record of uncertain writes; undefined if the record does not change
   * @param left.isRefused whether the write was refused. The sets that were stored for the write are then deleted
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
   * @returns undefined if the intent is not open any more; otherwise whether the group is clean
   */
  commit(ref: GroupRef, commit: Commit): Promise<{ readonly clean: boolean } | undefined>;
  /**
   * Clears the dirty mark of a group without differences. Returns false if rev or the view has changed since `seen`.
   * @param how.driftClosed whether every record in `openDrift` was closed
   * @param how.againAtMs if given, the group stays dirty until this time, and is then read again
   * @param how.failing the error about a refused field, if only this field is not written
   */
  settle(
    seen: GroupState,
    settled: SettledState,
    how: Required<Pick<Commit, 'counts' | 'driftClosed' | 'calledMs'>> & {
      readonly againAtMs?: number | undefined;
      readonly failing?: ReportedError | undefined;
    },
  ): Promise<boolean>;
  /** Replaces the group's list of drift records without an initiator. `ids` are the records that stay. */
  keepUnattributed(seen: GroupState, ids: readonly string[]): Promise<void>;
  /**
   * Stores the time of the next attempt, and the error. The group stays dirty, and its intent is released.
   * @returns the stored wake-up, which is `soonerMs` if rev has changed; undefined if another worker has an open intent
   */
  postpone(seen: GroupState, how: Postponement): Promise<number | undefined>;
  /**
   * Stops the attempts until the next change of the group.
   * @returns false if the group has changed already
   */
  fail(seen: GroupState, error: ReportedError, audited: AuditLink): Promise<boolean>;
  /** Stores removals that wait for a decision. Returns false if rev has changed. Another attempt then follows. */
  hold(seen: GroupState, held: HeldRemovals, audited: AuditLink): Promise<boolean>;
  /**
   * Ends sets that cover no removal any more.
   * @returns false if rev has changed
   */
  dropHold(seen: GroupState, drops: readonly HeldSetName[], audited: AuditLink): Promise<boolean>;
  readHeld(ref: GroupRef, hold: Hold): Promise<HeldSet | undefined>;
  /** Finds the held removals with this digest, if they are still stored, and their location. */
  findHeld(
    ref: GroupRef,
    digest: string,
  ): Promise<Pick<Hold, 'chunks' | 'hash'> & { readonly users: HeldSet }>;
}
