import * as z from 'zod';
import { ActivityEvent } from './drift.ts';
import { EventActor } from './event.ts';
import type { Frozen } from './forms.ts';
import {
  groupText,
  intentText,
  number,
  platformGroupText,
  stampText,
  text,
  texts,
  versionForm,
} from './forms.ts';
import type { GroupRegisters, MemberRegister } from './group.ts';
import { EVENT_FIELDS, type EventField, eachField } from './group-fields.ts';
import { Hold } from './hold.ts';
import type { GroupRef } from './ids.ts';
import { STAMP_ZERO } from './stamp.ts';

const GuardRecord = z.lazy(() => z.object({ intent: intentText, atMs: number, removals: number }));
export type GuardRecord = Frozen<z.infer<typeof GuardRecord>>;

/**
 * A pointer to a view, with a proof that the stored view is complete. A small view is in `text`. For a large view,
 * `head` names its buckets.
 */
const ViewPointer = z.lazy(() =>
  z.object({
    id: intentText,
    size: number,
    /**
     * The digest of the content that the platform showed last (`contentDigest`). The sweep compares it with the list.
     */
    digest: text.exactOptional(),
    text: text.exactOptional(),
    head: z.object({ chunks: number, hash: text }).exactOptional(),
  }),
);
export type ViewPointer = Frozen<z.infer<typeof ViewPointer>>;

const Link = z.lazy(() =>
  z.object({
    id: platformGroupText,
    /** The version and the view of the last write or read. */
    version: versionForm,
    view: ViewPointer,
    /**
     * The time at which groupsync created the platform group. A 404 soon after this time is a delay of the platform,
     * not a deletion.
     */
    createdAtMs: number.exactOptional(),
    /** Set if the group was adopted or changed externally. The next write then sends every field. */
    takeOver: z.boolean().exactOptional(),
  }),
);
export type Link = Frozen<z.infer<typeof Link>>;

/** The platform group of a link, as last written or read. */
export type LinkedGroup = Pick<Link, 'id' | 'version' | 'view'>;

/**
 * A write to the platform that is about to happen, stored until its outcome is known. The intent contains the changes
 * of the write. To settle an intent, only the view of the group and the content of the intent are needed. So an intent
 * can be settled even if the directory group was renamed or deleted after the write.
 */
const Intent = z.lazy(() =>
  z.object({
    id: intentText,
    action: z.enum(['create', 'patch', 'put', 'delete']),
    atMs: number,
    /** The values sent. A deletion sends none. */
    ...eachField(() => text.nullish()),
    name: text,
    spokeId: text.nullable(),
    /** Present for every action except `create`. */
    platformId: platformGroupText.exactOptional(),
    versionBefore: versionForm.exactOptional(),
    /** The users to add and remove. For a creation, the view of the whole new group. */
    change: ViewPointer.exactOptional(),
    /** For `create`: groups with the same spokeId or name that existed before the POST, so none of them is new. */
    known: z.array(platformGroupText).exactOptional(),
    /**
     * For `create`: the number of malformed groups without an external id that existed before the POST. The number is
     * stored only if `known` does not list all of these groups.
     */
    oddBefore: number.exactOptional(),
    /**
     * For a `create` of unknown outcome: the number of searches that did not find the new group. For `delete`: the
     * number of DELETEs of the group that the platform has answered without effect, including this DELETE.
     */
    misses: number.exactOptional(),
    /** The guard's reservation for the removals of this write. */
    reserved: GuardRecord.exactOptional(),
    /** The digest of the approval that the write uses up. */
    consumes: text.exactOptional(),
  }),
);
export type Intent = Frozen<z.infer<typeof Intent>>;
export type WriteAction = Intent['action'];

/**
 * One record of all writes whose outcome is unknown. Until the deadline, each of these writes may still take effect,
 * and a change that one of them explains counts as groupsync's own. The group stays scheduled until the deadline, and
 * is then fetched once more.
 */
const Uncertain = z.lazy(() =>
  z.object({
    /** The latest write that is not a deletion. */
    write: Intent.exactOptional(),
    deletion: Intent.exactOptional(),
    sent: z.object(eachField(() => texts)),
    /** The users that these writes may add or remove; undefined if there are none. */
    change: ViewPointer.exactOptional(),
    untilMs: number,
    /**
     * Removals that the guard still counts. The reservation of the next write replaces them: both writes start from the
     * same version, so at most one of them can succeed.
     */
    removals: GuardRecord.exactOptional(),
    /**
     * Whether all these writes were answered with success, although reads do not show them. The record then ends when a
     * read shows the next write completely.
     */
    isAnswered: z.boolean().exactOptional(),
  }),
);
export type Uncertain = Frozen<z.infer<typeof Uncertain>>;

