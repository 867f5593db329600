import type { MemberCounts } from '../domain/group-state.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';
import type { Wanted } from './facts.ts';

/**
 * Members of the directory group, and how many of them the platform shows.
 * @param unshown users that the latest answered write sent, and that the platform does not show
 */
export function countsOf(
  wanted: Wanted,
  shown: View | undefined,
  unshown: readonly PlatformUserId[] = [],
): MemberCounts {
  const missing = new Set(unshown);
  let applied = 0;
  let pending = wanted.pending.size;
  for (const [user, standing] of wanted.standing) {
    if (shown?.users.has(user)) applied += standing.length;
    else if (missing.has(user)) pending += standing.length;
    else pending += standing.filter((one) => one.unshown !== undefined).length;
  }
  return { wanted: wanted.count, applied, pending };
}
