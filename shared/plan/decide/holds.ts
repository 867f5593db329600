import type { SettledState } from '../../domain/group-state.ts';
import { HELD_SETS, type HeldSetName, holdsOf } from '../../domain/hold.ts';
import type { IntentId, PlatformUserId } from '../../domain/ids.ts';
import { type WaitCause, WHOLE_GROUP, withUnwanted } from '../../domain/view.ts';
import type { Decision, EndHold, Reserve, StartHold, Wait, Write } from '../decision.ts';
import type { Facts, Reservation } from '../facts.ts';
import { type GuardInput, type GuardVerdict, judgeRemovals } from '../guard.ts';
import { type HoldVerdict, isOver, judgeByHolds } from '../hold.ts';
import type { Plan } from '../plan.ts';
import { hiddenWanted } from '../unshown.ts';
import { settle } from './settle.ts';

export const endHold = (...ends: readonly HeldSetName[]): EndHold => ({ kind: 'hold', ends });

/** Settles a group that needs no write. If the group has a set of held removals, the decision ends this set first. */
export const settleUnheld = (facts: Facts, as: SettledState): Decision => endUnneeded(facts) ?? settle(as);

export interface Guarded extends Pick<Write, 'held' | 'consumes' | 'isReserved'> {
  /** Whether the deletion of the group is held. */
  readonly isDeletionHeld?: boolean;
}

export const UNGUARDED: Guarded = { held: new Set(), consumes: undefined, isReserved: false };

/**
 * Judges the removals or the group deletion of a plan, whatever caused them (invariant 5). This includes the deletion
 * of a group without users. The first matching line counts:
 *
 * The guard does not judge the removal of a blocked person, and no hold or rejection stops it (`withoutBlocked`).
 *
 *     the plan                                          | result
 *     --------------------------------------------------|-------------------------------------------------
 *     removes no user and no group, and a set exists    | end the set (`endUnneeded`)
 *     removes no user and no group                      | the plan may be written
 *     has removals that must wait in a new hold         | hold (`judgeByHolds`)
 *     has a set that no longer applies to its removals  | end the set (`judgeByHolds`)
 *     has only decided or waiting removals              | write without the rejected and waiting removals
 *     has undecided removals that always wait           | hold (`waits` of the view)
 *     has undecided removals, and the guard is off      | the plan may be written
 *     has undecided removals that are not reserved      | reserve
 *     has undecided removals that the guard allows      | the plan may be written
 *     exceeds the limit only with a second worker       | wait for that worker (`isOnlyTwo`)
 *     otherwise                                         | hold
 */
export function guard(asked: Plan, facts: Facts): Guarded | Decision {
  const { state, held: read, settings, nowMs } = facts;
  const plan = withoutBlocked(asked, facts);
  const isEmptyDeletion = plan.removals.length === 0;
  if (isEmptyDeletion && plan.action !== 'delete') return endUnneeded(facts) ?? UNGUARDED;
  if (holdsOf(state).length > 0 && read === undefined) return { kind: 'read', what: ['held'] };
  const isGuarded = settings.guard !== null || waitCauseOf(plan, plan.removals, facts) !== undefined;
  const stored = { holds: state, read: read ?? {}, isGuarded, nowMs };
  return guardBy({ plan, facts, verdict: judgeByHolds(plan, stored) });
}

/**
 * Returns the plan without the removals of blocked people. The deletion of a group is judged as a whole. If it is held,
 * the next plan removes only the blocked people.
 */
const withoutBlocked = (plan: Plan, { blocked }: Facts): Plan =>
  blocked === undefined || plan.action === 'delete'
    ? plan
    : { ...plan, removals: plan.removals.filter((user) => !blocked.has(user)) };

function guardBy(context: GuardContext): Guarded | Decision {
  const { plan, facts, verdict } = context;
  const { renewed, ends, isApproved, isStopped } = verdict;
  const { state, settings } = facts;
  if (renewed !== undefined) return startHold(renewed, { rule: holdsOf(state)[0]?.rule ?? 'count' }, context);
  if (ends.length > 0) return endHold(...ends);
  const isEmptyDeletion = plan.removals.length === 0;
  const guarded: Guarded = {
    held: new Set(verdict.held.filter((user) => !facts.blocked?.has(user))),
    consumes: isApproved ? state.approval?.digest : undefined,
    isReserved: false,
    isDeletionHeld: plan.action === 'delete' && isStopped,
  };
  const isDecided = isEmptyDeletion ? isApproved || isStopped : verdict.unjudged.length === 0;
  const cause = isDecided ? undefined : waitCauseOf(plan, verdict.unjudged, facts);
  if (cause !== undefined) return startHold(verdict.unjudged, { rule: cause }, context);
  return isDecided || settings.guard === null ? guarded : judgeOthers(guarded, context);
}

/** Returns why one of these removals, or the deletion, must wait for an operator; undefined if none must wait. */
function waitCauseOf(
  { action }: Plan,
  removals: readonly PlatformUserId[],
  { views }: Facts,
): WaitCause | undefined {
  const waits = views?.base?.waits;
  if (waits === undefined) return undefined;
  const user = removals.find((one) => waits.has(one));
  if (user !== undefined) return waits.get(user);
  return action === 'delete' ? waits.get(WHOLE_GROUP) : undefined;
}

interface GuardContext {
  readonly plan: Plan;
  readonly facts: Facts;
  readonly verdict: HoldVerdict;
}

/** Judges the removals without an operator's decision, or the deletion of a group without users. */
function judgeOthers(guarded: Guarded, context: GuardContext): Guarded | Decision {
  const { plan, facts, verdict } = context;
  const judgement = judgeReserved(verdict.unjudged.length, sizeOf(facts), plan, facts);
  if ('kind' in judgement) return judgement;
  return judgement.allowed
    ? { ...guarded, isReserved: true }
    : startHold(verdict.unjudged, judgement, context);
}

const startHold = (
  users: readonly PlatformUserId[],
  { rule, share }: Pick<StartHold, 'rule'> & Partial<Pick<StartHold, 'share'>>,
  { plan, facts, verdict }: GuardContext,
): StartHold => ({
  kind: 'hold',
  users,
  approved: verdict.approved.length,
  size: sizeOf(facts),
  rule,
  share,
  deletes: plan.departs,
});

/** Returns the known number of users in the group, without wanted hidden users (`hiddenWanted`). */
const sizeOf = ({ views, wanted }: Facts): number =>
  views?.base === undefined ? 0 : withUnwanted(views.base, wanted?.group?.users).users.size;

/** Returns the guard's verdict about the removals, or the decision to reserve them first. */
function judgeReserved(
  removals: number,
  size: number,
  plan: Plan,
  facts: Facts,
): GuardVerdict | Reserve | Wait {
  const { state, settings, reservation } = facts;
  // Only one of two writes can take effect: the uncertain write or the next write. So the larger number of removals
  // counts.
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
 * Returns the decision that ends the sets of a group whose plan removes nothing. A platform group that is gone may come
 * back with its held members. So the sets of such a group stay until they expire.
 */
function endUnneeded({ state, nowMs }: Facts): EndHold | undefined {
  const mayComeBack = state.link === undefined && state.previousLink?.isGone === true;
  const isUnneeded = (name: HeldSetName) =>
    state[name] !== undefined && (!mayComeBack || isOver(state[name], nowMs));
  const ends = HELD_SETS.filter(isUnneeded);
  return ends.length > 0 ? endHold(...ends) : undefined;
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
