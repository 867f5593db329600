import type { Difference } from '../domain/drift.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { ObservedGroup, View } from '../domain/view.ts';
import { compareText } from './plan.ts';

/**
 * What somebody else changed: whatever the platform shows that none of our own views explains. There are two views
 * where a write of ours has an unknown outcome: the one before it and the one it would have made. What either of them
 * says may be our own doing.
 */
export function foreignDifferences(ours: readonly View[], observed: ObservedGroup): readonly Difference[] {
  const [first] = ours;
  if (first === undefined) return [];
  const there = new Set(observed.users);
  const added = [...there].filter((user) => !ours.some(({ users }) => users.has(user)));
  const removed = [...first.users.keys()].filter(
    (user) => !there.has(user) && ours.every(({ users }) => users.has(user)),
  );
  const differences: Difference[] = [];
  if (!ours.some(({ name }) => name === observed.name)) {
    differences.push({ kind: 'name', before: first.name, after: observed.name });
  }
  if (observed.spokeId !== null && !ours.some(({ spokeId }) => spokeId === observed.spokeId)) {
    differences.push({ kind: 'spoke_id', before: first.spokeId, after: observed.spokeId });
  }
  if (added.length > 0) differences.push({ kind: 'members_added', before: [], after: sorted(added) });
  if (removed.length > 0) differences.push({ kind: 'members_removed', before: sorted(removed), after: [] });
  return differences;
}

const sorted = (users: readonly PlatformUserId[]): readonly PlatformUserId[] => [...users].sort(compareText);
