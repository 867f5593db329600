import type { Difference } from '../../domain/drift.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import type { Waiver } from '../../domain/waiver.ts';
import { foreignDifferences } from '../../plan/differences.ts';
import { waive } from '../../plan/waive.ts';
import type { FoundForeign, GroupState, Intent } from '../ports/groups.ts';
import { LISTING_AGE_MS } from '../tuning.ts';
import type { Lane } from './lane.ts';
import { newnessOf, stillWaived } from './newness.ts';
import { viewOf } from './observed.ts';
import { recordDrift } from './record-drift.ts';
import { readWanted } from './wanted.ts';

/** Many changes at once share a listing; one from before our first group shows no spokeId, and is read again. */
const ECHO_LISTING_AGES_MS = [5_000, 0];

/** A group as somebody else left it: the view that it is from now on, and what is to be remembered with it. */
export interface ForeignChange {
  readonly view: View;
  readonly found: FoundForeign;
}

interface Taking {
  /** What may be our own doing: the view before, and what a write of unknown outcome would have made. */
  readonly ours: readonly (View | undefined)[];
  /** Of the write whose outcome is being looked up. */
  readonly intent?: Intent;
  readonly lane: Lane;
}

/**
 * Records what somebody else changed, and marks in the view what the policy lets stand. The record comes before the
 * view: once the view is what was observed, nothing can tell any more what was changed.
 * @returns undefined where another worker of ours has written meanwhile, so that the change may be ours
 */
export async function takeForeignChange(
  state: GroupState,
  observed: ObservedGroup,
  { ours: views, intent, lane }: Taking,
): Promise<ForeignChange | undefined> {
  if (!(await isStillOurs(state, intent, lane))) return undefined;
  const ours = views.filter((view) => view !== undefined);
  const isSpokeIdGone = await lostSpokeId(observed, ours, { lane, agesMs: ECHO_LISTING_AGES_MS });
  const differences = foreignDifferences(ours, observed, { isSpokeIdGone });
  const sighting = { platformId: observed.id as PlatformGroupId, version: observed.version };
  const { policy, found } = await recordDrift(state, differences, { sighting, lane });
  const shown = { ...viewOf(observed, ...ours), ...(isSpokeIdGone ? { spokeId: null } : {}) };
  if (policy === 'restore' || differences.length === 0) return { view: shown, found };
  return { view: await waived(state, { shown, differences, policy, lane }), found };
}

/**
 * Whether nobody of ours has written since `state` was read: a write opens its intent before it is sent, so one that a
 * look could have met shows here. Without this, a second worker's own write would be recorded as somebody else's.
 */
export async function isStillOurs(
  { ref, view }: GroupState,
  intent: Intent | undefined,
  { ports }: Lane,
): Promise<boolean> {
  const now = await ports.groups.read(ref);
  return now?.intent?.id === intent?.id && now?.view?.id === view?.id;
}

/**
 * Whether somebody took away the spokeId of a group that a write of ours left with one. Asked after each write: where
 * spokeIds are never shown, that must not cost a listing each time, so an older one will do.
 */
export const hasLostSpokeId = (observed: ObservedGroup, written: View, lane: Lane): Promise<boolean> =>
  lostSpokeId(observed, [written], { lane, agesMs: [LISTING_AGE_MS] });

/** A null spokeId says that it was taken away only on a platform that shows spokeIds: other groups then have theirs. */
async function lostSpokeId(
  observed: ObservedGroup,
  ours: readonly View[],
  { lane, agesMs }: { readonly lane: Lane; readonly agesMs: readonly number[] },
): Promise<boolean> {
  if (observed.spokeId !== null || !ours.some(({ spokeId }) => spokeId !== null)) return false;
  for (const ageMs of agesMs) {
    const listed = await lane.platform.groups.list(ageMs);
    if (listed.some(({ id, spokeId }) => id !== observed.id && spokeId !== null)) return true;
  }
  return false;
}

interface Leaving {
  readonly shown: View;
  readonly differences: readonly Difference[];
  readonly policy: Waiver['policy'];
  readonly lane: Lane;
}

/** What was waived before counts on only as far as the directory has not spoken since. */
async function waived(state: GroupState, { shown, differences, policy, lane }: Leaving): Promise<View> {
  const wanted = await readWanted(state, lane);
  const earlier = await stillWaived(state, shown.waiver, { wanted, lane });
  const seen = newnessOf(state, wanted).newest;
  return { ...shown, waiver: waive({ policy, seen, differences, earlier }) };
}
