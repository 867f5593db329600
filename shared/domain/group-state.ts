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
import { Removals } from './hold.ts';
import type { GroupId, GroupRef } from './ids.ts';
import { SOURCES, type Source } from './source.ts';
import { STAMP_ZERO, type Stamp } from './stamp.ts';

const GuardRecord = z.lazy(() => z.object({ intent: intentText, atMs: number, removals: number }));
export type GuardRecord = Frozen<z.infer<typeof GuardRecord>>;

/**
 * A pointer to a stored view, with a hash that shows whether the view is complete. `text` contains a small view. For a
 * large view, `head` names the buckets that contain it.
 */
const ViewPointer = z.lazy(() =>
  z.object({
    id: intentText,
    size: number,
    /** For a view with other marks: the id of the first view with this content. The history uses it. */
    sameAs: text.exactOptional(),
    /** The `contentDigest` of the content that the platform showed last. The sweep compares it with the list. */
    digest: text.exactOptional(),
    text: text.exactOptional(),
    head: z.object({ chunks: number, hash: text }).exactOptional(),
  }),
);
export type ViewPointer = Frozen<z.infer<typeof ViewPointer>>;

const Link = z.lazy(() =>
  z.object({
    id: platformGroupText,
    version: versionForm,
    view: ViewPointer,
    /**
     * The time at which groupsync created the platform group. A 404 soon after this time does not prove a deletion,
     * because the platform may show the group with a delay.
     */
    createdAtMs: number.exactOptional(),
    /** Whether the group was adopted or changed by another client. The next write then sends every field. */
    takeOver: z.boolean().exactOptional(),
  }),
);
export type Link = Frozen<z.infer<typeof Link>>;

export type LinkedGroup = Pick<Link, 'id' | 'version' | 'view'>;

/**
 * The record of a platform write, stored before the call, until the outcome is known. To settle an intent, apply needs
 * only the view of the group and the changes in the intent. So apply can settle an intent even if the directory group
 * was renamed or deleted after the write.
 */
const Intent = z.lazy(() =>
  z.object({
    id: intentText,
    action: z.enum(['create', 'patch', 'put', 'delete']),
    atMs: number,
    /** The values of the fields that the write sends. A deletion sends no values. */
    ...eachField(() => text.nullish()),
    name: text,
    spokeId: text.nullable(),
    /** Present for every action except `create`. */
    platformId: platformGroupText.exactOptional(),
    versionBefore: versionForm.exactOptional(),
    /** The users to add and to remove. For `create`, the view of the whole new group. */
    change: ViewPointer.exactOptional(),
    /** For `create`: earlier groups with the same spokeId or name, malformed groups, and the previous group. */
    known: z.array(platformGroupText).exactOptional(),
    /** For `create`: the number of malformed groups without external id before the POST, if `known` lacks some. */
    malformedBefore: number.exactOptional(),
    /**
     * For a `create` with an unknown outcome: the number of searches that did not find the new group. For `delete`: the
     * number of DELETEs, including this one, that the platform answered although the group stayed.
     */
    tries: number.exactOptional(),
    reserved: GuardRecord.exactOptional(),
    /** The digests of the approvals that permit this write. They end with the write. */
    consumes: texts.exactOptional(),
  }),
);
export type Intent = Frozen<z.infer<typeof Intent>>;
export type WriteAction = Intent['action'];

/**
 * The record of all uncertain writes of a group. Until the deadline `untilMs`, each of these writes may still take
 * effect, and a change that one of them explains is not drift. At the deadline, a scheduled wake-up fetches the group
 * once more.
 */
const Uncertain = z.lazy(() =>
  z.object({
    /** The latest uncertain write that is not a deletion. */
    write: Intent.exactOptional(),
    deletion: Intent.exactOptional(),
    sent: z.object(eachField(() => texts)),
    /** The users that these writes may add or remove; undefined if there are no such users. */
    change: ViewPointer.exactOptional(),
    untilMs: number,
    /**
     * Removals that the guard still counts. The reservation of the next write replaces them. Both writes start from the
     * same version, so at most one of the two writes can succeed.
     */
    removals: GuardRecord.exactOptional(),
    /** The digests of the approvals that permit these writes. Until the deadline, they permit no other write. */
    consumes: texts.exactOptional(),
    /**
     * Whether the platform answered all these writes with success, but reads do not show them. If true, the record ends
     * when a read shows the next write completely.
     */
    isAnswered: z.boolean().exactOptional(),
  }),
);
export type Uncertain = Frozen<z.infer<typeof Uncertain>>;

