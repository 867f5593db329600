import type { PlatformUserId } from '../domain/ids.ts';
import type { ObservedGroup } from '../domain/view.ts';
import type { Plan } from './plan.ts';

/** Users whom an answer shows though they were not sent. */
export interface Unsent {
  /** Taken out by this very write, and still there: the removal did not happen. */
  readonly kept: readonly PlatformUserId[];
  /** The platform put somebody in by itself: the next plan takes them out, where the policy does not let them stay. */
  readonly hasAdded: boolean;
}

/**
 * What a successful answer shows beside what was sent:
 *
 *     user shown, not sent | create        | put           | patch
 *     ---------------------|---------------|---------------|--------------------------------
 *     removed by the plan  | –             | kept          | kept
 *     any other            | platform's    | platform's    | somebody else's, recorded as drift
 */
export function unsentUsers({ action, after, removals }: Plan, observed: ObservedGroup): Unsent {
  const shown = new Set(observed.users);
  const kept = removals.filter((user) => shown.has(user));
  const isWhole = action === 'create' || action === 'put';
  const removed = new Set(removals);
  const hasAdded = isWhole && [...shown].some((user) => !after?.users.has(user) && !removed.has(user));
  return { kept, hasAdded };
}