/** A sign of an external change to the platform group. */
const SuspectedChange = z.lazy(() =>
  z.object({
    version: versionForm.nullable(),
    /** The activity events about the change, oldest first. The list is empty if a comparison found the change. */
    activityEvents: z.array(ActivityEvent),
    /**
     * The time at which the change was noted. Each suspected change of a group has a later time than those before it,
     * so the time identifies the change.
     */
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
    /** The digest of the failure that was reported last. An equal failure is not reported again. */
    digest: text.exactOptional(),
    /**
     * The earlier failures, in the form of a dead-lettered message. When an operator retries the group, this field
     * replaces the digest, so that the next failure is always reported.
     */
    failedBefore: text.exactOptional(),
  }),
);

/**
 * `wanted`: members in the directory, including pending members. `applied`: members that the platform has confirmed.
 * `pending`: pending members.
 */
const MemberCounts = z.lazy(() => z.object({ wanted: number, applied: number, pending: number }));
export type MemberCounts = Frozen<z.infer<typeof MemberCounts>>;

/** Flap damping: the number of restorations of the group within the hour that began at `sinceMs`. */
const FlapDamping = z.lazy(() =>
  z.object({
    sinceMs: number,
    count: number,
    /** The newest directory stamp when the damping began. A newer event is written without a wait. */
    seen: stampText.exactOptional(),
  }),
);
export type FlapDamping = Frozen<z.infer<typeof FlapDamping>>;

const AcceptedDeletion = z.lazy(() => z.object({ policy: z.enum(['report', 'adopt']), seen: stampText }));
export type AcceptedDeletion = Frozen<z.infer<typeof AcceptedDeletion>>;

/**
 * A member that the last batch changed. `left` is the stamp of the membership that the batch ended. `role` is the role
 * to which the member is bound. Apply reads this role in advance.
 */
const ChangedMember = z.lazy(() =>
  z.object({ member: text, left: stampText.exactOptional(), role: text.optional() }),
);
export type ChangedMember = Frozen<z.infer<typeof ChangedMember>>;

const stamp = stampText.default(STAMP_ZERO);

const StampedActor = z.lazy(() => EventActor.unwrap().extend({ stamp: stampText }));

const FieldRegister = z.lazy(() => z.object({ value: text, stamp: stampText }));
const FIELD_REGISTERS = Object.fromEntries(
  EVENT_FIELDS.map((field) => [field, FieldRegister.exactOptional()]),
) as Record<EventField, z.ZodExactOptional<typeof FieldRegister>>;

