import type { Hold } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { HeldUsers } from './facts.ts';
import type { GuardLimits } from './guard.ts';
import type { Plan } from './plan.ts';

export interface HeldRemovals {
  readonly hold: Hold;
  readonly users: ReadonlySet<PlatformUserId>;
}

/** A hold to record, and the removals that an operator approved separately. */
export interface HeldSets {
  readonly hold: HeldRemovals;
  readonly approval: HeldRemovals | undefined;
}

/** The removals of a new draft, split by the decision about an existing hold. */
export interface HoldVerdict {
  /** Removals that an operator approved. The guard does not judge them. */
  readonly approved: readonly PlatformUserId[];
  /** Removals that the guard must judge. */
  readonly unjudged: readonly PlatformUserId[];
  /** Removals that may not happen now. */
  readonly held: readonly PlatformUserId[];
  /** Whether the held removals must be recorded again, because new removals came or the hold has expired. */
  readonly superseded: boolean;
}

/**
 * Splits removals by the operator's decision about the existing hold:
 *
 *     hold               | removals in its set | other removals
 *     -------------------|---------------------|--------------------------------------
 *     none               | –                   | the guard judges
 *     waiting            | held                | held, and the hold is superseded
 *     approved           | permitted           | the guard judges
 *     rejected           | held                | the guard judges; held if the group is deleted
 *     expired            | held again          | held together with them
 *
 * New removals join a waiting hold, so that an operator approves all removals that will happen. An expired hold permits
 * no removal, because the hourly limit alone may allow the same removals a week later.
 */
export function judgeByHold(
  removals: readonly PlatformUserId[],
  current: HeldRemovals | undefined,
  nowMs: number,
  deletes = false,
): HoldVerdict {
  if (current === undefined) return { approved: [], unjudged: removals, held: [], superseded: false };
  if (isOver(current.hold, nowMs)) return { approved: [], unjudged: [], held: removals, superseded: true };
  const inside = removals.filter((user) => current.users.has(user));
  const outside = removals.filter((user) => !current.users.has(user));
  switch (current.hold.decision.kind) {
    case 'approved':
      return { approved: inside, unjudged: outside, held: [], superseded: false };
    case 'rejected':
      if (deletes) return { approved: [], unjudged: [], held: removals, superseded: false };
      return { approved: [], unjudged: outside, held: inside, superseded: false };
    case 'waiting':
      return { approved: [], unjudged: [], held: removals, superseded: outside.length > 0 };
  }
}

/** Returns the removals of a plan that an operator approved while other removals of the group stayed held. */
export function approvedRemovals(
  approval: Hold | undefined,
  approved: HeldUsers['approved'],
  { plan, nowMs }: { readonly plan: Plan; readonly nowMs: number },
): readonly PlatformUserId[] {
  const { users, about } = approved ?? {};
  const isValid = approval !== undefined && about === kindOf(plan) && !isOver(approval, nowMs);
  return isValid ? plan.removals.filter((user) => users?.has(user)) : [];
}

/**
 * Returns the hold if it applies to this plan, otherwise undefined. A hold of another platform group or of another kind
 * of write does not apply. A decision about removals does not apply to a deletion, and a decision about a deletion does
 * not apply to removals. If the held set cannot be read, it may cover any removal, so all removals are held again. A
 * waiting or expired hold applies only under two conditions. First, the plan still contains one of its removals, or
 * deletes a group without users. Second, the guard is on, or the hold may cover rejected removals.
 */
export function applicableHold(
  hold: Hold,
  { users, about }: HeldUsers,
  { plan, limits, nowMs, isEmptyDeletion = false }: Held,
): HeldRemovals | undefined {
  if (users !== undefined && about !== kindOf(plan)) return undefined;
  const current: HeldRemovals =
    users === undefined
      ? { hold: { ...hold, decision: { kind: 'waiting' }, expiresAtMs: 0 }, users: new Set(plan.removals) }
      : { hold, users };
  const waits = current.hold.decision.kind === 'waiting' || isOver(current.hold, nowMs);
  const isGuarded = limits !== null || mayCoverRejected(hold);
  const isWanted = isEmptyDeletion || plan.removals.some((user) => current.users.has(user));
  const coversRemoval = isGuarded && isWanted;
  return !waits || coversRemoval ? current : undefined;
}

interface Held {
  readonly plan: Plan;
  readonly limits: GuardLimits | null;
  readonly nowMs: number;
  /** Whether the plan deletes a group that has no users any more. */
  readonly isEmptyDeletion?: boolean;
}

const kindOf = ({ departs }: Plan): HeldUsers['about'] => (departs ? 'delete' : 'remove');

/** Whether an operator rejected some of the held removals and no operator approved them since. */
export const mayCoverRejected = ({ decision: { kind }, afterRejection }: Hold): boolean =>
  kind === 'rejected' || (afterRejection === true && kind === 'waiting');

/**
 * Whether the hold has expired. A rejection has no time limit. A waiting or an approved hold expires, and its removals
 * must be decided again.
 */
export const isOver = (hold: Hold, nowMs: number): boolean =>
  hold.decision.kind !== 'rejected' && nowMs >= hold.expiresAtMs;
