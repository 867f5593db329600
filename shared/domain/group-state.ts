import * as z from 'zod';
import { ActivityEvent } from './drift.ts';
import { EventActor } from './event.ts';
import type { Frozen } from './forms.ts';
import { intentText, number, platformGroupText, stampText, text, texts, versionForm } from './forms.ts';
import type { GroupRegisters, MemberRegister } from './group.ts';
import { EVENT_FIELDS, type EventField, eachField } from './group-fields.ts';
import { Hold } from './hold.ts';
import type { GroupRef } from './ids.ts';
import { STAMP_ZERO } from './stamp.ts';

/** A reservation of the guard: the removals of one write. */
const GuardRecord = z.lazy(() => z.object({ intent: intentText, atMs: number, removals: number }));
export type GuardRecord = Frozen<z.infer<typeof GuardRecord>>;

/** Points to a view and proves that it is complete. A small view is `text`; a large one has a `head` with its buckets. */
const ViewPointer = z.lazy(() =>
  z.object({
    id: intentText,
    size: number,
    /** Digest of the content that the platform showed last, which the sweep compares with the list (`contentDigest`). */
    digest: text.exactOptional(),
    text: text.exactOptional(),
    head: z.object({ chunks: number, hash: text }).exactOptional(),
  }),
);
export type ViewPointer = Frozen<z.infer<typeof ViewPointer>>;

/** The link of a directory group to its platform group. */
const Link = z.lazy(() =>
  z.object({
    id: platformGroupText,
    /** Version and view as last written or read. */
    version: versionForm,
    view: ViewPointer,
    /** When we created the platform group: a 404 soon after is the platform's delay, not a deletion. */
    createdAtMs: number.exactOptional(),
    /** The group was adopted or changed externally: the next write sends every field. */
    takeOver: z.boolean().exactOptional(),
  }),
);
export type Link = Frozen<z.infer<typeof Link>>;

/** The platform group of a link, as last written or read. */
export type LinkedGroup = Pick<Link, 'id' | 'version' | 'view'>;

/**
 * A write to the platform that is about to happen, stored until its outcome is known. It states what the write changes.
 * It is settled by the group's view and its own fields and users, even if the directory group was renamed or
 * deleted later.
 */
const Intent = z.lazy(() =>
  z.object({
    id: intentText,
    action: z.enum(['create', 'patch', 'put', 'delete']),
    atMs: number,
    /** The values sent; a deletion sends none. */
    ...eachField(() => text.nullish()),
    name: text,
    spokeId: text.nullable(),
    /** All but `create`. */
    platformId: platformGroupText.exactOptional(),
    versionBefore: versionForm.exactOptional(),
    /** Users to be added and removed. For a creation: the view of the whole new group. */
    change: ViewPointer.exactOptional(),
    /** `create`: groups that had the same spokeId or name before the POST, so the POST did not create them. */
    known: z.array(platformGroupText).exactOptional(),
    /**
     * `create`: number of groups in an unspecified form and without an external id that existed before the POST.
     * Present if `known` does not name all of them.
     */
    oddBefore: number.exactOptional(),
    /**
     * `create` of unknown outcome: number of searches that did not find the new group. `delete`: number of DELETEs of the
     * group that the platform has answered without effect, including this one.
     */
    misses: number.exactOptional(),
    /** The guard's reservation for the removals of this write. */
    reserved: GuardRecord.exactOptional(),
    /** Digest of the approval that the write uses up. */
    consumes: text.exactOptional(),
  }),
);
export type Intent = Frozen<z.infer<typeof Intent>>;
export type WriteAction = Intent['action'];

/**
 * Writes whose outcome is unknown, in one record. Until the deadline each of them may still take effect, and the
 * changes that they explain count as groupsync's. The group stays scheduled until then, and is fetched once more.
 */
const Uncertain = z.lazy(() =>
  z.object({
    /** The latest write that is not a deletion. */
    write: Intent.exactOptional(),
    /** The latest deletion. */
    deletion: Intent.exactOptional(),
    /** By field, the values that were sent. */
    sent: z.object(eachField(() => texts)),
    /** Users that they may add or remove; undefined: none. */
    change: ViewPointer.exactOptional(),
    untilMs: number,
    /**
     * Removals that the guard still counts. The reservation of the next write replaces them, because only one of two
     * writes from the same version can succeed.
     */
    removals: GuardRecord.exactOptional(),
    /**
     * All writes were answered with success, but are not shown. The next write that is shown completely ends the
     * record.
     */
    isAnswered: z.boolean().exactOptional(),
  }),
);
export type Uncertain = Frozen<z.infer<typeof Uncertain>>;

