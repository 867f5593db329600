import type { PlatformUserId } from '../domain/ids.ts';

export interface MergeInput {
  /** Users that the directory wants in the group. */
  readonly ours: ReadonlySet<PlatformUserId>;
  /** Users in the group on the platform; `true` where we put them there (the base of the three-way merge). */
  readonly theirs: ReadonlyMap<PlatformUserId, boolean>;
  readonly membership: 'authoritative' | 'additive';
  /** Users that must stay whatever the merge says: removals that are held, or that a policy forbids. */
  readonly keep: (user: PlatformUserId) => boolean;
}

/**
 * Who will be in the group, and who of them is ours. For each user:
 *
 *     wanted | there | mine | authoritative | additive
 *     -------|-------|------|---------------|---------------------------------
 *      yes   |  no   |  –   | add, mine     | add, mine
 *      yes   |  yes  | yes  | stays, mine   | stays, mine
 *      yes   |  yes  |  no  | stays, mine   | stays, theirs: they were first
 *      no    |  yes  | yes  | remove        | remove
 *      no    |  yes  |  no  | remove        | stays, theirs
 *
 * `keep` turns a removal into a stay. Linear in the size of both sides.
 */
export function mergeUsers({ ours, theirs, membership, keep }: MergeInput): Map<PlatformUserId, boolean> {
  const merged = new Map<PlatformUserId, boolean>();
  for (const [user, mine] of theirs) {
    if (ours.has(user)) merged.set(user, mine || membership === 'authoritative');
    else if ((membership === 'additive' && !mine) || keep(user)) merged.set(user, mine);
  }
  for (const user of ours) if (!merged.has(user)) merged.set(user, true);
  return merged;
}
