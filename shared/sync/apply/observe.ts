import type { Difference } from '../../domain/drift.ts';
import { hasDeparted } from '../../domain/group.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { attributeDrift, toldOf } from '../attribute-drift.ts';
import type { FoundForeign, GroupState } from '../ports/groups.ts';
import { retireClaim } from '../retire-claim.ts';
import { CREATE_MISSES } from '../tuning.ts';
import { isStillOurs, takeForeignChange } from './foreign-change.ts';
import type { Lane } from './lane.ts';
import { waitBeforeUnlinking } from './may-unlink.ts';
import { newnessOf } from './newness.ts';
import { linkTo } from './observed.ts';
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
  const { platformId, version, view, suspect, missedAtMs } = state;
  const { ports, platform } = lane;
  if (platformId === undefined) {
    return (await ports.groups.absorb(state, undefined)) ? { kind: 'again' } : { kind: 'overtaken' };
  }
  const observed = await platform.groups.get(platformId);
  if (observed === undefined) return missing(state, lane);
  const base = view === undefined ? undefined : await ports.groups.readView(state.ref, view);
  const isOurs = observed.version === version && base !== undefined && view !== undefined;
  if (isOurs && suspect === undefined && missedAtMs === undefined) return { kind: 'in_step' };
  if (isOurs) {
    await attributeDrift(state, toldOf(state), ports);
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
  const change = await takeForeignChange(state, observed, { ours: [base], lane });
  if (change === undefined) return { kind: 'overtaken' };
  const link = await linkTo(state, observed, { view: change.view, lane });
  return { kind: (await lane.ports.groups.absorb(state, link, change.found)) ? 'conflict' : 'overtaken' };
}

/**
 * The platform does not know the group. Soon after we made it that is the platform's delay; otherwise somebody deleted
 * it, which later looks must confirm before the link is given up.
 */
export async function missing(state: GroupState, lane: Lane): Promise<Step> {
  const { ports, platform, connection } = lane;
  const { platformId, createdAtMs } = state;
  const sinceCreationMs = ports.clock() - (createdAtMs ?? Number.NEGATIVE_INFINITY);
  if (sinceCreationMs < ports.createSettleMs) {
    return { kind: 'wait', ms: Math.ceil(ports.createSettleMs / CREATE_MISSES) };
  }
  if (platformId === undefined) return { kind: 'again' };
  const wait = await waitBeforeUnlinking(state, platformId, lane);
  if (wait !== undefined) return wait;
  if ((await platform.groups.get(platformId)) !== undefined) {
    await ports.guard.keepLink(state.ref.connection, platformId);
    return { kind: 'conflict' };
  }
  if (!(await isStillOurs(state, undefined, lane))) return { kind: 'overtaken' };
  const found = await recordDeletion(state, platformId, lane);
  if (!(await ports.groups.absorb(state, undefined, found))) return { kind: 'overtaken' };
  await retireClaim(connection.company, platformId, state.ref, ports);
  // A transient 404, and somebody has taken it back between the unlinking and this.
  const now = await ports.groups.read(state.ref);
  if (now?.platformId === platformId) await ports.claims.claim(connection.company, platformId, state.ref);
  return { kind: 'again' };
}

/** Deleted, or deleted and made again: another group that carries our spokeId is what it became. */
async function recordDeletion(
  state: GroupState,
  platformId: PlatformGroupId,
  lane: Lane,
): Promise<FoundForeign> {
  const wanted = await readWanted(state, lane);
  // A group that the directory has deleted as well is nobody's loss.
  if (hasDeparted(state.registers)) return {};
  const listed = await lane.platform.groups.list(ageSinceSuspected(state, lane));
  const again = listed.find(({ id, spokeId }) => spokeId === state.ref.group && id !== platformId);
  const difference: Difference =
    again === undefined
      ? { kind: 'deleted', before: platformId, after: null }
      : { kind: 'recreated', before: platformId, after: again.id };
  const sighting = { platformId, version: null };
  const { policy, found } = await recordDrift(state, [difference], { sighting, lane });
  if (policy === 'restore') return found;
  return { ...found, deletionWaiver: { policy, seen: newnessOf(state, wanted).newest } };
}

/** A listing made since somebody noticed shows what the group became; many deletions at once then share it. */
const ageSinceSuspected = ({ suspect }: GroupState, { ports }: Lane): number =>
  suspect === undefined ? 0 : Math.max(0, ports.clock() - suspect.atMs);
