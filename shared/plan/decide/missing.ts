import type { Difference } from '../../domain/drift.ts';
import { hasDeparted } from '../../domain/group.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';
import type { Decision, Observe, Wait } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { decideGone } from '../gone.ts';
import { withSpokeId } from '../names.ts';
import { uncertainDeletion } from '../uncertain.ts';

/** A POST counts as having had no effect after this many searches without a result, but not before `createSettleMs`. */
export const MAX_SEARCHES = 3;

/** Ends the suspected external change, because there is no platform group to read. */
export const OBSERVED_GONE: Observe = { kind: 'observe', observed: 'gone' };

const NOT_SHOWN_YET = { code: 'waiting', message: 'the platform does not show the created group yet' };

export const notShownYet = ({ createSettleMs }: Facts): Wait => ({
  kind: 'wait',
  waitMs: Math.ceil(createSettleMs / MAX_SEARCHES),
  why: NOT_SHOWN_YET,
});

/**
 * Returns the decision after the platform answered 404 for the linked platform group.
 *
 *     the group                                      | decision
 *     -----------------------------------------------|--------------------------------------------------
 *     has no link                                    | observe that there is no platform group
 *     was created recently                           | wait; the platform may not show it yet
 *     is not proven to be gone (`decideGone`)     | wait, or read more evidence
 *     was deleted by groupsync or in the directory   | unlink
 *     was deleted by another client                  | unlink, with the difference `deleted` or `recreated`
 */
export function decideMissing(facts: Facts): Decision {
  const { state, nowMs, createSettleMs } = facts;
  const { link } = state;
  if (link === undefined) return OBSERVED_GONE;
  const { id, createdAtMs = Number.NEGATIVE_INFINITY } = link;
  if (nowMs - createdAtMs < createSettleMs) return notShownYet(facts);
  const proof = decideGone(facts, id);
  return proof === 'gone' ? decideUnlinking(facts, id) : proof;
}

/**
 * Returns the decision to end the link. The difference is `recreated` if another platform group has this group's
 * external id, otherwise `deleted`.
 */
function decideUnlinking(facts: Facts, id: PlatformGroupId): Decision {
  const { state, listed } = facts;
  const lateWrite = uncertainDeletion(state);
  const unlinking: Decision = { kind: 'unlink', id, difference: undefined, lateWrite };
  // No other client deleted the group: the directory deleted it, or a DELETE of groupsync took effect late.
  if (hasDeparted(state.registers) || lateWrite !== undefined) return unlinking;
  const [again] = withSpokeId(listed?.groups.filter((group) => group.id !== id) ?? [], state.ref.group);
  const difference: Difference =
    again === undefined
      ? { kind: 'deleted', before: id, after: null }
      : { kind: 'recreated', before: id, after: again.id };
  return { kind: 'unlink', id, difference };
}
