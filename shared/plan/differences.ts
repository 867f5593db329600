import type { Difference } from '../domain/drift.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { ObservedGroup, View } from '../domain/view.ts';
import { goesBy } from './names.ts';
import { compareText } from './plan.ts';

/**
 * What somebody else changed: whatever the platform shows that none of our own views explains. There are two views
 * where a write of ours has an unknown outcome: the one before it and the one it would have made. What either of them
 * says may be our own doing.
 *
 *     observed         | in the view before | in the view it would have made | then
 *     -----------------|--------------------|--------------------------------|----------------
 *     user in          | no                 | no                             | members_added
 *     user in          | yes in either                                       | –
 *     user out         | yes                | yes                            | members_removed
 *     user out         | no in either                                        | –
 *     name, spokeId    | another            | another                        | name, spoke_id
 *
 * A name is another if it is neither the one that we sent nor what the platform had made of it.
 *
 * @param look.isSpokeIdGone a null spokeId was taken away; otherwise the platform does not echo it, which says nothing
 */
export function foreignDifferences(
  ours: readonly View[],
  observed: ObservedGroup,
  { isSpokeIdGone = false }: { readonly isSpokeIdGone?: boolean } = {},
): readonly Difference[] {
  const [first] = ours;
  if (first === undefined) return [];
  const there = new Set(observed.users);
  const added = [...there].filter((user) => !ours.some(({ users }) => users.has(user)));
  const removed = [...first.users.keys()].filter(
    (user) => !there.has(user) && ours.every(({ users }) => users.has(user)),
  );
  const isSpokeIdShown = observed.spokeId !== null || isSpokeIdGone;
  const differences: Difference[] = [];
  if (!ours.some((view) => goesBy(view, observed.name))) {
    differences.push({ kind: 'name', before: first.name, after: observed.name });
  }
  if (isSpokeIdShown && !ours.some(({ spokeId }) => spokeId === observed.spokeId)) {
    differences.push({ kind: 'spoke_id', before: first.spokeId, after: observed.spokeId });
  }
  if (added.length > 0) differences.push({ kind: 'members_added', before: [], after: sorted(added) });
  if (removed.length > 0) differences.push({ kind: 'members_removed', before: sorted(removed), after: [] });
  return differences;
}

const sorted = (users: readonly PlatformUserId[]): readonly PlatformUserId[] => [...users].sort(compareText);
