import type { ConnectionSettings } from '../contract/settings.ts';
import type { GuardRuleName, Hold } from '../domain/hold.ts';
import { removalText } from './removal-cause.ts';

type Guard = ConnectionSettings['guard'];
type Limits = NonNullable<Guard>;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const LIMITS: Readonly<Record<GuardRuleName, (limits: Limits) => string>> = {
  per_hour: ({ perHourCount }) =>
    `${perHourCount} removals from all groups within 75 minutes (guard.perHourCount)`,
  deleted_groups: ({ deletedGroups, deletedGroupsShare }) =>
    `${deletedGroups} deleted groups or ${percent(deletedGroupsShare)} of all groups within 75 minutes, the larger of both (guard.deletedGroups, guard.deletedGroupsShare)`,
  count: ({ maxRemovedCount }) =>
    `${maxRemovedCount} removals from a group within 75 minutes (guard.maxRemovedCount)`,
  emptied_groups: ({ minSize }) =>
    `2 groups or 5 % of the groups with fewer than ${minSize} users (guard.minSize), the larger of both, that lose more than half of their users within 75 minutes`,
  share: ({ maxRemovedShare }) => `${percent(maxRemovedShare)} (guard.maxRemovedShare)`,
};

/**
 * Returns the limit that a hold exceeds, with the removed share if the limit is a share, as a text for operators. The
 * share may be within the limit: while removals wait, each new removal of the group waits too, and the limit may change.
 */
export function limitOf({ rule, share }: Pick<Hold, 'rule' | 'share'>, guard: Guard): string {
  if (rule === 'adoption' || rule === 'mode') return removalText(rule);
  const limit = guard === null ? 'the guard is off now' : `the limit is ${LIMITS[rule](guard)}`;
  if (rule !== 'share') return limit;
  const isWithin = guard !== null && share <= guard.maxRemovedShare;
  return `${percent(share)} of the members; ${limit}${isWithin ? ', which these or earlier removals exceeded' : ''}`;
}