/** A sign of an external change to the platform group. */
const SuspectedChange = z.lazy(() =>
  z.object({
    version: versionForm.nullable(),
    /** The activity events about it, oldest first; empty if a comparison found the change. */
    activityEvents: z.array(ActivityEvent),
    /** When it was noted. Always later than the one before, so that it identifies the suspected change. */
    atMs: number,
  }),
);
export type SuspectedChange = Frozen<z.infer<typeof SuspectedChange>>;

const GroupError = z.lazy(() => z.object({ code: text, message: text, atMs: number }));
export type GroupError = Frozen<z.infer<typeof GroupError>>;

/** A value of a group field that the platform refused with a 4xx, with the time and the answer. */
const RefusedValue = z.lazy(() => z.object({ value: text, atMs: number, message: text }));
export type RefusedValue = Frozen<z.infer<typeof RefusedValue>>;

/** The report of the group's failure to the dead-letter queue. */
const FailureReport = z.lazy(() =>
  z.object({
    /** Digest of the failure that was reported last: the same failure is reported once. */
    digest: text.exactOptional(),
    /**
     * Set when an operator retries the group, in place of the digest: the next failure is reported in any case. The failures
     * before that, in the form of a dead-lettered message.
     */
    failedBefore: text.exactOptional(),
  }),
);

/** Present in the directory, pending included; confirmed on the platform; pending. */
const MemberCounts = z.lazy(() => z.object({ wanted: number, applied: number, pending: number }));
export type MemberCounts = Frozen<z.infer<typeof MemberCounts>>;

/** Flap damping: how often we have restored the group within the hour that began at `sinceMs`. */
const FlapDamping = z.lazy(() =>
  z.object({
    sinceMs: number,
    count: number,
    /** The newest directory stamp when the damping began: a newer event is written at once. */
    seen: stampText.exactOptional(),
  }),
);
export type FlapDamping = Frozen<z.infer<typeof FlapDamping>>;

const AcceptedDeletion = z.lazy(() => z.object({ policy: z.enum(['report', 'adopt']), seen: stampText }));
export type AcceptedDeletion = Frozen<z.infer<typeof AcceptedDeletion>>;

/**
 * A member that the last batch changed. `left`: stamp of the membership that the batch ended. `role`: role that the member
 * is bound to, to be read ahead.
 */
const ChangedMember = z.lazy(() =>
  z.object({ member: text, left: stampText.exactOptional(), role: text.optional() }),
);
export type ChangedMember = Frozen<z.infer<typeof ChangedMember>>;

const stamp = stampText.default(STAMP_ZERO);

const StampedActor = z.lazy(() => EventActor.unwrap().extend({ stamp: stampText }));

/** Value and stamp of the register of each field that events set. */
const FieldRegister = z.lazy(() => z.object({ value: text, stamp: stampText }));
const FIELD_REGISTERS = Object.fromEntries(
  EVENT_FIELDS.map((field) => [field, FieldRegister.exactOptional()]),
) as Record<EventField, z.ZodExactOptional<typeof FieldRegister>>;

