import type { MemberCounts } from '../domain/group-state.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';
import type { Wanted } from './facts.ts';

/**
 * Returns the numbers of members of a directory group: wanted, applied (shown by the platform), pending and excluded.
 * @param hidden users that the latest successful write sent and that the platform does not show
 */
export function countsOf(
  wanted: Wanted,
  shown: View | undefined,
  hidden: readonly PlatformUserId[] = [],
): MemberCounts {
  const missing = new Set(hidden);
  let applied = 0;
  let pending = wanted.pending.size;
  for (const [user, members] of wanted.membersByUser) {
    if (shown?.users.has(user)) applied += members.length;
    else if (missing.has(user)) pending += members.length;
    else pending += members.filter((one) => one.hidden !== undefined).length;
  }
  const { count, excluded } = wanted;
  return { wanted: count, applied, pending, ...(excluded > 0 && { excluded }) };
}
