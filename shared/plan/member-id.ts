import type { ConnectionSettings } from '../contract/settings.ts';

type MemberIdField = ConnectionSettings['memberIdField'];

/** Counts of the ids in the platform's existing groups, by the employee field that they match. */
export interface MemberIdEvidence {
  /** The number of distinct ids in all groups. */
  readonly users: number;
  /** The number of these ids that are an employee's `userId` and no employee's `id`. */
  readonly userId: number;
  /** The number of these ids that are an employee's `id` and no employee's `userId`. */
  readonly id: number;
}

/**
 * The minimum share of the matching ids that one field must have. Groups may contain a few ids that were written by
 * mistake.
 */
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
 * Returns the value of `memberIdField` that the existing groups show.
 *
 *   matching ids    nine in ten are of one field   result
 *   none            –                              undefined
 *   some            yes                            that field
 *   some            no                             undefined
 */
export function memberIdFieldOf({ userId, id }: MemberIdEvidence): MemberIdField | undefined {
  const telling = userId + id;
  if (telling === 0) return undefined;
  if (userId >= telling * CLEAR_SHARE) return 'userId';
  return id >= telling * CLEAR_SHARE ? 'id' : undefined;
}
