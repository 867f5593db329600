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

/** Settles a released platform group. Its hold ends first. */
export const settleUnheld = (facts: Facts, as: SettledState): Decision =>
  isHoldOver(facts) ? endHold('hold', 'approval') : settle(as);

export interface Guarded extends Pick<Write, 'held' | 'consumes' | 'isReserved'> {
  /** Whether the group may not be deleted now. */
  readonly isDeletionHeld?: boolean;
}

/**
 * Judges every removal and every deletion of a plan, for every cause (invariant 5). The deletion of a group without
 * users is judged like a removal. The first matching line counts:
 *
 *     the plan                                          | result
 *     --------------------------------------------------|-------------------------------------------------
 *     removes no user and no group                      | end a hold that is over; else the plan may be written
 *     has an approval that covers none of its removals  | end the approval
 *     has a hold that covers none of the others         | end the hold
 *     removes users that the hold stops or permits      | keep or remove them, as an operator decided
 *     removes others, and the guard has not counted them| reserve
 *     … and the guard allows them                       | the plan may be written
 *     … and only another worker's removals are too many | wait for that worker
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
  /** The removals that are approved next to the hold. The guard does not judge them. */
  readonly permitted: readonly PlatformUserId[];
}

/** Judges the removals that no approval next to the hold permits. */
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
  // A write that an approved hold permits also removes the users that were approved next to the hold. The write uses up
  // the hold and the approval.
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
 * Judges the deletion of a group without users. Its hold covers no user, so the decision about the hold applies to the
 * group.
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

/** Returns the guard's verdict after the removals are in its record. */
function judgeReserved(
  removals: number,
  size: number,
  plan: Plan,
  facts: Facts,
): GuardVerdict | Reserve | Wait {
  const { state, settings, reservation } = facts;
  // Only one of the two writes can take effect, so the larger number of removals counts.
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
 * Whether the hold of a plan without removals ends. If the group is gone, it may come back with its held members. Its
 * hold then stays until it expires.
 */
function isHoldOver({ state: { hold, approval, link, previousLink }, nowMs }: Facts): boolean {
  const held = hold ?? approval;
  return held !== undefined && (link !== undefined || previousLink?.isGone !== true || isOver(held, nowMs));
}

/**
 * Whether only the removals of a second worker exceed the limit. Two messages may start two workers for one group, and
 * both workers reserve the same removals. If only the sum exceeds the limit, no hold is made, and the workers try again
 * one after the other.
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
