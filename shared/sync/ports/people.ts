import * as z from 'zod';
import { type Frozen, number, roleText, text } from '../../domain/forms.ts';
import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

/** State of a person whose id the platform no longer knows. No roleState of the platform has this name. */
export const GONE = 'GONE';

/** One role of the platform (an employee record), as far as groups need to know it. */
export const Person = z.lazy(() =>
  z.object({
    role: roleText,
    /** Absent if the credential's scopes hide it. */
    userId: text.exactOptional(),
    /** `roleState` of the specification; a 404 by id is kept as `GONE`. */
    state: text,
    /** Values of the fields that match rules name, in the form that is compared. */
    values: z.record(text, text).transform((values) => new Map(Object.entries(values))),
    /** Raised by each change. */
    revision: number,
    /** State or user id changed, and the groups have not been woken for it yet. */
    fanOutDue: z.boolean().default(false),
    /** The user id before that change, if it differs: members of that user must be woken too. */
    previousUserId: text.exactOptional(),
  }),
);
export type Person = Frozen<z.infer<typeof Person>>;

/**
 * The person that a member is bound to. If `memberIdField` is `userId`, this is the user, and `role` is one role of the
 * user; otherwise it is the role. `userId` is absent if it was hidden when the binding was made: then the role's user counts.
 */
export interface BoundTo {
  readonly role: RoleId;
  readonly userId?: string;
}

/** A member and the role that it is, or once was, bound to. */
export interface Binding {
  readonly role: RoleId;
  readonly member: MemberId;
  /** Not a first binding that a refresh still has to judge (`judgeBindings`). */
  readonly isProven: boolean;
}

export interface PeopleStore {
  read(connection: ConnectionName, roles: readonly RoleId[]): Promise<ReadonlyMap<RoleId, Person>>;
  /**
   * Everybody who holds the value now; pointers that are out of date are passed over.
   * @param noting a member who may be bound to one of them, noted with each before that one is read: whatever a refresh
   * changes of the person from then on reaches the member's groups
   */
  holding(connection: ConnectionName, field: string, value: string, noting?: MemberId): Promise<Person[]>;
  /** All roles that this platform user has. */
  ofUser(connection: ConnectionName, userId: string): Promise<Person[]>;
  /** Every role of the user that a binding names, for either value of `memberIdField`. */
  rolesOf(connection: ConnectionName, boundTo: Partial<BoundTo>): Promise<readonly Person[]>;
  /** Asks who may hold these values: in what it returns, `holding` of each begins with the notes, once. */
  ahead(
    connection: ConnectionName,
    sought: readonly { field: string; value: string }[],
  ): Promise<PeopleStore>;
  /**
   * Binds the member to this person, unless the user changed since `revision` was read or is bound already. The person has
   * a note of the member before its first binding.
   * @returns the person that the member is bound to now: the first binding stays
   */
  bind(
    connection: ConnectionName,
    member: MemberId,
    binding: BoundTo & { readonly revision: number; readonly isFirst: boolean },
  ): Promise<BoundTo>;
  /**
   * Replaces what is known of a person; false if it is no longer what was `seen`. `fanOutDue` is kept with it until
   * `clearFanOutDue`, so that a crash in between loses no wake-up.
   */
  save(
    connection: ConnectionName,
    facts: Omit<Person, 'revision'>,
    seen: Person | undefined,
  ): Promise<boolean>;
  /** The groups of these persons were woken. A person that has changed again since keeps `fanOutDue`. */
  clearFanOutDue(
    connection: ConnectionName,
    persons: readonly Pick<Person, 'role' | 'revision'>[],
  ): Promise<void>;
  /** Members that were bound to the person at some time, also those that are bound to another person by now. */
  membersBoundTo(connection: ConnectionName, role: RoleId): AsyncIterable<readonly Binding[]>;
  /** Every binding that ever was, from the (eventually consistent) index. */
  bound(connection: ConnectionName): AsyncIterable<readonly Binding[]>;
  prove(connection: ConnectionName, binding: Binding): Promise<void>;
}
