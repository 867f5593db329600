import type { ConnectionSettings } from '../contract/settings.ts';

type MemberIdField = ConnectionSettings['memberIdField'];

/** The counts of the user ids in the platform's existing groups, by the employee field that equals the id. */
export interface MemberIdEvidence {
  /** The number of distinct ids in all groups. */
  readonly users: number;
  /** The number of these ids that equal the `userId` of an employee and the `id` of no employee. */
  readonly userId: number;
  /** The number of these ids that equal the `id` of an employee and the `userId` of no employee. */
  readonly id: number;
}

/** The field must match at least this share of the matching ids. Groups may contain a few ids by mistake. */
const CLEAR_SHARE = 0.9;

export function memberIdEvidence(
  users: Iterable<string>,
  employees: { readonly ids: ReadonlySet<string>; readonly userIds: ReadonlySet<string> },
): MemberIdEvidence {
  const distinct = new Set(users);
  const counts = { userId: 0, id: 0 };
  for (const user of distinct) {
    const isUserId = employees.userIds.has(user);
    if (isUserId === employees.ids.has(user)) continue;
    counts[isUserId ? 'userId' : 'id'] += 1;
  }
  return { users: distinct.size, ...counts };
}

/**
 * Returns the value of `memberIdField` that fits the existing groups; undefined if neither value clearly fits.
 *
 *   matching ids    result
 *   none            undefined
 *   some            the field that at least nine in ten of them match; undefined if there is no such field
 */
export function memberIdFieldOf({ userId, id }: MemberIdEvidence): MemberIdField | undefined {
  const telling = userId + id;
  if (telling === 0) return undefined;
  if (userId >= telling * CLEAR_SHARE) return 'userId';
  return id >= telling * CLEAR_SHARE ? 'id' : undefined;
}
