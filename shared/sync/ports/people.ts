import * as z from 'zod';
import { type Frozen, number, roleText, text } from '../../domain/forms.ts';
import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

/** State of a person whose id the platform no longer knows. No roleState of the platform has this name. */
export const GONE = 'GONE';

/** One role of the platform (an employee record), with the fields that groups need. */
export const Person = z.lazy(() =>
  z.object({
    role: roleText,
    /** Absent if the credential's scopes hide it. */
    userId: text.exactOptional(),
    /** `roleState` of the specification; `GONE` if the platform answered 404 for the id. */
    state: text,
    /** Values of the fields that match rules name, in the form that is compared. */
    values: z.record(text, text).transform((values) => new Map(Object.entries(values))),
    /** Raised by each change. */
    revision: number,
    /** Whether state or user id changed, and the groups are not woken for this change yet. */
    fanOutDue: z.boolean().default(false),
    /** The user id before that change, if it differs. The groups of that user's members must be woken too. */
    previousUserId: text.exactOptional(),
  }),
);
export type Person = Frozen<z.infer<typeof Person>>;

/**
 * The person that a member is bound to. If `memberIdField` is `userId`, the person is the user, and `role` is one role
 * of the user. Otherwise the person is the role. `userId` is absent if the platform did not show the user id when the
 * binding was made. In this case, the person is the current user of the role.
 */
export interface BoundTo {
  readonly role: RoleId;
  readonly userId?: string;
}

/** A member, and a role that the member is or once was bound to. */
export interface Binding {
  readonly role: RoleId;
  readonly member: MemberId;
  /** False for a first binding that a refresh must still judge (`judgeBindings`). */
  readonly isProven: boolean;
}

export interface PeopleStore {
  read(connection: ConnectionName, roles: readonly RoleId[]): Promise<ReadonlyMap<RoleId, Person>>;
  /**
   * Returns all persons who have the value now. Persons who had the value earlier are skipped.
   * @param noting a member who may be bound to one of these persons. The member is noted with each person before the
   *   person is read, so that a later change of the person reaches the member's groups
   */
  holding(connection: ConnectionName, field: string, value: string, noting?: MemberId): Promise<Person[]>;
  /** All roles that this platform user has. */
  ofUser(connection: ConnectionName, userId: string): Promise<Person[]>;
  /** Every role of the user that a binding names, for either value of `memberIdField`. */
  rolesOf(connection: ConnectionName, boundTo: Partial<BoundTo>): Promise<readonly Person[]>;
  /**
   * Reads in advance which persons may have these values. In the returned store, the first call of `holding` for each
   * value uses this result.
   */
  ahead(
    connection: ConnectionName,
    sought: readonly { field: string; value: string }[],
  ): Promise<PeopleStore>;
  /**
   * Binds the member to this person. A member that is already bound, or that has changed since `revision` was read, is
   * not bound. Before the first binding, a note about the member is stored with the person.
   * @returns the person that the member is bound to now; an existing binding stays
   */
  bind(
    connection: ConnectionName,
    member: MemberId,
    binding: BoundTo & { readonly revision: number; readonly isFirst: boolean },
  ): Promise<BoundTo>;
  /**
   * Replaces a stored person. Returns false if the stored person differs from `seen`. `fanOutDue` stays stored until
   * `clearFanOutDue`, so a crash in between loses no wake-up.
   */
  save(
    connection: ConnectionName,
    facts: Omit<Person, 'revision'>,
    seen: Person | undefined,
  ): Promise<boolean>;
  /** Clears `fanOutDue` of persons whose groups were woken. A person that has changed again since keeps `fanOutDue`. */
  clearFanOutDue(
    connection: ConnectionName,
    persons: readonly Pick<Person, 'role' | 'revision'>[],
  ): Promise<void>;
  /** The members that are or were bound to the role, including members that are now bound to another role. */
  membersBoundTo(connection: ConnectionName, role: RoleId): AsyncIterable<readonly Binding[]>;
  /** All current and former bindings, from the (eventually consistent) index. */
  bound(connection: ConnectionName): AsyncIterable<readonly Binding[]>;
  prove(connection: ConnectionName, binding: Binding): Promise<void>;
}
