import { EMPTIED_FROM } from '../domain/hold.ts';
import type { ConnectionSettings } from './settings.ts';

type GuardLimits = ConnectionSettings['guard'];

/** Settings that protect against one person's mistake. With four eyes, weakening them needs a second person. */
export const PROTECTED_SETTINGS = ['fourEyes', 'guard'] as const;
export type ProtectedSetting = (typeof PROTECTED_SETTINGS)[number];

type Protected = Pick<ConnectionSettings, ProtectedSetting>;

type Limits = NonNullable<GuardLimits>;

const isLarger = (before: number, after: number): boolean => after > before;

/** Functions that decide, for each limit of the guard, whether a new value permits more removals. */
const IS_WEAKER: {
  readonly [Limit in keyof Limits]: (before: Limits[Limit], after: Limits[Limit], all: Limits) => boolean;
} = {
  // A smaller value ends the rule `emptied_groups` for some groups. The limit of the share then applies to these groups,
  // but it may be weaker.
  minSize: (before, after, { maxRemovedShare }) =>
    isLarger(before, after) || (after < before && maxRemovedShare > EMPTIED_FROM),
  maxRemovedShare: isLarger,
  maxRemovedCount: isLarger,
  perHourCount: isLarger,
  deletedGroups: isLarger,
  deletedGroupsShare: isLarger,
};
const LIMITS = Object.keys(IS_WEAKER) as readonly (keyof Limits)[];

const isWeakerLimit = <Limit extends keyof Limits>(limit: Limit, before: Limits, after: Limits): boolean =>
  IS_WEAKER[limit](before[limit], after[limit], after);

/**
 * Whether a new guard permits removals that the previous guard would stop. One weaker limit is enough, even if all
 * other limits become stricter.
 *
 *     before | after  | weaker
 *     -------|--------|------------------------------
 *     off    | any    | no
 *     limits | off    | yes
 *     limits | limits | yes, if any limit permits more removals
 */
export function isWeakerGuard(before: GuardLimits, after: GuardLimits): boolean {
  if (before === null) return false;
  if (after === null) return true;
  return LIMITS.some((limit) => isWeakerLimit(limit, before, after));
}

/** Settings with addresses to which groupsync sends a credential. */
const ADDRESSES = ['baseUrl', 'directory'] as const;

type Guarded = Protected & Pick<ConnectionSettings, (typeof ADDRESSES)[number] | 'auditReads'>;

/**
 * Whether a change needs an administrator in the console, because it permits more removals, turns four eyes off, sends
 * a credential to another address, or ends the record of reads.
 */
export const weakensSafety = (before: Guarded, after: Guarded): boolean =>
  weakenedSettings(before, after).length > 0 ||
  (before.auditReads && !after.auditReads) ||
  ADDRESSES.some((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));

export function weakenedSettings(before: Protected, after: Protected): readonly ProtectedSetting[] {
  const isWeaker = {
    fourEyes: before.fourEyes && !after.fourEyes,
    guard: isWeakerGuard(before.guard, after.guard),
  };
  return PROTECTED_SETTINGS.filter((key) => isWeaker[key]);
}
