import type { ConnectionSettings } from '../contract/settings.ts';
import { HOLD_RULES, type HoldRule } from '../domain/hold.ts';

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
  /** Users besides, who may be in the group although no read shows them. */
  readonly hidden?: number;
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
  | { readonly allowed: false; readonly rule: HoldRule; readonly share: number };

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

/** What the rules compare with the limits; all of it within the rolling hour, this write included. */
interface Measured {
  readonly removals: number;
  /** Removals from the connection, and from the group. */
  readonly inConnection: number;
  readonly inGroup: number;
  /** Users in the group before them, and the share of these that is removed. Without hidden users: the share is largest then. */
  readonly base: number;
  readonly share: number;
  /** Users in the group before them, hidden ones included: a group that may be large has the limits of a large one. */
  readonly largestBase: number;
  readonly recent: RecentRemovals;
}

interface GuardRule {
  /** Deletions of a group by the directory, other writes, or both. */
  readonly judges: 'deletions' | 'others' | 'all';
  readonly stops: (measured: Measured, limits: GuardLimits) => boolean;
}

const RULES: Readonly<Record<HoldRule, GuardRule>> = {
  per_hour: {
    judges: 'all',
    stops: ({ removals, inConnection }, { perHourCount }) => removals > 0 && inConnection > perHourCount,
  },
  deleted_groups: {
    judges: 'deletions',
    stops: ({ recent }, limits) => recent.deletedGroups >= mostDeleted(limits, recent.managedGroups),
  },
  count: {
    judges: 'others',
    stops: ({ inGroup }, { maxRemovedCount }) => inGroup > maxRemovedCount,
  },
  share: {
    judges: 'others',
    stops: ({ largestBase, share }, { minSize, maxRemovedShare }) =>
      largestBase >= minSize && share > maxRemovedShare,
  },
};

/**
 * Whether removals may go ahead without a person's approval (invariant 5). Everything removed in the rolling hour
 * counts, so that many small writes are judged like one large one. The share is relative to the size before all of them.
 */
export function judgeRemovals(input: GuardInput): GuardVerdict {
  const { limits, size, hidden = 0, removals, deletesGroup, recent } = input;
  const inGroup = removals + recent.group;
  const base = sizeBefore(size, recent);
  const largestBase = sizeBefore(size + hidden, recent);
  const share = base === 0 ? 0 : Math.min(1, inGroup / base);
  if (limits === null || (removals === 0 && !deletesGroup)) return { allowed: true };
  const inConnection = removals + recent.connection;
  const measured = { removals, inConnection, inGroup, base, share, largestBase, recent };
  const skipped = deletesGroup ? 'others' : 'deletions';
  const rule = HOLD_RULES.find(
    (name) => RULES[name].judges !== skipped && RULES[name].stops(measured, limits),
  );
  return rule === undefined ? { allowed: true } : { allowed: false, rule, share };
}
