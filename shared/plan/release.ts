import { duration } from '../domain/duration.ts';
import { GROUP_FIELDS } from '../domain/group-fields.ts';
import type { GroupState, OpenMove } from '../domain/group-state.ts';
import type { View } from '../domain/view.ts';
import { UNGUARDED } from './decide/holds.ts';
import type { Decision } from './decision.ts';
import type { Facts } from './facts.ts';
import { fieldMatches } from './names.ts';
import type { Plan } from './plan.ts';
import { treatmentOf } from './treatment.ts';

/** After this many tries to clear the external id, groupsync releases the group in any case. */
const MAX_TRIES = 3;

export const whyReleased = ({ movedTo }: Pick<GroupState, 'movedTo'>): string =>
  movedTo === undefined ? 'an operator released this group' : `${movedTo} of another source owns this group`;

export const whyMoving = ({ from, to, source, sinceMs }: OpenMove, nowMs: number): string =>
  `the move of the group ${from} to ${to} (${source}) is not finished, and is open for ${duration(nowMs - sinceMs)}; groupsync finishes it within minutes; if it stays open: groupsync doctor`;

/**
 * Decides how groupsync releases a group. First, groupsync clears the external id that it had set. Otherwise two
 * platform groups would have this id if the directory group later adopted another platform group. If groupsync cannot
 * clear the external id, it releases the group in any case:
 *
 *   the platform group                           | decision
 *   ---------------------------------------------|------------------------------
 *   was written or fetched in this attempt       | release: the id was cleared or refused, or the group is gone
 *   has the mode `report`, or is excluded        | release
 *   does not have the group's external id        | release
 *   had three failed attempts                    | release
 *   otherwise                                    | PATCH without an external id
 */
export function decideRelease(facts: Facts): Decision {
  const { state, fetched, rejected, views, wanted } = facts;
  const { mode, excluded } = treatmentOf(facts);
  const reason = whyReleased(state);
  const release: Decision = { kind: 'release', reason };
  const isAnswered = fetched !== undefined || rejected !== undefined;
  if (isAnswered || excluded || mode === 'report' || state.attempts >= MAX_TRIES) return release;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  const { base } = views;
  if (base === undefined || base.spokeId === null || !fieldMatches(base, 'spokeId', state.ref.group))
    return release;
  return {
    kind: 'write',
    plan: withoutSpokeId(base, base.spokeId, reason),
    ...UNGUARDED,
    known: [],
  };
}

const withoutSpokeId = (base: View, spokeId: string, reason: string): Plan => ({
  action: 'patch',
  changes: [{ kind: GROUP_FIELDS.spokeId.change, before: spokeId, after: null, reason }],
  after: { ...base, spokeId: null },
  removals: [],
  departs: false,
});
