import * as z from 'zod';
import { type Frozen, number, roleText, text } from '../../domain/forms.ts';
import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

/** The state of a role if the platform answers its id with 404. The platform itself has no state of this name. */
export const GONE = 'GONE';

/** One role of the platform (an employee record), with the fields that groups need. */
export const Person = z.lazy(() =>
  z.object({
    role: roleText,
    /** Absent if the credential's scopes hide it. */
    userId: text.exactOptional(),
    /** `roleState` of the specification; `GONE` if the platform answered 404 for the id. */
    state: text,
    /** The values of the fields for match rules, normalised for comparison. */
    values: z.record(text, text).transform((values) => new Map(Object.entries(values))),
    /** Each change raises this number. */
    revision: number,
    /** Set until the groups are woken, after a change of the state or user id, or after a new role of a user. */
    fanOutDue: z.boolean().default(false),
    /**
     * The earlier user id, if the change behind `fanOutDue` replaced it. The groups of members who are bound to the
     * earlier user must be woken too.
     */
    previousUserId: text.exactOptional(),
  }),
);
export type Person = Frozen<z.infer<typeof Person>>;

/**
 * The person that a member is bound to. If `memberIdField` is `userId`, the person is the user `userId`, and `role` is
 * one role of the user. Otherwise the person is the role. `userId` is absent if the platform showed no user id at the
 * time of the binding. The person is then the current user of the role.
 */
export interface BoundTo {
  readonly role: RoleId;
  readonly userId?: string;
}

/** A member, and a role to which the member is bound or was bound earlier. */
export interface Binding {
  readonly role: RoleId;
  readonly member: MemberId;
  /** False for a first binding that a refresh must still judge (`judgeBindings`). */
  readonly isProven: boolean;
}

export interface PeopleStore {
  read(connection: ConnectionName, roles: readonly RoleId[]): Promise<ReadonlyMap<RoleId, Person>>;
  /**
   * Returns all persons who have the value now.
   * @param noting a member who may be bound to one of these persons. The method stores a note about the member with
   * each person before it reads the person. So a later change of the person reaches the member's groups
   */
  holding(connection: ConnectionName, field: string, value: string, noting?: MemberId): Promise<Person[]>;
  ofUser(connection: ConnectionName, userId: string): Promise<Person[]>;
  /** Returns every role of the binding's user, for both values of `memberIdField`. */
  rolesOf(connection: ConnectionName, boundTo: Partial<BoundTo>): Promise<readonly Person[]>;
  /**
   * Reads in advance the persons who may have these values. The returned store uses this result for the first call of
   * `holding` with each value.
   */
  ahead(
    connection: ConnectionName,
    sought: readonly { field: string; value: string }[],
  ): Promise<PeopleStore>;
  /**
   * Binds the member to this person. A binding to another role stays. If the member has changed since `revision` was
   * read, binds nothing. For a first binding, `holding` must have noted the member. For a later binding, this method
   * notes the member.
   * @returns the person that the member is bound to now; the given person if the member has no binding
   */
  bind(
    connection: ConnectionName,
    member: MemberId,
    binding: BoundTo & { readonly revision: number; readonly isFirst: boolean },
  ): Promise<BoundTo>;
  /**
   * Replaces a stored person. Returns false if the stored person differs from `seen`. `fanOutDue` stays stored until
   * `clearFanOutDue`, so a crash between the two calls loses no wake-up.
   */
  save(
    connection: ConnectionName,
    facts: Omit<Person, 'revision'>,
    seen: Person | undefined,
  ): Promise<boolean>;
  /** Clears `fanOutDue` of persons whose groups were woken. If a person has changed again, `fanOutDue` stays. */
  clearFanOutDue(
    connection: ConnectionName,
    persons: readonly Pick<Person, 'role' | 'revision'>[],
  ): Promise<void>;
  /** Returns the bindings of members that are or were bound to the role. A member may now be bound to another role. */
  membersBoundTo(connection: ConnectionName, role: RoleId): AsyncIterable<readonly Binding[]>;
  /** Returns all current and former bindings. The latest may be missing (eventually consistent index). */
  bound(connection: ConnectionName): AsyncIterable<readonly Binding[]>;
  prove(connection: ConnectionName, binding: Binding): Promise<void>;
}
