import type { View } from '../../domain/view.ts';
import type { MemberCounts } from '../ports/groups.ts';
import type { Wanted } from './wanted.ts';

/** Members of the directory group, and how many of them the platform shows. */
export function countsOf(wanted: Wanted, shown: View | undefined): MemberCounts {
  let applied = 0;
  for (const [user, standing] of wanted.standing) if (shown?.users.has(user)) applied += standing.length;
  return { wanted: wanted.count, applied, pending: wanted.pending.size };
}
