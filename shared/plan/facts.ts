import type { ConnectionSettings } from '../contract/settings.ts';
import type { GroupField } from '../domain/group-fields.ts';
import type { GroupState, GuardRecord, PendingMark, StoredMember } from '../domain/group-state.ts';
import type { GroupRef, MemberId, PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import type { Stamp } from '../domain/stamp.ts';
import type { ListedGroup, ObservedGroup, UserChange, View } from '../domain/view.ts';
import type { WantedGroup } from './draft.ts';
import type { RecentRemovals } from './guard.ts';

/** A member that the directory has in the group but that cannot be written. */
export type PendingMember = Omit<PendingMark, 'sinceMs'>;

/** The member behind a wanted user. A refusal is stored with the revision of the person. */
export interface Standing {
  readonly member: MemberId;
  readonly revision: number;
  /** The platform has refused them before: they are tried again. */
  readonly wasRefused?: boolean;
  /** Users that a successful write did not show: they are still sent. `lately`: they alone cause no write. */
  readonly unshown?: 'lately' | 'earlier';
}

/** What the directory wants of one group, in the platform's terms. */
export interface Wanted {
  /** Only the members of the last change were read. All others are assumed to be as the view has them. */
  readonly isPart?: true;
  readonly state: 'absent' | 'unnamed' | 'present';
  /** Only of a group that is `present`. */
  readonly group: WantedGroup | undefined;
  /** Members present in the directory, pending ones included. */
  readonly count: number;
  readonly pending: ReadonlyMap<MemberId, PendingMember>;
  /** Users that the directory names but who may not be members now, with the reason of their removal. */
  readonly whyNot: ReadonlyMap<PlatformUserId, { readonly member: MemberId; readonly reason: string }>;
  readonly standing: ReadonlyMap<PlatformUserId, readonly Standing[]>;
  readonly registers: readonly StoredMember[];
  /** Up to when the directory deleted the users whose registers say that they are in. */
  readonly userFloors: ReadonlyMap<MemberId, Stamp>;
}

/** Our own idea of the platform's group. */
export interface Views {
  /** As last written or read; undefined where there is no link, or the stored view cannot be read. */
  readonly base: View | undefined;
  readonly isUnreadable: boolean;
  /** The intended result of the open intent: the base with its change. */
  readonly prepared: View | undefined;
  /** Users that uncertain writes may change; undefined: there are no such writes, or the set cannot be read. */
  readonly uncertain: UserChange | undefined;
  /** The intended result of an uncertain creation. */
  readonly created: View | undefined;
}

/** The removals that the group's hold is about. */
export interface HeldUsers {
  /** The full set; undefined where it cannot be read. */
  readonly users: ReadonlySet<PlatformUserId> | undefined;
  /** The kind of write that the hold names, to this very platform group; undefined: another group, or unreadable. */
  readonly about: 'remove' | 'delete' | undefined;
  /** Removals that an operator approved next to the hold; undefined if there are none, or the set cannot be read. */
  readonly approved?: Omit<HeldUsers, 'approved'> | undefined;
}

/**
 * The guard's reservation for the next write, and the other removals of the rolling hour. `concurrent` counts the
 * removals of this group that are so recent that another worker may be about to send the same write.
 */
export interface Reservation extends GuardRecord {
  /** Users in the group before the write. */
  readonly size: number;
  /** The write deletes the group. */
  readonly deletes: boolean;
  readonly recent: RecentRemovals & { readonly concurrent: number };
}

/** The managed groups of the connection, and groups known from before a creation. */
export interface UnlistedGroups {
  /** A group that the platform shows by its id, but not in the list. */
  readonly existing: PlatformGroupId | undefined;
  /** The connection manages groups, and the list shows none of them. */
  readonly hidesAllManaged: boolean;
}

/** The platform's groups. */
export interface Listing {
  readonly groups: readonly ListedGroup[];
  /** Begun no longer ago than this. */
  readonly ageMs: number;
  /** Whether the list shows a platform group that another directory group of the company owns; undefined: not read yet. */
  readonly showsManaged?: boolean | undefined;
  /** Groups that existed before and that the list lacks; undefined: not compared yet. */
  readonly unlisted?: UnlistedGroups | undefined;
}

export interface Rejected {
  readonly owed: GuardRecord | undefined;
  /** The name that was sent. */
  readonly name?: string | undefined;
}

/** The platform's group in a fetch or an answer, and when that came. */
export type Shown = Pick<ObservedGroup, 'id' | 'version'> & { readonly atMs: number };

/**
 * All that a decision about one group rests on. What has not been read is undefined: where it matters, the decision is
 * the question for it. Facts are frozen for a round; nothing in them changes behind a decision.
 */
export interface Facts {
  readonly nowMs: number;
  /** How long the platform may take to show a group that it has created. */
  readonly createSettleMs: number;
  readonly state: GroupState;
  readonly settings: ConnectionSettings;
  readonly wanted?: Wanted | undefined;
  readonly views?: Views | undefined;
  readonly held?: HeldUsers | undefined;
  /** Users that the directory removed since the drift in the view was accepted. */
  readonly departed?: ReadonlyMap<PlatformUserId, Stamp> | undefined;
  /** The platform's group just now. Of a creation whose outcome is unknown: the groups that may be it. */
  readonly look?: ObservedGroup | 'gone' | undefined;
  /** What the last fetch or answer of this attempt showed, which may span several rounds. */
  readonly shown?: Shown | undefined;
  readonly listed?: Listing | undefined;
  readonly reservation?: Reservation | undefined;
  /** Additions that are left out of this round's write, since the platform refused one that had them. */
  readonly barred?: ReadonlySet<PlatformUserId> | undefined;
  /** Fields that this attempt does not write, because the platform refused a write with them. */
  readonly withheld?: ReadonlySet<GroupField> | undefined;
  /** A write was refused in this attempt: from then on only the changes are sent, never the whole group. */
  readonly isNarrowed?: boolean | undefined;
  /** Platform groups that could not be adopted, by id: the platform answered 404, or this group owns it. */
  readonly passedOver?: ReadonlyMap<string, 'not_found' | GroupRef> | undefined;
  /** How the platform has just answered the DELETE of the open intent: 2xx, or 404. */
  readonly deletion?: 'deleted' | 'absent' | undefined;
  /** The platform has just refused the open intent, or the one that was dropped in this round. */
  readonly rejected?: Rejected | undefined;
}
