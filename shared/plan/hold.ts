import { HELD_SETS, type HeldSetName, type Hold, type Holds } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { HeldUsers } from './facts.ts';
import type { Plan } from './plan.ts';

export interface HeldRemovals {
  readonly hold: Hold;
  readonly users: ReadonlySet<PlatformUserId>;
}

/** A group's stored sets of removals (the hold, the approval and the rejection), and the limits of the guard. */
interface StoredHolds {
  readonly holds: Holds;
  readonly read: HeldUsers;
  /** Whether removals may wait: the guard is on, or removals of the plan always wait. */
  readonly isGuarded: boolean;
  readonly nowMs: number;
}

/** The removals of a plan, split by the decisions of operators. */
export interface HoldVerdict {
  /** Removals that an operator approved. The guard does not judge them. */
  readonly approved: readonly PlatformUserId[];
  /** Removals that may not happen, because they wait for a decision or an operator rejected them. */
  readonly held: readonly PlatformUserId[];
  readonly unjudged: readonly PlatformUserId[];
  /** All undecided removals, if they must wait in a new hold; undefined if no new hold is needed. */
  readonly renewed: readonly PlatformUserId[] | undefined;
  /** Stored sets that must end, because they no longer apply to the plan. */
  readonly ends: readonly HeldSetName[];
  /** Whether an approval applies to the plan. The deletion of a group without users can also be approved. */
  readonly isApproved: boolean;
  /** Whether the hold or the rejection applies to the plan. */
  readonly isStopped: boolean;
}

/**
 * Splits the removals of a plan by the stored set that contains them. The first matching line counts:
 *
 *     the removal                                            | result
 *     -------------------------------------------------------|---------------------------------------------
 *     is approved, and the approval has not expired          | permitted
 *     is rejected, and the rejection has not expired         | held
 *     belongs to a group deletion that was rejected in part  | held
 *     is undecided; a valid hold contains all undecided ones | held
 *     is undecided; a hold or expired set contains some      | all undecided removals become a new hold
 *     is undecided, none of the above                        | the guard judges
 *
 * New removals join a waiting hold. Otherwise the guard would judge them alone, because it does not count the waiting
 * removals. Removals of an expired set need a new decision, even if the hourly limit would now allow them. A set
 * applies only to its platform group and to its kind of write.
 *
 * A set that cannot be read may contain any removal. So if the hold or the rejection cannot be read, all undecided
 * removals wait. If the guard is off, undecided removals wait only if the rejection cannot be read.
 */
export function judgeByHolds(plan: Plan, stored: StoredHolds): HoldVerdict {
  const sets = {
    hold: setFor('hold', plan, stored),
    approval: setFor('approval', plan, stored),
    rejection: setFor('rejection', plan, stored),
  };
  const { approved, rejected, others, isApproved, isRejected } = splitDecided(plan, sets);
  const isEmptyDeletion = plan.removals.length === 0;
  const isOpen = others.length > 0 || (isEmptyDeletion && !isApproved && !isRejected);
  const isGuarded = stored.isGuarded || sets.rejection.isUnreadable;
  const { isWaiting, isRenewed } =
    isOpen && isGuarded
      ? judgeOpen(sets, (users) => isEmptyDeletion || others.some((user) => users.has(user)), others)
      : NOTHING_WAITS;
  const applies = {
    hold: isWaiting,
    approval: isApproved,
    rejection: isRejected || sets.rejection.isUnreadable,
  };
  return {
    approved,
    held: isWaiting ? [...rejected, ...others] : rejected,
    unjudged: isWaiting ? [] : others,
    renewed: isRenewed ? others : undefined,
    ends: HELD_SETS.filter((name) => stored.holds[name] !== undefined && !applies[name]),
    isApproved,
    isStopped: isWaiting || isRejected,
  };
}

const NOTHING_WAITS = { isWaiting: false, isRenewed: false };

type Sets = Readonly<Record<HeldSetName, SetOfPlan>>;

/** Decides whether undecided removals must wait, and whether a new hold must record them. */
function judgeOpen(
  { hold, approval, rejection }: Sets,
  covers: (users: ReadonlySet<PlatformUserId>) => boolean,
  others: readonly PlatformUserId[],
): typeof NOTHING_WAITS {
  const isCovered = ({ users }: SetOfPlan) => users !== undefined && covers(users);
  const isWaiting = hold.isUnreadable || isCovered(hold);
  const hasExpired = (set: SetOfPlan) => set.hasExpired && isCovered(set);
  const isUndecided = rejection.isUnreadable || hasExpired(approval) || hasExpired(rejection);
  const isRecorded = isWaiting && !hold.hasExpired && others.every((user) => hold.users?.has(user));
  return { isWaiting, isRenewed: (isWaiting || isUndecided) && !isRecorded };
}

/** The part of a stored set that applies to a plan. */
interface SetOfPlan {
  /** The users of the set; undefined if the set does not apply to the plan, or cannot be read. */
  readonly users: ReadonlySet<PlatformUserId> | undefined;
  readonly isUnreadable: boolean;
  readonly hasExpired: boolean;
}

function setFor(name: HeldSetName, plan: Plan, { holds, read, nowMs }: StoredHolds): SetOfPlan {
  const hold = holds[name];
  const { users, about } = read[name] ?? {};
  const kind = plan.departs ? 'delete' : 'remove';
  return {
    users: about === kind ? users : undefined,
    isUnreadable: hold !== undefined && users === undefined,
    hasExpired: hold !== undefined && isOver(hold, nowMs),
  };
}

function splitDecided({ removals, action }: Plan, { approval, rejection }: Sets) {
  const permitted = approval.hasExpired ? undefined : approval.users;
  const kept = rejection.hasExpired ? undefined : rejection.users;
  const isDeletionRejected = action === 'delete' && kept !== undefined;
  const isRejectedUser = (user: PlatformUserId) => isDeletionRejected || kept?.has(user) === true;
  const approved = removals.filter((user) => permitted?.has(user));
  const unapproved = removals.filter((user) => !permitted?.has(user));
  const rejected = unapproved.filter(isRejectedUser);
  return {
    approved,
    rejected,
    others: unapproved.filter((user) => !isRejectedUser(user)),
    isApproved: approved.length > 0 || (removals.length === 0 && permitted !== undefined),
    isRejected: rejected.length > 0 || isDeletionRejected,
  };
}

/** Whether a set of held removals has expired. An operator must then decide about its removals again. */
export const isOver = ({ expiresAtMs }: Hold, nowMs: number): boolean => nowMs >= expiresAtMs;
