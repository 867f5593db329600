import type { SettledState } from '../../domain/group-state.ts';
import type { Hold, HoldRule } from '../../domain/hold.ts';
import type { IntentId, PlatformUserId } from '../../domain/ids.ts';
import { withUnwanted } from '../../domain/view.ts';
import type { Decision, EndHold, Reserve, Wait, Write } from '../decision.ts';
import type { Facts, Reservation } from '../facts.ts';
import { type GuardInput, type GuardVerdict, judgeRemovals } from '../guard.ts';
import { applicableHold, approvedRemovals, isOver, judgeByHold } from '../hold.ts';
import type { Plan } from '../plan.ts';
import { hiddenWanted } from '../unshown.ts';
import { settle } from './settle.ts';

export const endHold = (...ends: readonly ('hold' | 'approval')[]): EndHold => ({ kind: 'hold', ends });

/** Settles a group that needs no write. A hold that is over ends first. */
export const settleUnheld = (facts: Facts, as: SettledState): Decision =>
  isHoldOver(facts) ? endHold('hold', 'approval') : settle(as);

export interface Guarded extends Pick<Write, 'held' | 'consumes' | 'isReserved'> {
  /** Whether the group may not be deleted now. */
  readonly isDeletionHeld?: boolean;
}

/**
 * Judges all removals and the deletion of a plan, independent of their cause (invariant 5). The deletion of a group
 * without users is judged too. The first matching line counts:
 *
 *     the plan                                          | result
 *     --------------------------------------------------|-------------------------------------------------
 *     removes no user and no group                      | end a hold that is over; else the plan may be written
 *     has an approval that covers none of its removals  | end the approval
 *     has a hold that covers none of its other removals | end the hold
 *     has removals that an operator decided about       | keep or remove these users, as decided
 *     has other removals that are not reserved          | reserve
 *     … the guard allows them                           | the plan may be written
 *     … another worker's removals alone are too many    | wait for that worker
 *     … otherwise                                       | hold
 */
export function guard(plan: Plan, facts: Facts): Guarded | Decision {
  const { state, held: read, nowMs } = facts;
  const none: Guarded = { held: new Set(), consumes: undefined, isReserved: false };
  const removesNothing = plan.removals.length === 0 && plan.action !== 'delete';
  if (removesNothing) return isHoldOver(facts) ? endHold('hold', 'approval') : none;
  if ((state.hold ?? state.approval) !== undefined && read === undefined)
    return { kind: 'read', what: ['held'] };
  const permitted = approvedRemovals(state.approval, read?.approved, { plan, nowMs });
  if (state.approval !== undefined && permitted.length === 0) return endHold('approval');
  return guardOthers({ plan, facts, permitted });
}

interface GuardContext {
  readonly plan: Plan;
  readonly facts: Facts;
  /**
   * Removals that an operator approved while other removals of the group stayed held. The guard does not judge them.
   */
  readonly permitted: readonly PlatformUserId[];
}

/** Judges the removals that the group's approval does not permit. */
function guardOthers({ plan, facts, permitted }: GuardContext): Guarded | Decision {
  const { state, settings, held: read, nowMs } = facts;
  const limits = settings.guard;
  const others = plan.removals.filter((user) => !permitted.includes(user));
  const isEmptyDeletion = plan.removals.length === 0;
  const asked = { plan: { ...plan, removals: others }, limits, nowMs, isEmptyDeletion };
  const current = state.hold && read && applicableHold(state.hold, read, asked);
  if (state.hold !== undefined && current === undefined) return endHold('hold');
  if (isEmptyDeletion) return guardEmptyDeletion(current?.hold, plan, facts);
  const verdict = judgeByHold(others, current, nowMs, plan.action === 'delete');
  const size = sizeOf(facts);
  const holdAll = (users: readonly PlatformUserId[], rule: HoldRule, share?: number): Decision => ({
    kind: 'hold',
    users,
    approved: [...permitted, ...verdict.approved],
    size,
    rule,
    share,
    deletes: plan.departs,
  });
  if (verdict.superseded) return holdAll(others, current?.hold.rule ?? 'count');
  // One write makes the removals of an approved hold and of the separate approval. The write uses up both approvals.
  const used = verdict.approved.length > 0 ? state.hold : state.approval;
  const consumes = used?.digest;
  const held = new Set(verdict.held);
  if (verdict.unjudged.length === 0 || limits === null) return { held, consumes, isReserved: false };
  const judgement = judgeReserved(verdict.unjudged.length, size, plan, facts);
  if ('kind' in judgement) return judgement;
  if (judgement.allowed) return { held, consumes, isReserved: true };
  return holdAll([...verdict.held, ...verdict.unjudged], judgement.rule, judgement.share);
}

