import type { GroupState } from '../../domain/group-state.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup } from '../../domain/view.ts';
import { isOurCreation } from '../../plan/external-change.ts';
import type { Facts, Views } from '../../plan/facts.ts';
import { foldName, mayBeAny, mayBeSpokeId } from '../../plan/names.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';

/** Finds the platform group that an open creation made. A cached list may lack the group, so the list is read again. */
export async function findCreation<Known extends Facts & { readonly views: Views }>(
  facts: Known,
  reading: Reading,
): Promise<Known> {
  const { state, views } = facts;
  const groups = await reading.platform.groups.list(0);
  // An exact external id takes precedence, because the id of another directory group may differ only in its form.
  const isExact = ({ spokeId }: ListedGroup) => spokeId === state.intent?.spokeId;
  const inOrder = [...groups.filter(isExact), ...groups.filter((group) => !isExact(group))];
  for (const group of inOrder) {
    const observed = await creationOf(group, state, reading);
    if (observed === undefined || state.intent === undefined) continue;
    if (!isOurCreation(observed, state.intent, views.prepared)) continue;
    if ((await reading.claim(observed.id as PlatformGroupId, facts.nowMs)) === undefined) {
      return { ...facts, fetched: observed, listed: { groups, ageMs: 0 } };
    }
  }
  refuseMoreOdd(groups, state.intent?.oddBefore);
  return { ...facts, fetched: 'gone', listed: { groups, ageMs: 0 } };
}

/**
 * Refuses to settle a creation if the list has more malformed groups than before the POST, because the POST may have
 * created a malformed group. The function compares only the numbers, because the intent may not have the ids of all
 * malformed groups.
 * @throws PlatformFailure if the number has grown
 */
function refuseMoreOdd(groups: readonly ListedGroup[], oddBefore = Number.POSITIVE_INFINITY): void {
  const odd = groups.filter(mayBeAny).length;
  if (odd <= oddBefore) return;
  const message = `expected at most ${oddBefore} malformed groups, as before the creation, got ${odd}`;
  throw new PlatformFailure('unavailable', message, { status: 200 });
}

/**
 * Returns a listed group that the creation may have made. The function fetches the group by its id, because a list may
 * show only some of its users. If it cannot read a malformed group by its id, the creation stays unsettled.
 */
async function creationOf(
  listed: ListedGroup,
  { intent }: GroupState,
  { platform }: Pick<Reading, 'platform'>,
): Promise<ObservedGroup | undefined> {
  const { id, spokeId } = listed;
  if (intent === undefined || intent.known?.includes(id as PlatformGroupId)) return undefined;
  const mayBeOurs =
    spokeId === null
      ? (!isWhole(listed) && intent.oddBefore === undefined) ||
        (isWhole(listed) && foldName(listed.name) === foldName(intent.name))
      : mayBeSpokeId(spokeId, intent.spokeId);
  return mayBeOurs ? platform.groups.get(id as PlatformGroupId) : undefined;
}
