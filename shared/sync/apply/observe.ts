import type { Difference } from '../../domain/drift.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { foreignDifferences } from '../../plan/differences.ts';
import { waive } from '../../plan/waive.ts';
import type { GroupState } from '../ports/groups.ts';
import { CREATE_MISSES } from '../tuning.ts';
import { newnessOf } from './newness.ts';
import { linkTo, viewOf } from './observed.ts';
import type { Lane } from './ports.ts';
import { recordDrift } from './record-drift.ts';
import type { Step } from './step.ts';
import { readWanted } from './wanted.ts';

/**
 * Looks at the platform's group itself: because something hints at a change by somebody else, because our view of it
 * cannot be read, or because a write is about to take somebody away. What somebody else changed is recorded first, and
 * then becomes the group's view, with what the policy lets stand marked as waived.
 * @returns `in_step` where the group is as we left it; after anything else it must be read again
 */
export async function observe(state: GroupState, lane: Lane): Promise<Step> {
  const { platformId, version, view, suspect } = state;
  const { ports, platform } = lane;
  if (platformId === undefined) {
    return (await ports.groups.absorb(state, undefined)) ? { kind: 'again' } : { kind: 'overtaken' };
  }
  const observed = await platform.groups.get(platformId);
  if (observed === undefined) return missing(state, lane);
  const base = view === undefined ? undefined : await ports.groups.readView(state.ref, view);
  const isOurs = observed.version === version && base !== undefined && view !== undefined;
  if (isOurs && suspect === undefined) return { kind: 'in_step' };
  if (isOurs) {
    const link = { id: platformId, version: observed.version, view };
    return (await ports.groups.absorb(state, link)) ? { kind: 'again' } : { kind: 'overtaken' };
  }
  return absorbForeign(state, observed, { base, lane });
}

async function absorbForeign(
  state: GroupState,
  observed: ObservedGroup,
  { base, lane }: { readonly base: View | undefined; readonly lane: Lane },
): Promise<Step> {
  const differences = foreignDifferences(base === undefined ? [] : [base], observed);
  const { policy, ids } = await recordDrift(state, differences, { version: observed.version, lane });
  const shown = viewOf(observed, base);
  const view =
    policy === 'restore' || differences.length === 0
      ? shown
      : { ...shown, waiver: await waiverFor(state, differences, { policy, earlier: base?.waiver, lane }) };
  const link = await linkTo(state, observed, { view, lane });
  const absorbed = await lane.ports.groups.absorb(
    state,
    link,
    policy === 'restore' ? { openDrift: ids } : {},
  );
  return { kind: absorbed ? 'conflict' : 'overtaken' };
}

async function waiverFor(
  state: GroupState,
  differences: readonly Difference[],
  {
    policy,
    earlier,
    lane,
  }: { readonly policy: 'report' | 'adopt'; readonly earlier: View['waiver']; readonly lane: Lane },
) {
  const { newest } = newnessOf(state, await readWanted(state, lane));
  return waive({ policy, seen: newest, differences, earlier });
}

/**
 * The platform does not know the group. Soon after we made it that is the platform's delay; otherwise somebody deleted
 * it, which one more look must confirm before the link is given up.
 */
export async function missing(state: GroupState, lane: Lane): Promise<Step> {
  const { ports, platform, connection } = lane;
  const { platformId, createdAtMs } = state;
  const sinceCreationMs = ports.clock() - (createdAtMs ?? Number.NEGATIVE_INFINITY);
  if (sinceCreationMs < ports.createSettleMs) {
    return { kind: 'wait', ms: Math.ceil(ports.createSettleMs / CREATE_MISSES) };
  }
  if (platformId === undefined) return { kind: 'again' };
  if ((await platform.groups.get(platformId)) !== undefined) return { kind: 'conflict' };
  const found = await recordDeletion(state, platformId, lane);
  if (!(await ports.groups.absorb(state, undefined, found))) return { kind: 'overtaken' };
  await ports.claims.drop(connection.company, platformId, state.ref);
  return { kind: 'again' };
}

/** Deleted, or deleted and made again: another group that carries our spokeId is what it became. */
async function recordDeletion(state: GroupState, platformId: PlatformGroupId, lane: Lane) {
  const wanted = await readWanted(state, lane);
  // A group that the directory has deleted as well is nobody's loss.
  if (wanted.state === 'absent') return {};
  const listed = await lane.platform.groups.list(0);
  const again = listed.find(({ id, spokeId }) => spokeId === state.ref.group && id !== platformId);
  const difference: Difference =
    again === undefined
      ? { kind: 'deleted', before: platformId, after: null }
      : { kind: 'recreated', before: platformId, after: again.id };
  const { policy, ids } = await recordDrift(state, [difference], { version: null, lane });
  return policy === 'restore'
    ? { openDrift: ids }
    : { deletionWaiver: { policy, seen: newnessOf(state, wanted).newest } };
}
