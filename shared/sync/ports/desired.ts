import * as z from 'zod';
import type { PartMarker } from '../../domain/fold.ts';
import { type Frozen, memberText, number, roleText, stampText, text } from '../../domain/forms.ts';
import type { GroupRegisters, UserCopy } from '../../domain/group.ts';
import type { ChangedMember } from '../../domain/group-state.ts';
import type { ConnectionName, GroupId, GroupRef, MemberId, RoleId } from '../../domain/ids.ts';
import type { Presence, Register } from '../../domain/register.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { BoundTo } from './people.ts';

/** Stores the desired state of groups. Each method for one item is one conditional write of that item. */
export interface DesiredStore {
  /**
   * Notes that the member may be in the group, so that a change of the user reaches the group. The note is never
   * removed.
   */
  noteMembership(ref: GroupRef, member: MemberId): Promise<void>;
  /**
   * Joins the register with the stored one. `nowMs` sets the expiry of a tombstone.
   * @returns the change; undefined if the stored register is later and stays
   */
  joinMember(ref: GroupRef, entry: MemberEntry, nowMs: number): Promise<ChangedMember | undefined>;
  /** Notes and stores the first members of a new group. No other request knows it yet, so no register exists. */
  joinNew(ref: GroupRef, entries: readonly MemberEntry[], nowMs: number): Promise<void>;
  /**
   * Records that these parts of snapshots have arrived, and then reads all recorded parts of the same snapshots.
   * @returns the latest floor that complete snapshots set; `STAMP_ZERO` if there is none
   */
  recordParts(ref: GroupRef, parts: readonly PartMarker[], nowMs: number): Promise<Stamp>;
  /**
   * Raises rev and marks the group dirty, even if no register changes: if a worker crashed after it had stored the
   * registers, only the mark is missing.
   * @param update registers of the group itself. Each of them is joined by its own stamp, in this write or in a write
   * before it
   * @returns the state after the write. A wake-up that was already stored stays, see `Dirty.isAtOnce`
   */
  markDirty(ref: GroupRef, dirty: Dirty, update?: GroupUpdate): Promise<WakeUpState>;
  /**
   * Whether the group has stored this batch as its latest batch, and needs no more work.
   * @param mayBeDirty whether the result is true for a dirty group too, because the requeue job finds dirty groups
   */
  isRepeated(ref: GroupRef, digest: string, mayBeDirty: boolean): Promise<boolean>;
  /** Notes that the group contains these groups, before their registers are written. The note is never removed. */
  noteNesting(ref: GroupRef, inner: readonly GroupId[]): Promise<void>;
  /** The groups that contain the group, or once contained it. */
  groupsAround(ref: GroupRef): Promise<readonly GroupId[]>;
  /**
   * Stores a new wake-up in place of the wake-up `seenMs`.
   * @returns false if the stored wake-up has changed since
   */
  renew(ref: GroupRef, seenMs: number, wakeAtMs: number): Promise<boolean>;
}

/** The registers of a group in a batch. The digest covers all changes of the group in the batch, including members. */
export interface GroupUpdate extends GroupRegisters {
  readonly digest?: string;
  /** All members that the batch changes; missing if the batch may change any member. */
  readonly changedMembers?: readonly ChangedMember[] | undefined;
}

/** The time at which a group becomes dirty, and the time at which the caller will wake it. */
export interface Dirty {
  readonly nowMs: number;
  readonly wakeAtMs: number;
  /** The time from which the requeue job may wake the group; undefined for the usual time. */
  readonly dueMs?: number;
  /** Whether a stored wake-up is replaced, because an operator waits for the result. */
  readonly isAtOnce?: boolean;
  /**
   * Whether the group is only read again, without a change. The calls of this hour then still count towards the limit;
   * a change resets them.
   */
  readonly isAgain?: boolean;
}

/** The part of a group's state that decides when the next wake-up is and whether a message is sent. */
export interface WakeUpState {
  readonly wakeAtMs: number;
  readonly lastWriteAtMs: number | undefined;
  readonly paused: boolean;
  /** Whether another group contains the group, or once contained it. */
  readonly isContained: boolean;
}

export interface MemberEntry {
  readonly member: MemberId;
  readonly register: Register<Presence>;
}