const SuspectedChange = z.lazy(() =>
  z.object({
    version: versionForm.nullable(),
    /** The activity events about the change, oldest first; empty if the feed did not report the change. */
    activityEvents: z.array(ActivityEvent),
    /**
     * The time at which the change was recorded. Each suspected change of a group has a later time than the previous
     * ones, so the time identifies the change.
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

/** Data about the group's reports to the dead-letter queue. */
const FailureReport = z.lazy(() =>
  z.object({
    /** The digest of the failure that was reported last. groupsync does not report an equal failure again. */
    digest: text.exactOptional(),
    /**
     * The earlier failures, in the form of a dead-lettered message. When an operator retries the group, this field
     * replaces `digest`. So the next failure is always reported.
     */
    failedBefore: text.exactOptional(),
  }),
);

/**
 * `wanted`: members in the directory, including pending members. `applied`: members that the platform has confirmed.
 * `pending`: pending members.
 */
const MemberCounts = z.lazy(() =>
  z.object({
    wanted: number,
    applied: number,
    pending: number,
    /** The members that `people.exclude` leaves out; absent if there are none. The other counts lack them. */
    excluded: number.exactOptional(),
  }),
);
export type MemberCounts = Frozen<z.infer<typeof MemberCounts>>;

/** Flap damping: the number of restorations of the group within the hour that began at `sinceMs`. */
const FlapDamping = z.lazy(() =>
  z.object({
    sinceMs: number,
    count: number,
    /** The newest directory stamp when the damping began. groupsync writes a newer event without a wait. */
    seen: stampText.exactOptional(),
  }),
);
export type FlapDamping = Frozen<z.infer<typeof FlapDamping>>;

/**
 * A member that the last batch changed. If the batch removed the member, `left` is the stamp of the ended membership.
 * `role` is the role to which the member is bound. Apply reads this role together with the group.
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

/** An unfinished takeover, as each of its two groups stores it. While it is open, apply leaves both groups as they are. */
const OpenMove = z.lazy(() =>
  z.object({
    from: groupText,
    to: groupText,
    source: z.enum(SOURCES),
    sinceMs: number,
    floor: stampText,
  }),
);
export type OpenMove = Frozen<z.infer<typeof OpenMove>>;

/** A group that has moved to another source. The ids are equal if both sources name the group by the same id. */
export interface MovedGroup {
  readonly from: GroupId;
  readonly to: GroupId;
  readonly source: Source;
  /** The time of the takeover, until the platform group has moved. It identifies the takeover. */
  readonly openSinceMs?: number;
  /** The floor of the members of the group `to` at that time. */
  readonly floor?: Stamp;
  /**
   * Present for a new SCIM group that yields to the group `to` of the reader, because its name or its external id names
   * that group.
   */
  readonly yields?: 'name' | 'id';
}

/** The registers stay in a takeover, because each source has its own, and the old source may become the owner again. */
const registersPart = () => ({
  upserted: stamp,
  deleted: stamp,
  snapshot: stamp,
  ...FIELD_REGISTERS,
  /** The actor of the latest event that has an actor, with the stamp of that event. */
  actor: StampedActor.exactOptional(),
  /** Whether the group contains or contained inner groups. Their members count as members of this group. */
  containsGroups: z.boolean().exactOptional(),
  /** Whether the group is or was a member of outer groups. A change of this group also changes these groups. */
  isContained: z.boolean().exactOptional(),
  /** The time at which an operator or the reader confirmed the registers of a restored table (`isRestated`). */
  restatedAt: number.exactOptional(),
  /** The digest of the latest batch about the group. The whole batch was stored before the group was marked dirty. */
  batchDigest: text.exactOptional(),
});

/** What belongs to the platform group. A takeover moves it as a whole (`store/group-moves.ts`). */
const platformPart = () => ({
  /** The value that the platform refused last, by field. Writes of members omit this value. */
  refusedFields: z.object(eachField(() => RefusedValue.exactOptional())).exactOptional(),
  link: Link.exactOptional(),
  intent: Intent.exactOptional(),
  /** The open intent whose worker stopped before the outcome was known. Another worker may settle it immediately. */
  releasedIntent: intentText.exactOptional(),
  /** The removals that need an operator's decision. Only apply and operators write this list. */
  removals: Removals.exactOptional(),
  suspectedChange: SuspectedChange.exactOptional(),
  uncertain: Uncertain.exactOptional(),
  flapDamping: FlapDamping.exactOptional(),
  /** The time of the platform's first 404 for the group, until the platform shows the group again. */
  missingSince: number.exactOptional(),
  /** The ids of drift records whose difference is not settled yet. */
  openDrift: texts.default([]),
  /** The ids of drift records that have no initiator yet, because the feed has not reported the change. */
  unattributed: texts.default([]),
  /**
   * The platform group of the previous link, with its last view. That group is gone or was released. If groupsync
   * links the same platform group again, the view shows which of its members groupsync added. `isGone` means that
   * `existence` ended the link, because the group was deleted. If the platform shows such a group again, groupsync
   * links it again. `isListed` means that a later sweep has seen the group in a list.
   */
  previousLink: z
    .object({
      platformId: platformGroupText,
      view: ViewPointer,
      isGone: z.boolean().exactOptional(),
      isListed: z.boolean().exactOptional(),
    })
    .exactOptional(),
  /** The name with which an operator decided to create a platform group beside an unmanaged one. */
  createsBeside: text.exactOptional(),
  /** The time of the operator's pause. It identifies the pause, so `resume` cannot end a later pause. */
  pausedAt: number.exactOptional(),
  lastWriteAt: number.exactOptional(),
});

/**
 * The work on this item. It stays in a takeover, because both groups are planned again, messages and audit entries name
 * their group, and only the owner of a claim ends it.
 */
const workPart = () => ({
  /**
   * Each change that apply must process raises this number by one. Apply clears the dirty mark only if this number is
   * the same as at its read of the item.
   */
  rev: number.default(0),
  dirtySince: number.exactOptional(),
  /** The time since which the group settles without all of its changes (`leavesChanges` in `store/group-writes.ts`). */
  unwrittenSince: number.exactOptional(),
  wakeAt: number.exactOptional(),
  /** Whether a worker sends the message of the wake-up. Otherwise the requeue job sends it. */
  wakeIsSent: z.boolean().exactOptional(),
  /** The result of the last run of apply. While the group is dirty, this result is outdated. */
  settled: z
    .enum(['in_sync', 'held', 'deleted', 'unnamed', 'excluded', 'name_clash', 'unrestated'])
    .exactOptional(),
  failedAt: number.exactOptional(),
  attempts: number.default(0),
  /** The times of apply's calls in the last hour. An event or an operator's action empties the list. */
  calledMs: z.array(number).default([]),
  lastError: GroupError.exactOptional(),
  failureReport: FailureReport.exactOptional(),
  counts: MemberCounts.exactOptional(),
  /**
   * The rev and the view with which the group was last in sync. At that time, each member corresponded to exactly one
   * user of the view.
   */
  inSync: z.object({ rev: number, view: intentText }).exactOptional(),
  /** The members that the first change after `inSync.rev` affected; absent if the change affected anything else. */
  changedMembers: z.array(ChangedMember).exactOptional(),
  /** A released platform group whose claim must still be removed. */
  releasedPlatformId: platformGroupText.exactOptional(),
  /** Whether an operator or a takeover released this group. The command `adopt` or a takeover ends this. */
  released: z.boolean().default(false),
  openMove: OpenMove.exactOptional(),
  /** The group of another source that owns this group's platform group, or its name. */
  movedTo: groupText.exactOptional(),
  /** The time of the latest takeover that moved a platform group to this group. */
  movedAt: number.exactOptional(),
  /** The floor of this group's members at that takeover. Members with an earlier stamp were not wanted then. */
  movedFloor: stampText.exactOptional(),
  /** The keys of the group's newest audit entries: `lastAudit` of a write, `lastAction` of an operator's action. */
  lastAudit: text.exactOptional(),
  lastAction: text.exactOptional(),
  /** The keys of entries whose worker then stored nothing else, separated by spaces. The next entries name them. */
  unnamedAudits: text.exactOptional(),
});

/** Each attribute is in one of the three parts, which decides whether the attribute moves. */
export const GroupItem = z.lazy(() => z.object({ ...registersPart(), ...platformPart(), ...workPart() }));
export const platformAttributes = (): readonly string[] => Object.keys(platformPart());
type GroupItem = Frozen<z.infer<typeof GroupItem>>;
export type SettledState = NonNullable<GroupItem['settled']>;

/** Attributes of the item that `GroupState` renames or combines. */
type Renamed =
  | ('upserted' | 'deleted' | 'snapshot' | keyof typeof FIELD_REGISTERS | 'actor')
  | ('dirtySince' | 'unwrittenSince' | 'wakeAt' | 'failedAt' | 'missingSince' | 'pausedAt' | 'lastWriteAt');

export interface GroupState extends Omit<GroupItem, Renamed> {
  readonly ref: GroupRef;
  readonly registers: GroupRegisters;
  readonly dirtySinceMs?: number;
  readonly unwrittenSinceMs?: number;
  /** The time of the scheduled wake-up of a dirty group. */
  readonly wakeAtMs?: number;
  readonly failedAtMs?: number;
  readonly missingSinceMs?: number;
  readonly pausedAtMs?: number;
  readonly lastWriteAtMs?: number;
}

/** A change of some facts of a group. A fact that is undefined ends. */
export type StateChange = {
  readonly [Name in Exclude<keyof GroupState, 'ref' | 'registers'>]?: GroupState[Name] | undefined;
};

/** The maximum age of the content that a read shows, because a replica may lag behind. */
export const READS_BEHIND_MS = 60_000;

/** The reason why groupsync cannot add a member yet. */
export const PendingCause = z.enum(['unknown', 'ambiguous', 'inactive', 'refused', 'blocked']);
export type PendingCause = z.infer<typeof PendingCause>;

export interface PendingMark {
  readonly cause: PendingCause;
  readonly sinceMs: number;
  /**
   * For `refused`: the revision and the platform id of the person when the platform refused the member with a 4xx.
   * groupsync tries the member again after one of them changes, or after a day.
   */
  readonly personRevision?: string;
  /**
   * For `refused`: set if the platform accepted a write with the user, but then did not show the user. `revision` has
   * the person's revision and platform id at that time.
   */
  readonly hidden?: { readonly revision: string; readonly atMs: number };
}

export interface StoredMember extends MemberRegister {
  /** The latest stamp with which the directory had the member in the group. */
  readonly presentAt?: Stamp;
  readonly pending?: PendingMark;
}
