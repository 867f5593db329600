import * as z from 'zod';
import { EventActor } from '../../domain/event.ts';
import type { MemberFold } from '../../domain/fold.ts';
import { type Frozen, memberText, number, roleText, stampText, text } from '../../domain/forms.ts';
import type { Author, GroupRegisters } from '../../domain/group.ts';
import type { ChangedMember } from '../../domain/group-state.ts';
import type { MemberId } from '../../domain/ids.ts';
import type { Register } from '../../domain/register.ts';
import { STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { BoundTo } from './people.ts';

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
    /** The latest bindings that ended, each with the time of its end; oldest first. */
    former: z.array(z.object({ role: roleText, userId: text.exactOptional(), endMs: number })).default([]),
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

export const undescribed = (member: MemberId): UserState => ({
  member,
  attributes: new Map(),
  floor: STAMP_ZERO,
  former: [],
  review: false,
  revision: 0,
  writes: 0,
});

/** A change of a user, to be joined with the stored state. */
export interface UserUpdate {
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