/**
 * Judges the deletion of a group without users. Its hold lists no user, so an operator's decision about the hold
 * applies to the deletion.
 */
function guardEmptyDeletion(current: Hold | undefined, plan: Plan, facts: Facts): Guarded | Decision {
  const free: Guarded = { held: new Set(), consumes: undefined, isReserved: false };
  const hold = (rule: HoldRule, share?: number): Decision => ({
    kind: 'hold',
    users: [],
    approved: [],
    size: 0,
    rule,
    share,
    deletes: true,
  });
  if (current !== undefined) {
    if (isOver(current, facts.nowMs)) return hold(current.rule);
    const isApproved = current.decision.kind === 'approved';
    return isApproved ? { ...free, consumes: current.digest } : { ...free, isDeletionHeld: true };
  }
  if (facts.settings.guard === null) return free;
  const judgement = judgeReserved(0, 0, plan, facts);
  if ('kind' in judgement) return judgement;
  return judgement.allowed ? { ...free, isReserved: true } : hold(judgement.rule, judgement.share);
}

/**
 * Returns the number of users in the group now, as far as groupsync knows. Hidden users who are wanted do not count
 * (`hiddenWanted`).
 */
const sizeOf = ({ views, wanted }: Facts): number =>
  views?.base === undefined ? 0 : withUnwanted(views.base, wanted?.group?.users).users.size;

/**
 * Returns the guard's verdict about the removals. If the removals are not reserved yet, returns the decision to reserve
 * them.
 */
function judgeReserved(
  removals: number,
  size: number,
  plan: Plan,
  facts: Facts,
): GuardVerdict | Reserve | Wait {
  const { state, settings, reservation } = facts;
  // Either the uncertain write or the next write can take effect, not both. So the larger number of removals counts.
  const replaces = state.uncertain?.removals;
  const atStake = Math.max(removals, replaces?.removals ?? 0);
  const deletes = plan.departs;
  if (reservation?.removals !== atStake || reservation.deletes !== deletes)
    return { kind: 'reserve', removals: atStake, size, deletes, replaces };
  const { recent } = reservation;
  const asked = {
    limits: settings.guard,
    size,
    hidden: hiddenWanted(facts).length,
    removals: atStake,
    deletesGroup: deletes,
    recent,
  };
  const judgement = judgeRemovals(asked);
  return !judgement.allowed && isOnlyTwo(asked) ? yielding(reservation.intent) : judgement;
}

/**
 * Whether a hold ends because the plan removes nothing. A platform group that is gone may come back with its held
 * members, so the hold stays until it expires.
 */
function isHoldOver({ state: { hold, approval, link, previousLink }, nowMs }: Facts): boolean {
  const held = hold ?? approval;
  return held !== undefined && (link !== undefined || previousLink?.isGone !== true || isOver(held, nowMs));
}

/**
 * Whether the removals are within the limit without the removals of a second worker. Two messages may start two workers
 * for one group, and both reserve the same removals. If only the sum exceeds the limit, no hold starts, and the workers
 * try again one after the other.
 */
function isOnlyTwo({ recent, ...input }: GuardInput & Pick<Reservation, 'recent'>): boolean {
  const { group, connection, concurrent } = recent;
  const alone = { ...recent, group: group - concurrent, connection: connection - concurrent };
  return judgeRemovals({ ...input, recent: alone }).allowed;
}

const yielding = (own: IntentId): Wait => ({
  kind: 'wait',
  yields: true,
  waitMs: 1_000 * (1 + (own.charCodeAt(own.length - 1) % 8)),
  why: { code: 'waiting', message: 'another worker is syncing the group' },
});
