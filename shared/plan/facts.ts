import type { ConnectionSettings } from '../contract/settings.ts';
import type { GroupField } from '../domain/group-fields.ts';
import type { GroupState, GuardRecord, PendingMark, StoredMember } from '../domain/group-state.ts';
import type { RemovalSet } from '../domain/hold.ts';
import type { GroupRef, MemberId, PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import type { Stamp } from '../domain/stamp.ts';
import type { ListedGroup, ObservedGroup, UserChange, View } from '../domain/view.ts';
import type { WantedGroup } from './draft.ts';
import type { RecentRemovals } from './guard.ts';
import type { WhyNot } from './removal-cause.ts';

/** A member that the directory has in the group but that groupsync cannot add yet. */
export type PendingMember = Omit<PendingMark, 'sinceMs'>;

/** A wanted user's member. `revision` identifies the user and the revision of the person. A refusal stores it. */
export interface WantedMember {
  readonly member: MemberId;
  readonly revision: string;
  /** Whether the platform has refused this user before. This write tries the user again. */
  readonly wasRefused?: boolean;
  /**
   * Present if the answer to a successful write lacked the user. Later writes send the user again. Users with the value
   * `lately` do not cause a write of their own.
   */
  readonly hidden?: 'lately' | 'earlier';
}

/** The desired state of one group, with the ids of platform users. */
export interface Wanted {
  /** Present if apply read only the members of the last change. All other members are taken from the view. */
  readonly isPart?: true;
  readonly state: 'absent' | 'unnamed' | 'present';
  /** The group; undefined unless `state` is `present`. */
  readonly group: WantedGroup | undefined;
  /** The number of members in the directory, including pending members and without excluded members. */
  readonly count: number;
  /** The number of members that `people.exclude` leaves out. */
  readonly excluded: number;
  readonly pending: ReadonlyMap<MemberId, PendingMember>;
  /** Users that the directory names but that must not be members now, each with the cause of the removal. */
  readonly whyNot: ReadonlyMap<PlatformUserId, WhyNot>;
  /** The wanted members by platform user. Several members may match the same user. */
  readonly membersByUser: ReadonlyMap<PlatformUserId, readonly WantedMember[]>;
  readonly registers: readonly StoredMember[];
  /** The deletion stamps of users who still have a membership register. */
  readonly userFloors: ReadonlyMap<MemberId, Stamp>;
}

export interface Views {
  /** The latest view; undefined if there is no link, or the stored view cannot be read. */
  readonly base: View | undefined;
  readonly isUnreadable: boolean;
  /** The intended result of the open intent: the base view after the change of the intent. */
  readonly prepared: View | undefined;
  /** The users that uncertain writes may change; undefined if there are no such writes, or the set cannot be read. */
  readonly uncertain: UserChange | undefined;
  /** The intended result of an uncertain creation. */
  readonly created: View | undefined;
}

/** The list of removals that need a decision. */
export interface HeldUsers {
  readonly sets: readonly RemovalSet[];
  /** Users that the directory has wanted after a set was recorded, with the stamp of their last membership. */
  readonly wantedAt: ReadonlyMap<PlatformUserId, Stamp>;
}

/**
 * The guard's reservation for the next write, and the other removals of the rolling hour. `concurrent` is the number of
 * very recent removals of this group. Another worker may have reserved them for the same write.
 */
export interface Reservation extends GuardRecord {
  readonly size: number;
  /** Whether the write deletes the platform group. */
  readonly deletes: boolean;
  readonly recent: RecentRemovals & { readonly concurrent: number };
}

/**
 * The groups that exist but are missing in a list. The compared groups are the managed groups of the connection, and
 * the groups that existed before a creation.
 */
export interface MissingGroups {
  /** A group that the list lacks, although the platform answers a GET of its id. */
  readonly existing: PlatformGroupId | undefined;
  readonly showsNoManaged: boolean;
}

interface Namesakes {
  /** The directory groups of this connection that own one of the platform groups, without released groups. */
  readonly owners: readonly Pick<GroupState, 'ref' | 'registers'>[];
  /** Whether one of the platform groups has no owner. */
  readonly areUnmanaged: boolean;
}

export interface Listing {
  readonly groups: readonly ListedGroup[];
  /** The list is at most this old. */
  readonly ageMs: number;
  /**
   * Whether the list shows a platform group that another directory group of the company owns; undefined if the owners
   * were not read yet.
   */
  readonly showsManaged?: boolean | undefined;
  /** The platform groups with the name or the external id of the group to create; undefined if not read yet. */
  readonly namesakes?: Namesakes | undefined;
  /** Existing groups that are missing in the list; undefined if not compared yet. */
  readonly missing?: MissingGroups | undefined;
}

export interface Rejected {
  readonly owed: GuardRecord | undefined;
  readonly name?: string | undefined;
}

export type Shown = Pick<ObservedGroup, 'id' | 'version'> & { readonly atMs: number };

/** Why a platform group was not adopted: the platform answered 404, or another group owns it. */
export type PassedOver = 'not_found' | GroupRef;

/**
 * The facts for a decision about one group. An undefined fact has not been read yet. If `decide` needs such a fact, the
 * decision is `read`. A fact does not change later in the same pass.
 */
export interface Facts {
  readonly nowMs: number;
  /** The time that the platform may take to show a group that it has created. */
  readonly createSettleMs: number;
  readonly state: GroupState;
  readonly settings: ConnectionSettings;
  /** The users of blocked people; absent if no person is blocked. */
  readonly blocked?: ReadonlySet<PlatformUserId> | undefined;
  /** The creation of the restored table (`isRestated`); absent without a restore. */
  readonly restoredAtMs?: number | undefined;
  readonly wanted?: Wanted | undefined;
  readonly views?: Views | undefined;
  readonly held?: HeldUsers | undefined;
  /**
   * Like `ended`, for all members that left the group. They are read only if users may stay, or removals need a decision.
   * If the person of a member ended or is suspended, this is the cause.
   */
  readonly departed?: ReadonlyMap<PlatformUserId, WhyNot> | undefined;
  /** The users of members that left the group, each with the cause. They are read only for a plan with removals. */
  readonly ended?: ReadonlyMap<PlatformUserId, WhyNot> | undefined;
  /** The platform group that this pass fetched. After an uncertain creation, the group that the POST created. */
  readonly fetched?: ObservedGroup | 'gone' | undefined;
  /** The platform group of the last fetch or answer of this attempt. An attempt may have several passes. */
  readonly shown?: Shown | undefined;
  readonly listed?: Listing | undefined;
  readonly reservation?: Reservation | undefined;
  /** Additions that the write of this pass leaves out, because the platform refused a write with these additions. */
  readonly isolated?: ReadonlySet<PlatformUserId> | undefined;
  /** Fields that this attempt does not write, because the platform refused a write with these fields. */
  readonly withheld?: ReadonlySet<GroupField> | undefined;
  /** Whether the platform refused a write of this attempt. The attempt's later writes are never a PUT. */
  readonly isNarrowed?: boolean | undefined;
  /** Platform groups that could not be adopted, by id. */
  readonly passedOver?: ReadonlyMap<string, PassedOver> | undefined;
  /** The platform's answer to the DELETE of the open intent: 2xx, or 404. */
  readonly deletion?: 'deleted' | 'missing' | undefined;
  /** Whether `tries` of the open intent includes this attempt. */
  readonly isCounted?: boolean;
  /** The refusal of the open intent, or of the intent that was dropped in this pass. */
  readonly rejected?: Rejected | undefined;
}
