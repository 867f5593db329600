import * as z from 'zod';
import { type Frozen, number, roleText, text } from '../../domain/forms.ts';
import type { MemberId, RoleId } from '../../domain/ids.ts';

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
