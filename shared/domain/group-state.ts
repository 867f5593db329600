import type { Trace } from './drift.ts';
import type { GroupRegisters, MemberRegister } from './group.ts';
import type { Hold } from './hold.ts';
import type { GroupRef, IntentId, PlatformGroupId, VersionToken } from './ids.ts';
import type { Stamp } from './stamp.ts';

/** A record in the guard's book: removals of one write. */
export interface GuardRecord {
  readonly intent: IntentId;
  readonly atMs: number;
  readonly removals: number;
}

/** Where the parts of a view lie, and how to tell that they are whole. */
export interface ViewPointer {
  readonly id: IntentId;
  readonly chunks: number;
  readonly hash: string;
  readonly size: number;
}

export type WriteAction = 'create' | 'patch' | 'put' | 'delete';

/**
 * A write to the platform that is about to happen, kept until its outcome is known. It is settled by its own name,
 * spokeId and users, even when the group has been renamed or deleted since.
 */
export interface Intent {
  readonly id: IntentId;
  readonly action: WriteAction;
  readonly atMs: number;
  readonly name: string;
  readonly spokeId: string;
  /** All but `create`. */
  readonly platformId?: PlatformGroupId;
  readonly versionBefore?: VersionToken;
  /** What the group will look like; a deletion has none. */
  readonly view?: ViewPointer;
  /** `create`: groups that carried our spokeId or name before the POST, and so are not what it made. */
  readonly known?: readonly PlatformGroupId[];
  /** `create` of unknown outcome: how often, and since when, the new group was looked for in vain. */
  readonly misses?: number;
  /** What the guard's book says of this write's removals. */
  readonly reserved?: GuardRecord;
  /** Digest of the approval that the write uses up. */
  readonly consumes?: string;
}

/** A sign that somebody else changed the group on the platform. */
export interface Suspect {
  readonly version: VersionToken | null;
  /** What the activity feed told of it, oldest first; empty where a comparison found it. */
  readonly traces: readonly Trace[];
  /** When it was noted; later than every suspicion before it, so that it tells one from the next. */
  readonly atMs: number;
}

export interface GroupError {
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

export interface MemberCounts {
  /** Present in the directory, pending included. */
  readonly wanted: number;
  /** Confirmed on the platform. */
  readonly applied: number;
  readonly pending: number;
}

/** What the last apply left behind; a dirty group's is out of date. */
export type SettledState = 'in_sync' | 'held' | 'deleted' | 'unnamed' | 'excluded';

/** A write that a look did not find, and whose request may still be on its way: until then what it explains is ours. */
export interface Doubt {
  readonly intent: Intent;
  readonly untilMs: number;
}

/** Others undo what we write: how often within the hour that began at `sinceMs` we have put the group right. */
export interface Contest {
  readonly sinceMs: number;
  readonly count: number;
  /** The directory's newest word when it became too often: a newer one is written at once. */
  readonly seen?: Stamp;
}

/** Calls of the platform that tries in vain have cost within the hour that began at `sinceMs`. */
export interface Spent {
  readonly sinceMs: number;
  readonly calls: number;
}

export interface Former {
  readonly platformId: PlatformGroupId;
  readonly view: ViewPointer;
  /** The platform answered 404, as a wrong route does too: asked for once more before another is made. */
  readonly isGone?: boolean;
}

/** One group as apply finds it. */
export interface GroupState {
  readonly ref: GroupRef;
  readonly registers: GroupRegisters;
  /** Raised by everything that apply must look at; an apply clears `dirty` only at the rev it has read. */
  readonly rev: number;
  readonly dirtySinceMs?: number;
  readonly settled?: SettledState;
  readonly failedAtMs?: number;
  readonly attempts: number;
  readonly spent?: Spent;
  readonly lastError?: GroupError;
  /** A person had it tried again: its failures until then, as a letter says them. */
  readonly failedBefore?: string;
  readonly platformId?: PlatformGroupId;
  readonly version?: VersionToken;
  readonly view?: ViewPointer;
  readonly intent?: Intent;
  readonly hold?: Hold;
  /**
   * Removals of a write that was looked for and not found, but may yet happen: its request may still be on its way.
   * The next write's reservation takes this one's place, since no two writes from one version can both succeed.
   */
  readonly unsettledRemovals?: GuardRecord;
  readonly suspect?: Suspect;
  readonly doubt?: Doubt;
  readonly contest?: Contest;
  /** When we created the platform group: a 404 soon after is the platform's delay, not a deletion. */
  readonly createdAtMs?: number;
  /** When the platform first answered 404 for the group, if it has not shown it since. */
  readonly missedAtMs?: number;
  /** The group was taken over, or changed by somebody else: the next write sends every field. */
  readonly takeOver: boolean;
  /** Records of differences that are being put right. */
  readonly openDrift: readonly string[];
  /** Records of differences that were found before the feed told who made them. */
  readonly unattributed: readonly string[];
  /** Somebody deleted the platform's group and the policy lets that stand, until the directory says more. */
  readonly deletionWaiver?: DeletionWaiver;
  /** The view of the platform group before, gone or let go of: should it come back, whoever we put there is ours. */
  readonly former?: Former;
  /** A platform group that this one let go of: its claim is still to be ended. */
  readonly leaving?: PlatformGroupId;
  /** A person let go of this group; only `adopt` takes it back. */
  readonly released: boolean;
  readonly paused: boolean;
  /** When it was, if it is: names the pause, so that nobody ends another one. */
  readonly pausedAtMs?: number;
  readonly counts?: MemberCounts;
  readonly lastWriteAtMs?: number;
  /** Names of the newest entries of the group's audit: of a write, and of a person's deed. */
  readonly lastAudit?: string;
  readonly lastDeed?: string;
}

/** Why a member cannot be written yet. */
export type PendingCause = 'unknown' | 'ambiguous' | 'inactive' | 'refused';

export interface PendingMark {
  readonly cause: PendingCause;
  readonly sinceMs: number;
  /** `refused`: the person's revision that the platform refused; tried again when it changes. */
  readonly personRevision?: number;
}

export interface StoredMember extends MemberRegister {
  readonly pending?: PendingMark;
}

/** The platform group that a directory group is linked to, as last written or read. */
export interface LinkedGroup {
  readonly id: PlatformGroupId;
  readonly version: VersionToken;
  readonly view: ViewPointer;
}

export interface DeletionWaiver {
  readonly policy: 'report' | 'adopt';
  readonly seen: Stamp;
}
