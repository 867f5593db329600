import type { PlatformGroupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup } from '../../domain/view.ts';
import { foldName, namedLike } from '../../plan/names.ts';
import { compareText, type Plan } from '../../plan/plan.ts';
import type { GroupState } from '../ports/groups.ts';
import { retireClaim } from '../retire-claim.ts';
import { LISTING_AGE_MS } from '../tuning.ts';
import type { Lane } from './lane.ts';
import { linkTo, viewOf } from './observed.ts';
import type { Step } from './step.ts';

/** Either a group was adopted (or somebody was faster): `step`; or one must be created, and these are not it. */
export interface Found {
  readonly step?: Step;
  readonly known: readonly PlatformGroupId[];
  /** Every group that was there before. */
  readonly listed: readonly ListedGroup[];
}

/**
 * Before a group is created: is it there already? Groups that carry its spokeId or name are adopted where the
 * connection says so; the others are remembered, so that they are never taken for what our POST made.
 */
export async function adoptExisting(state: GroupState, plan: Plan, lane: Lane): Promise<Found> {
  const listed = await lane.platform.groups.list(LISTING_AGE_MS);
  const wantedFold = foldName(plan.after?.name ?? '');
  const same = listed
    .filter((group) => group.spokeId === plan.after?.spokeId || isNamedLike(group, wantedFold))
    .sort((a, b) => compareText(a.id, b.id));
  const known = [...same, ...listed.filter(mayBeAny)].map(({ id }) => id as PlatformGroupId);
  for (const candidate of adoptable(same, plan, lane)) {
    const step = await adopt(state, candidate, lane);
    if (step !== undefined) return { step, known, listed };
  }
  return { known, listed };
}

/** A listing serves many groups that are created: each of its names is folded once. */
const folds = new WeakMap<ListedGroup, string>();

function isNamedLike(group: ListedGroup, wantedFold: string): boolean {
  if (!isWhole(group)) return false;
  const fold = folds.get(group) ?? foldName(group.name);
  folds.set(group, fold);
  return fold === wantedFold;
}

/** Its form is odd and it shows no spokeId: once our POST is sent, nobody could tell that it was there before. */
const mayBeAny = (group: ListedGroup): boolean => !isWhole(group) && group.spokeId === null;

/** By spokeId all that carry it, in turn; by name only a single one, since a name proves little. */
function adoptable(same: readonly ListedGroup[], plan: Plan, { connection }: Lane): readonly ListedGroup[] {
  const { adoptExisting } = connection.settings;
  if (adoptExisting === 'never') return [];
  const bySpokeId = same.filter(({ spokeId }) => spokeId === plan.after?.spokeId);
  if (bySpokeId.length > 0 || adoptExisting === 'bySpokeId') return bySpokeId;
  const byName = namedLike(same.filter(isWhole), plan.after?.name ?? '');
  return byName.length === 1 ? byName : [];
}

/** Claim, then look, then link: the next round plans from what is there, and sends the whole group. */
async function adopt(state: GroupState, candidate: ListedGroup, lane: Lane): Promise<Step | undefined> {
  const { ports, platform, connection } = lane;
  const id = candidate.id as PlatformGroupId;
  if (!(await ports.claims.claim(connection.company, id, state.ref))) return undefined;
  const observed = await platform.groups.get(id);
  if (observed === undefined) {
    await retireClaim(connection.company, id, state.ref, ports);
    return undefined;
  }
  const link = await linkTo(state, observed, { view: viewOf(observed), lane });
  return (await ports.groups.absorb(state, link)) ? { kind: 'again' } : { kind: 'overtaken' };
}
