import type { ConnectionSettings } from '../contract/settings.ts';
import { EMPTIED_FROM, GUARD_RULES, type GuardRuleName } from '../domain/hold.ts';

/** The share of a connection's links that may end within an hour. `UNLINKED_ALWAYS` links may end in any case. */
const UNLINKED_SHARE = 0.05;
export const UNLINKED_ALWAYS = 2;

/**
 * Whether groupsync may end the link to a group for which the platform answers 404. A wrong base URL causes a 404 for
 * every group, and each ended link may lead to a duplicate group.
 * @param recent the number of links that ended within the last hour
 * @param links the number of remaining links
 */
export const mayUnlink = ({ links, recent }: { readonly links: number; readonly recent: number }): boolean =>
  recent < Math.max(UNLINKED_ALWAYS, Math.floor((links + recent) * UNLINKED_SHARE));

/**
 * The share of a connection's small groups that may be emptied within 75 minutes. `EMPTIED_ALWAYS` groups may be emptied
 * in any case. A group is small if it has fewer than `minSize` users, so the limit of the share does not protect it.
 */
const EMPTIED_SHARE = 0.05;
export const EMPTIED_ALWAYS = 2;

/** The limits up to which removals need no approval. */
export type GuardLimits = NonNullable<ConnectionSettings['guard']>;

export interface GuardInput {
  /** The limits; null if the guard is off. */
  readonly limits: GuardLimits | null;
  readonly size: number;
  /** The number of hidden users. They may be in the group although no read shows them. */
  readonly hidden?: number;
  /** The number of users that this write would remove. */
  readonly removals: number;
  /** Whether the write deletes the group. The rules about the group's size then do not apply. */
  readonly deletesGroup: boolean;
  readonly recent: RecentRemovals;
}

/**
 * Removals within the rolling hour of the guard before a write. This hour has 75 minutes (`shared/store/guard-store.ts`),
 * so that the limits hold for each hour on the platform.
 */
export interface RecentRemovals {
  readonly group: number;
  readonly connection: number;
  /** The largest size that this group had before one of these removals; 0 if there were no removals. */
  readonly largestSize: number;
  readonly deletedGroups: number;
  /** The number of groups before these deletions; needed only if `deletedGroups` reaches the limit. */
  readonly managedGroups: number;
  readonly emptiedGroups: number;
  /** The number of small groups of the connection; needed only if `emptiedGroups` is at least `EMPTIED_ALWAYS`. */
  readonly smallGroups: number;
}

export const NOTHING_REMOVED: RecentRemovals = {
  group: 0,
  connection: 0,
  largestSize: 0,
  deletedGroups: 0,
  managedGroups: 0,
  emptiedGroups: 0,
  smallGroups: 0,
};

export type GuardVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly rule: GuardRuleName; readonly share: number };

/**
 * Returns the number of users before the removals of the rolling hour: the present size plus these removals. The sum is
 * too high if other users joined in the hour, so the result is at most the largest known size of the hour:
 *
 *     the group of 10 lost 2, and now loses 3             | size 8, removed 2, largest 10 | 10
 *     one user of 3 is replaced for the third time        | size 3, removed 2, largest 3  | 3, not 5
 *     the group of 10 lost 2, another client removed 6    | size 2, removed 2, largest 10 | 4
 */
export const sizeBefore = (size: number, { group, largestSize }: RecentRemovals): number =>
  Math.min(size + group, Math.max(size, largestSize));

const mostDeleted = (limits: GuardLimits, managedGroups: number): number =>
  Math.max(limits.deletedGroups, Math.floor(managedGroups * limits.deletedGroupsShare));

/** Returns the number of small groups that may be emptied within 75 minutes. */
const mostEmptied = (smallGroups: number): number =>
  Math.max(EMPTIED_ALWAYS, Math.floor(smallGroups * EMPTIED_SHARE));

/** The removals from one group within the rolling hour, and the largest size of the group before one of them. */
export interface GroupLoss {
  readonly removals: number;
  readonly largestSize: number;
}

export const isEmptied = ({ removals, largestSize }: GroupLoss, { minSize }: GuardLimits): boolean =>
  largestSize < minSize && removals > largestSize * EMPTIED_FROM;

/** The values that the rules compare with the limits. The values cover the rolling hour, including this write. */
interface Measured {
  readonly removals: number;
  readonly inConnection: number;
  readonly inGroup: number;
  /**
   * The number of users in the group before the removals, and the removed share. Hidden users do not count here, so the
   * share is never too small.
   */
  readonly base: number;
  readonly share: number;
  /**
   * The number of users in the group before the removals, including hidden users. The limit of the share applies if
   * this number is at least `minSize`.
   */
  readonly largestBase: number;
  readonly recent: RecentRemovals;
}

interface GuardRule {
  readonly judges: 'deletions' | 'others' | 'all';
  readonly stops: (measured: Measured, limits: GuardLimits) => boolean;
}

const RULES: Readonly<Record<GuardRuleName, GuardRule>> = {
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
  emptied_groups: {
    judges: 'others',
    stops: ({ inGroup, base, largestBase, recent }, limits) =>
      largestBase < limits.minSize &&
      isEmptied({ removals: inGroup, largestSize: base }, limits) &&
      recent.emptiedGroups >= mostEmptied(recent.smallGroups),
  },
};

/**
 * Decides whether removals may be written without an operator's approval (invariant 5). All removals of the rolling
 * hour count, so many small writes are judged like one large write. The removed share relates to the size before all
 * these removals.
 */
export function judgeByLimits(input: GuardInput): GuardVerdict {
  const { limits, size, hidden = 0, removals, deletesGroup, recent } = input;
  const inGroup = removals + recent.group;
  const base = sizeBefore(size, recent);
  const largestBase = sizeBefore(size + hidden, recent);
  const share = base === 0 ? 0 : Math.min(1, inGroup / base);
  if (limits === null || (removals === 0 && !deletesGroup)) return { allowed: true };
  const inConnection = removals + recent.connection;
  const measured = { removals, inConnection, inGroup, base, share, largestBase, recent };
  const skipped = deletesGroup ? 'others' : 'deletions';
  const rule = GUARD_RULES.find(
    (name) => RULES[name].judges !== skipped && RULES[name].stops(measured, limits),
  );
  return rule === undefined ? { allowed: true } : { allowed: false, rule, share };
}