/** The item of a group. The item has the directory's registers first, then the state of apply. */
export const GroupItem = z.lazy(() =>
  z.object({
    upserted: stamp,
    deleted: stamp,
    snapshot: stamp,
    ...FIELD_REGISTERS,
    /** The actor of the latest event that named an actor, with the stamp of that event. */
    actor: StampedActor.exactOptional(),
    /**
     * Every change that apply must handle raises this number by one. Apply clears the dirty mark only if this number
     * has not changed since apply read it.
     */
    rev: number.default(0),
    dirtySince: number.exactOptional(),
    wakeAt: number.exactOptional(),
    /** The result of the last apply. The result is out of date while the group is dirty. */
    settled: z.enum(['in_sync', 'held', 'deleted', 'unnamed', 'excluded']).exactOptional(),
    failedAt: number.exactOptional(),
    attempts: number.default(0),
    /**
     * The times of apply's calls about the group in the last hour. An event or an operator's action empties the list.
     */
    calledMs: z.array(number).default([]),
    lastError: GroupError.exactOptional(),
    /** The value that the platform refused last, by field. Members are written without this value. */
    refusedFields: z.object(eachField(() => RefusedValue.exactOptional())).exactOptional(),
    failureReport: FailureReport.exactOptional(),
    link: Link.exactOptional(),
    intent: Intent.exactOptional(),
    /** The intent that its worker released without a known outcome. */
    releasedIntent: intentText.exactOptional(),
    /** Removals that wait for an operator's decision. */
    hold: Hold.exactOptional(),
    /** Removals that an operator approved. They are stored until a write uses them up. */
    approval: Hold.exactOptional(),
    /** Removals that an operator rejected. They are stored as long as the directory wants them, at most a year. */
    rejection: Hold.exactOptional(),
    suspectedChange: SuspectedChange.exactOptional(),
    uncertain: Uncertain.exactOptional(),
    flapDamping: FlapDamping.exactOptional(),
    /** The time of the platform's first 404 for the group. It is removed when the platform shows the group again. */
    missedAt: number.exactOptional(),
    /** Drift records of differences that are being restored. */
    openDrift: texts.default([]),
    /** Drift records of differences that were found before the feed reported their initiator. */
    unattributed: texts.default([]),
    /** An external deletion of the group that the policy accepts until the next directory event. */
    acceptedDeletion: AcceptedDeletion.exactOptional(),
    /**
     * The platform group of the previous link, which is gone or was released, with its view. If the same platform group
     * is linked again, the view shows which of its members groupsync manages. `isGone` means that the rule `existence`
     * ended the link, after a deletion by groupsync or by another client. If the platform shows such a group again, it
     * is linked again. `isListed` means that a sweep has since seen the group in a list.
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
    /** Whether an operator or a takeover released this group. Only `adopt` and another takeover end the release. */
    released: z.boolean().default(false),
    /** The group to which a takeover moved this group. */
    movedTo: groupText.exactOptional(),
    /** The time at which the group was paused. It identifies the pause, so that `resume` cannot end a later pause. */
    pausedAt: number.exactOptional(),
    counts: MemberCounts.exactOptional(),
    /** Whether the group contains or contained other groups, from whose registers its members then also come. */
    containsGroups: z.boolean().exactOptional(),
    /** Whether the group is or was a member of other groups. A change of the group can then change these groups too. */
    isContained: z.boolean().exactOptional(),
    lastWriteAt: number.exactOptional(),
    /**
     * The rev and the view with which the group was last in sync. At that time, each member corresponded to exactly one
     * user of the view.
     */
    inSync: z.object({ rev: number, view: intentText }).exactOptional(),
    /** The members that the first change after `inSync.rev` affected; absent if it affected anything else. */
    changedMembers: z.array(ChangedMember).exactOptional(),
    /** The digest of the group's latest batch. The whole batch was stored before the group was marked. */
    batchDigest: text.exactOptional(),
    /** The names of the newest entries of the group's audit: one of a write, and one of an operator's action. */
    lastAudit: text.exactOptional(),
    lastAction: text.exactOptional(),
  }),
);
type GroupItem = Frozen<z.infer<typeof GroupItem>>;
export type SettledState = NonNullable<GroupItem['settled']>;

/** Attributes of the item that have another name in `GroupState`, or that `GroupState` combines. */
type Renamed =
  | ('upserted' | 'deleted' | 'snapshot' | keyof typeof FIELD_REGISTERS | 'actor')
  | ('dirtySince' | 'wakeAt' | 'failedAt' | 'missedAt' | 'pausedAt' | 'lastWriteAt');

/** One group as apply reads it. */
export interface GroupState extends Omit<GroupItem, Renamed> {
  readonly ref: GroupRef;
  readonly registers: GroupRegisters;
  readonly dirtySinceMs?: number;
  /** The time at which the dirty group will be woken. */
  readonly wakeAtMs?: number;
  readonly failedAtMs?: number;
  readonly missedAtMs?: number;
  readonly pausedAtMs?: number;
  readonly lastWriteAtMs?: number;
}

/**
 * The maximum age of the content that a read of the platform shows. A read may be answered by a replica that is behind.
 */
export const READS_BEHIND_MS = 60_000;

/** The reason why a member cannot be written yet. */
export const PendingCause = z.enum(['unknown', 'ambiguous', 'inactive', 'refused']);
export type PendingCause = z.infer<typeof PendingCause>;

export interface PendingMark {
  readonly cause: PendingCause;
  readonly sinceMs: number;
  /**
   * For `refused`: the revision that the person had when the platform refused the member with a 4xx. The member is
   * tried again when the revision changes.
   */
  readonly personRevision?: number;
  /**
   * For `refused`: the platform accepted a write with the user, but then did not show the user. `revision` is the
   * person's revision at that time.
   */
  readonly unshown?: { readonly revision: number; readonly atMs: number };
}

export interface StoredMember extends MemberRegister {
  readonly pending?: PendingMark;
}
