import type { GroupState } from '../ports/groups.ts';
import { CREATE_MISSES } from '../tuning.ts';
import { linkTo, viewOf } from './observed.ts';
import type { Lane } from './ports.ts';
import type { Step } from './step.ts';

/**
 * Looks at the platform's group itself: because something hints at a change by somebody else, because our view of it
 * cannot be read, or because a write is about to take somebody away.
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
  const isOurs = observed.version === version && base !== undefined;
  if (isOurs && suspect === undefined) return { kind: 'in_step' };
  const link =
    isOurs && view !== undefined
      ? { id: platformId, version: observed.version, view }
      : await linkTo(state, observed, { view: viewOf(observed, base), lane });
  if (!(await ports.groups.absorb(state, link))) return { kind: 'overtaken' };
  return { kind: isOurs ? 'again' : 'conflict' };
}

/**
 * The platform does not know the group. Soon after we made it that is the platform's delay; otherwise somebody deleted
 * it, which one more look must confirm before the link is given up.
 */
export async function missing(state: GroupState, { ports, platform, connection }: Lane): Promise<Step> {
  const { platformId, createdAtMs } = state;
  const sinceCreationMs = ports.clock() - (createdAtMs ?? Number.NEGATIVE_INFINITY);
  if (sinceCreationMs < ports.createSettleMs) {
    return { kind: 'wait', ms: Math.ceil(ports.createSettleMs / CREATE_MISSES) };
  }
  if (platformId === undefined) return { kind: 'again' };
  if ((await platform.groups.get(platformId)) !== undefined) return { kind: 'conflict' };
  if (!(await ports.groups.absorb(state, undefined))) return { kind: 'overtaken' };
  await ports.claims.drop(connection.company, platformId, state.ref);
  return { kind: 'again' };
}