const MARK = '%';

/**
 * The key of an attribute in the stored map. Producers choose the names of attributes. Names that exist in every
 * JavaScript object, such as `constructor` and `__proto__`, get a prefix, because code that reads maps would
 * misinterpret them.
 */
export const attributeKey = (name: string): string =>
  name in Object.prototype || name.startsWith(MARK) ? `${MARK}${name}` : name;
const attributeName = (key: string): string => (key.startsWith(MARK) ? key.slice(MARK.length) : key);

/** A directory user: attributes for matching, the floor of deletions, and the person that the user is bound to. */
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
    /** The person that the member is bound to (`BoundTo`). */
    role: roleText.exactOptional(),
    userId: text.exactOptional(),
    /** Set if attributes that match rules use have changed since the binding. The member is then matched again. */
    review: z.boolean().default(false),
    /** Raised by every change that must reach the copies on member registers. */
    revision: number.default(0),
    fanOut: number.exactOptional(),
    /** The time of the erasure: earlier events of the user are ignored. */
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
  /** The person that a new user is bound to from the start. */
  readonly boundTo?: BoundTo | undefined;
}

export type JoinedUser =
  | { readonly user: MemberId; readonly state: UserState }
  | { readonly user: MemberId; readonly cause: unknown };

export interface UserStore {
  read(connection: ConnectionName, members: readonly MemberId[]): Promise<ReadonlyMap<MemberId, UserState>>;
  /**
   * Joins attributes and floor with the stored users. `known` has the stored users if they were read before. If a write
   * creates a user, moves the floor or changes an attribute in `matched`, it also raises the revision. If the user
   * existed before, it then also opens the fan-out.
   * @returns each user after the write, or the reason why the user could not be written
   */
  join(
    connection: ConnectionName,
    changes: readonly UserChange[],
    matched: ReadonlySet<string>,
    known?: ReadonlyMap<MemberId, UserState>,
  ): Promise<readonly JoinedUser[]>;
  /**
   * Stores a user whose id no other request knows yet, in one request with other writes that have no condition. The
   * request is not retried: if there is no answer, the caller fails.
   */
  addNew(connection: ConnectionName, change: UserChange): Promise<void>;
  /**
   * Notes that a group read an unknown user.
   * @returns false if the user is stored by now
   */
  noteUnknown(connection: ConnectionName, member: MemberId): Promise<boolean>;
  /**
   * Binds the member to this person instead of any other, ends a review, raises the revision and opens the fan-out.
   * @returns the user after the write
   */
  rebind(connection: ConnectionName, member: MemberId, to: BoundTo): Promise<UserState>;
  /**
   * Changes the role of the binding, as `rebind` does; the user stays the same.
   * @returns undefined if the member is no longer bound to the role `from`
   */
  followRole(
    connection: ConnectionName,
    member: MemberId,
    from: RoleId,
    to: BoundTo,
  ): Promise<UserState | undefined>;
  /**
   * Ends a binding, raises the revision and opens the fan-out. Returns undefined if the member is not bound to this
   * role.
   */
  unbind(connection: ConnectionName, member: MemberId, role: RoleId): Promise<UserState | undefined>;
  /** Groups that the member may be in, in pages. */
  groupsOf(connection: ConnectionName, member: MemberId): AsyncIterable<readonly GroupId[]>;
  /**
   * Copies the user to a member register. The register may have no copy, an older copy, or a copy without a role.
   * @param isRenewal whether a copy of the same revision stays as it is
   */
  copyToMember(ref: GroupRef, member: MemberId, copy: UserCopy, isRenewal?: boolean): Promise<void>;
  /**
   * Erases the attribute values of a user. Each attribute keeps its stamp, so a replay or an older event cannot bring
   * the value back. A newer event can.
   * @returns the number of erased values; undefined if there is no such user
   */
  forget(connection: ConnectionName, member: MemberId, atMs: number): Promise<number | undefined>;
  /** Ends the fan-out unless the user has changed again. */
  endFanOut(connection: ConnectionName, member: MemberId, revision: number): Promise<void>;
  openFanOuts(connection: ConnectionName): AsyncIterable<readonly MemberId[]>;
}