/** The item of a group: the directory's registers, then the state of apply. */
export const GroupItem = z.lazy(() =>
  z.object({
    upserted: stamp,
    deleted: stamp,
    snapshot: stamp,
    ...FIELD_REGISTERS,
    /** The actor of the latest event that named one, with the stamp of that event. */
    actor: StampedActor.exactOptional(),
    /** Raised by every change that apply must handle; an apply clears `dirty` only at the rev that it has read. */
    rev: number.default(0),
    dirtySince: number.exactOptional(),
    wakeAt: number.exactOptional(),
    /** The result of the last apply; out of date while the group is dirty. */
    settled: z.enum(['in_sync', 'held', 'deleted', 'unnamed', 'excluded']).exactOptional(),
    failedAt: number.exactOptional(),
    attempts: number.default(0),
    /** Times of apply's calls about the group in the last hour, since the last event or operator's action. */
    calledMs: z.array(number).default([]),
    lastError: GroupError.exactOptional(),
    /** By field, the value that the platform refused last. Members are written without it. */
    refusedFields: z.object(eachField(() => RefusedValue.exactOptional())).exactOptional(),
    failureReport: FailureReport.exactOptional(),
    link: Link.exactOptional(),
    intent: Intent.exactOptional(),
    /** The intent that its worker has released without knowing the outcome. */
    releasedIntent: intentText.exactOptional(),
    hold: Hold.exactOptional(),
    /** Removals that an operator approved while others of the group stay held; stored until a write uses them up. */
    approval: Hold.exactOptional(),
    suspectedChange: SuspectedChange.exactOptional(),
    uncertain: Uncertain.exactOptional(),
    flapDamping: FlapDamping.exactOptional(),
    /** When the platform first answered 404 for the group, if it has not shown it since. */
    missedAt: number.exactOptional(),
    /** Drift records of differences that are being restored. */
    openDrift: texts.default([]),
    /** Drift records of differences that were found before the feed reported their initiator. */
    unattributed: texts.default([]),
    /** An external deletion of the group that the policy accepts until the next directory event. */
    acceptedDeletion: AcceptedDeletion.exactOptional(),
    /**
     * The platform group that was linked before, gone or released, with its view. If the group is linked again, the view
     * tells which of its members are managed. `isGone`: the rule `existence` ended the link, after a deletion by groupsync
     * or by others; the group is linked again if the platform shows it. `isListed`: a sweep saw it in a list since then.
     */
    previousLink: z
      .object({
        platformId: platformGroupText,
        view: ViewPointer,
        isGone: z.boolean().exactOptional(),
        isListed: z.boolean().exactOptional(),
      })
      .exactOptional(),
    /** A released platform group whose claim has not ended yet. */
    releasedPlatformId: platformGroupText.exactOptional(),
    /** An operator released this group. Only `adopt` ends that. */
    released: z.boolean().default(false),
    /** Since when the group is paused. It identifies the pause, so that `resume` cannot end a later one. */
    pausedAt: number.exactOptional(),
    counts: MemberCounts.exactOptional(),
    /** It contains other groups, or did once: its members are not only its own member registers. */
    containsGroups: z.boolean().exactOptional(),
    /** It is a member of other groups, or was once: what changes it changes them. */
    isContained: z.boolean().exactOptional(),
    lastWriteAt: number.exactOptional(),
    /** The rev and the view with which the group was last in sync: each member is exactly one user of that view. */
    inSync: z.object({ rev: number, view: intentText }).exactOptional(),
    /** The members that the first mark after that changed; absent if it changed anything else. */
    changedMembers: z.array(ChangedMember).exactOptional(),
    /** Digest of the group's latest batch. All of that batch was stored before the group was marked. */
    batchDigest: text.exactOptional(),
    /** Names of the newest entries of the group's audit: of a write, and of a person's action. */
    lastAudit: text.exactOptional(),
    lastAction: text.exactOptional(),
  }),
);
type GroupItem = Frozen<z.infer<typeof GroupItem>>;
export type SettledState = NonNullable<GroupItem['settled']>;

/** Attributes that a group carries under another name than its item, or together. */
type Renamed =
  | ('upserted' | 'deleted' | 'snapshot' | keyof typeof FIELD_REGISTERS | 'actor')
  | ('dirtySince' | 'wakeAt' | 'failedAt' | 'missedAt' | 'pausedAt' | 'lastWriteAt');

/** One group as apply finds it. */
export interface GroupState extends Omit<GroupItem, Renamed> {
  readonly ref: GroupRef;
  readonly registers: GroupRegisters;
  readonly dirtySinceMs?: number;
  /** When the dirty group will be woken. */
  readonly wakeAtMs?: number;
  readonly failedAtMs?: number;
  readonly missedAtMs?: number;
  readonly pausedAtMs?: number;
  readonly lastWriteAtMs?: number;
}

/** A platform may answer a read from a copy that is this far behind. */
export const READS_BEHIND_MS = 60_000;

/** Why a member cannot be written yet. */
export const PendingCause = z.enum(['unknown', 'ambiguous', 'inactive', 'refused']);
export type PendingCause = z.infer<typeof PendingCause>;

export interface PendingMark {
  readonly cause: PendingCause;
  readonly sinceMs: number;
  /** `refused`: the person's revision that the platform refused with a 4xx; tried again when it changes. */
  readonly personRevision?: number;
  /** `refused`: the person's revision that a successful write sent last, and that the platform then did not show. */
  readonly unshown?: { readonly revision: number; readonly atMs: number };
}

export interface StoredMember extends MemberRegister {
  readonly pending?: PendingMark;
}
