import type { ConnectionSettings } from '../contract/settings.ts';
import type { Hold } from '../domain/hold.ts';

/** Of its links a connection may give up this share within an hour, though always a few. */
const UNLINKED_SHARE = 0.05;
export const UNLINKED_ALWAYS = 2;

/**
 * Whether the link to a group that answers 404 may be given up: a wrong route answers so for every group, and each link
 * that is given up makes a second group.
 * @param recent unlinked within the last hour @param links what is linked still
 */
export const mayUnlink = ({ links, recent }: { readonly links: number; readonly recent: number }): boolean =>
  recent < Math.max(UNLINKED_ALWAYS, Math.floor((links + recent) * UNLINKED_SHARE));

/** Limits on removals without an approval; null switches the guard off. */
export type GuardLimits = NonNullable<ConnectionSettings['guard']>;

export interface GuardInput {
  readonly limits: GuardLimits | null;
  /** Users in the group now. */
  readonly size: number;
  /** Users that this write would remove. */
  readonly removals: number;
  /** The directory deleted the group by an event of its own. It loses everybody, so its size does not matter. */
  readonly deletesGroup: boolean;
  readonly recent: RecentRemovals;
}

/** Removals within the rolling hour before a write. */
export interface RecentRemovals {
  /** From this group. */
  readonly group: number;
  /** From all groups of the connection. */
  readonly connection: number;
  /** The largest size that this group had before any of these removals; 0 if there were none. */
  readonly largestSize: number;
  /** Other groups of the connection that were deleted. */
  readonly deletedGroups: number;
  /** Groups of the connection before these deletions; needed only where `deletedGroups` reaches the limit. */
  readonly managedGroups: number;
}

export const NOTHING_REMOVED: RecentRemovals = {
  group: 0,
  connection: 0,
  largestSize: 0,
  deletedGroups: 0,
  managedGroups: 0,
};

export type GuardVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly rule: Hold['rule']; readonly share: number };

/**
 * Returns how many users the group had before the removals of the rolling hour. Adding those removals to the present size
 * is right while no user joins. A user who replaces a removed user is already in the present size, so the sum would count
 * that place twice. The largest size before one of the writes is therefore the upper limit.
 *
 *     a group loses 2 of 10, then 3 more         | size 8, removed 2, largest 10 | 10
 *     one user of 3 is replaced three times      | size 3, removed 2, largest 3  | 3, not 5
 *     another client removed 6 in between        | size 2, removed 2, largest 10 | 4
 */
export const sizeBefore = (size: number, { group, largestSize }: RecentRemovals): number =>
  Math.min(size + group, Math.max(size, largestSize));

/** How many groups may be deleted within an hour. */
const mostDeleted = (limits: GuardLimits, managedGroups: number): number =>
  Math.max(limits.deletedGroups, Math.floor(managedGroups * limits.deletedGroupsShare));

/**
 * Whether removals may go ahead without a person's approval (invariant 5). Everything removed in the rolling hour
 * counts, so that many small writes are judged like one large one. The share is relative to the size before all of them.
 */
export function judgeRemovals({ limits, size, removals, deletesGroup, recent }: GuardInput): GuardVerdict {
  const inGroup = removals + recent.group;
  const base = sizeBefore(size, recent);
  const share = base === 0 ? 0 : Math.min(1, inGroup / base);
  if (limits === null || (removals === 0 && !deletesGroup)) return { allowed: true };
  if (removals > 0 && removals + recent.connection > limits.perHourCount)
    return { allowed: false, rule: 'per_hour', share };
  if (deletesGroup) {
    const isAllowed = recent.deletedGroups < mostDeleted(limits, recent.managedGroups);
    return isAllowed ? { allowed: true } : { allowed: false, rule: 'deleted_groups', share };
  }
  if (inGroup > limits.maxRemovedCount) return { allowed: false, rule: 'count', share };
  if (base >= limits.minSize && share > limits.maxRemovedShare)
    return { allowed: false, rule: 'share', share };
  return { allowed: true };
}
