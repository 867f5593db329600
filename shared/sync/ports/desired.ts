import * as z from 'zod';
import type { MatchRule } from '../../contract/match-rule.ts';
import { EventActor } from '../../domain/event.ts';
import type { MemberFold, PartMarker } from '../../domain/fold.ts';
import { type Frozen, memberText, number, roleText, stampText, text } from '../../domain/forms.ts';
import type { Author, GroupRegisters, UserCopy } from '../../domain/group.ts';
import type { ChangedMember } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId, RoleId } from '../../domain/ids.ts';
import type { Register } from '../../domain/register.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { BoundTo } from './people.ts';

export interface DesiredStore {
  /** Notes that a change of this user must reach the group. The note is never removed. */
  noteMembership(ref: GroupRef, member: MemberId): Promise<void>;
  /**
   * Joins the register with the stored register: the later stamp wins. `nowMs` sets the expiry of a tombstone.
   * @returns the change; undefined if the stored register is equal or later, and stays
   */
  joinMember(ref: GroupRef, entry: MemberEntry, nowMs: number): Promise<ChangedMember | undefined>;
  /** Notes and stores the first members of a new group, whose id no other request knows yet. */
  joinNew(ref: GroupRef, entries: readonly MemberEntry[], nowMs: number): Promise<void>;
  /**
   * Records that these parts of snapshots have arrived, and then reads all recorded parts of the same snapshots.
   * @returns the latest floor that complete snapshots set; `STAMP_ZERO` if there is none
   */
  recordParts(ref: GroupRef, parts: readonly PartMarker[], nowMs: number): Promise<Stamp>;
  /**
   * Raises rev and marks the group dirty, even if no register changes. The reason is that a worker may have crashed
   * after it stored the registers and before it stored the mark.
   * @param update registers of the group itself. Each register is joined by its own stamp, in this write or in an
   * earlier one
   * @returns the state after the write. A stored wake-up stays, except if `Dirty.isAtOnce` is set
   */
  markDirty(ref: GroupRef, dirty: Dirty, update?: GroupUpdate): Promise<WakeUpState>;
  /**
   * Whether the group has stored this batch as its latest, and is not dirty, failed or contained in another group.
   * @param mayBeDirty whether the result is true for a dirty group too, because the requeue job finds dirty groups
   */
  isRepeated(ref: GroupRef, digest: string, mayBeDirty: boolean): Promise<boolean>;
  /** Notes the groups within the group, before the caller writes their registers. The note is never removed. */
  noteNesting(ref: GroupRef, inner: readonly GroupId[]): Promise<void>;
  /** Returns the groups that contain the group now, or contained it earlier. */
  groupsAround(ref: GroupRef): Promise<readonly GroupId[]>;
  /**
   * Stores a new wake-up in place of the wake-up `seenMs`.
   * @returns false if the stored wake-up is no longer `seenMs`
   */
  renew(ref: GroupRef, seenMs: number, wakeAtMs: number): Promise<boolean>;
}

/** The changes of a group's registers in one batch. The digest also covers the changes of its members. */
export interface GroupUpdate extends GroupRegisters {
  readonly digest?: string;
  /** All members that the batch changes; undefined if apply must read all members. */
  readonly changedMembers?: readonly ChangedMember[] | undefined;
}

/** The time at which a group becomes dirty, and the time at which the caller will wake it. */
export interface Dirty {
  readonly nowMs: number;
  readonly wakeAtMs: number;
  /** The time from which the requeue job may wake the group; undefined for the usual time. */
  readonly dueMs?: number;
  /** Whether the write replaces a stored wake-up, as commands and reconcile need it to read the group soon. */
  readonly isAtOnce?: boolean;
  /**
   * Whether apply only reads the group again, without a change. The group's calls of this hour then still count towards
   * its limit. A change resets the count.
   */
  readonly isAgain?: boolean;
}

/** The part of a group's state that decides the time of the next wake-up, and whether a message is sent. */
export interface WakeUpState {
  readonly wakeAtMs: number;
  /** Whether a worker sends the message of the wake-up. Otherwise the requeue job sends it when the wake-up is due. */
  readonly wakeIsSent: boolean;
  readonly lastWriteAtMs: number | undefined;
  readonly paused: boolean;
  /** Whether another group contains the group now, or contained it earlier. */
  readonly isContained: boolean;
}

export interface MemberEntry {
  readonly member: MemberId;
  readonly register: MemberFold;
}

const MARK = '%';

/**
 * The key of an attribute in the stored map. Producers choose the names of attributes. A name that every JavaScript
 * object has, such as `constructor` or `__proto__`, gets a prefix. Otherwise a lookup could return an inherited
 * property.
 */
export const attributeKey = (name: string): string =>
  name in Object.prototype || name.startsWith(MARK) ? `${MARK}${name}` : name;
const attributeName = (key: string): string => (key.startsWith(MARK) ? key.slice(MARK.length) : key);

