import type { ConnectionSettings } from './settings.ts';

type GuardLimits = ConnectionSettings['guard'];

/** Settings that protect against one person's mistake: if four eyes is on, weakening them needs two people. */
export const PROTECTED_SETTINGS = ['fourEyes', 'guard'] as const;
export type ProtectedSetting = (typeof PROTECTED_SETTINGS)[number];

type Protected = Pick<ConnectionSettings, ProtectedSetting>;

/** Limits of the guard; each of them lets more removals through when it is larger. */
const LIMITS = [
  'minSize',
  'maxRemovedShare',
  'maxRemovedCount',
  'perHourCount',
  'deletedGroups',
  'deletedGroupsShare',
] as const;

/**
 * Whether a guard permits removals that the previous guard would have stopped. Other limits that are stricter do not
 * compensate for that.
 *
 *     before | after  | weaker
 *     -------|--------|------------------------------
 *     none   | any    | no
 *     limits | none   | yes
 *     limits | limits | when any of them is larger
 */
export function isWeakerGuard(before: GuardLimits, after: GuardLimits): boolean {
  if (before === null) return false;
  if (after === null) return true;
  return LIMITS.some((limit) => after[limit] > before[limit]);
}

/** Protected settings that are weaker after a change than before it. */
export function weakenedSettings(before: Protected, after: Protected): readonly ProtectedSetting[] {
  const isWeaker = {
    fourEyes: before.fourEyes && !after.fourEyes,
    guard: isWeakerGuard(before.guard, after.guard),
  };
  return PROTECTED_SETTINGS.filter((key) => isWeaker[key]);
}