/** A directory user: attributes for matching, the stamp of the latest deletion (`floor`), and the bound person. */
export const UserState = z.lazy(() =>
  z.object({
    member: memberText,
    attributes: z
      .record(text, z.object({ value: text, stamp: stampText }))
      .default({})
      .transform(
        (attributes) =>
          new Map(Object.entries(attributes).map(([key, register]) => [attributeName(key), register])),
      ),
    floor: stampText.default(STAMP_ZERO),
    /** The actor of a deletion, without name. It sent the latest deletion if the stamp equals `floor`. */
    author: z.object({ stamp: stampText, actor: EventActor }).exactOptional(),
    /** The person to which the member is bound (`BoundTo`). */
    role: roleText.exactOptional(),
    userId: text.exactOptional(),
    /** Set if a value that a match rule compares has changed since the binding. Apply then matches the member again. */
    review: z.boolean().default(false),
    /** Each change that must reach the copies in member registers raises this number. */
    revision: number.default(0),
    fanOut: number.exactOptional(),
    /** The time of the erasure of the user. Earlier events of the user are ignored. */
    erasedMs: number.exactOptional(),
    /** Each write raises this number. Conditional writes compare it. */
    writes: number.default(0),
  }),
);
export type UserState = Frozen<z.infer<typeof UserState>>;

/** A member that no event has described. */
export const undescribed = (member: MemberId): UserState => ({
  member,
  attributes: new Map(),
  floor: STAMP_ZERO,
  review: false,
  revision: 0,
  writes: 0,
});

/** A change of a user, to be joined with the stored state. */
export interface UserChange {
  readonly user: MemberId;
  readonly attributes: ReadonlyMap<string, Register<string>>;
  readonly deleted: Stamp;
  readonly author?: Author | undefined;
  /** The person that a new user is bound to from the start. */
  readonly boundTo?: BoundTo | undefined;
}

export type JoinedUser =
  | { readonly user: MemberId; readonly state: UserState }
  | { readonly user: MemberId; readonly cause: unknown };

export interface UserStore {
  read(connection: ConnectionName, members: readonly MemberId[]): Promise<ReadonlyMap<MemberId, UserState>>;
  /**
   * Joins attributes and floor with the stored users. A write raises the revision if it creates a user, moves the
   * floor, or changes `ACTIVE_ATTRIBUTE` or an attribute of a match rule. If the user existed before, such a write also
   * opens the fan-out. A bound member needs a review only if a match rule now compares another value.
   * @param known the stored users, if the caller has read them
   * @returns each user after the write, or the reason why the user could not be written
   */
  join(
    connection: ConnectionName,
    changes: readonly UserChange[],
    rules: readonly MatchRule[],
    known?: ReadonlyMap<MemberId, UserState>,
  ): Promise<readonly JoinedUser[]>;
  /**
   * Stores a user whose id no other request knows yet. The write has no condition, and shares one request with other
   * such writes. If the request gets no answer, it is not retried, and the method throws.
   */
  addNew(connection: ConnectionName, change: UserChange): Promise<void>;
  /**
   * Notes that apply read a user who is not stored.
   * @returns false if the user has been stored in the meantime
   */
  noteUnknown(connection: ConnectionName, member: MemberId): Promise<boolean>;
  /**
   * Binds the member to this person in place of an earlier binding. The method also ends a review, raises the revision
   * and opens the fan-out.
   * @returns the user after the write
   */
  rebind(connection: ConnectionName, member: MemberId, to: BoundTo): Promise<UserState>;
  /**
   * Changes the role of the binding from `from`. The effects are those of `rebind`, but a review stays open.
   * @returns undefined if the member is no longer bound to the role `from`
   */
  followRole(
    connection: ConnectionName,
    member: MemberId,
    from: RoleId,
    to: BoundTo,
  ): Promise<UserState | undefined>;
  /**
   * Ends the binding to `role`, raises the revision and opens the fan-out. Returns undefined if the member has no such
   * binding.
   */
  unbind(connection: ConnectionName, member: MemberId, role: RoleId): Promise<UserState | undefined>;
  /** Returns the groups that the member may be in, in pages. */
  groupsOf(connection: ConnectionName, member: MemberId): AsyncIterable<readonly GroupId[]>;
  /**
   * Copies the user to a member register, in place of no copy, an older copy, or one of this revision without a role.
   * @param isRenewal whether every copy of the same revision stays as it is
   */
  copyToMember(ref: GroupRef, member: MemberId, copy: UserCopy, isRenewal?: boolean): Promise<void>;
  /**
   * Erases the attribute values of a user, except `ACTIVE_ATTRIBUTE`. Each attribute keeps its stamp, so a replay or an
   * older event cannot restore the value. A newer event can set a value again.
   * @returns the number of erased values; undefined if there is no such user
   */
  forget(connection: ConnectionName, member: MemberId, atMs: number): Promise<number | undefined>;
  /** Ends the fan-out if the user still has this revision. */
  endFanOut(connection: ConnectionName, member: MemberId, revision: number): Promise<void>;
  openFanOuts(connection: ConnectionName): AsyncIterable<readonly MemberId[]>;
}
