import { HELD_SETS, type HeldSetName, type Hold, type Holds } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { HeldUsers } from './facts.ts';
import type { GuardLimits } from './guard.ts';
import type { Plan } from './plan.ts';

export interface HeldRemovals {
  readonly hold: Hold;
  readonly users: ReadonlySet<PlatformUserId>;
}

/** The stored sets of a group, with the users that were read, and the limits of the guard. */
export interface StoredHolds {
  readonly holds: Holds;
  readonly read: HeldUsers;
  readonly limits: GuardLimits | null;
  readonly nowMs: number;
}

/** The removals of a plan, split by the decisions of operators. */
export interface HoldVerdict {
  /** Removals that an operator approved. The guard does not judge them. */
  readonly approved: readonly PlatformUserId[];
  /** Removals that may not happen, because they wait for a decision or an operator rejected them. */
  readonly held: readonly PlatformUserId[];
  /** Removals that the guard must judge. */
  readonly unjudged: readonly PlatformUserId[];
  /** Removals to record as a new hold, because new removals came, or the earlier hold or approval has expired. */
  readonly renewed: readonly PlatformUserId[] | undefined;
  /** Sets that cover no planned removal any more. */
  readonly ends: readonly HeldSetName[];
  /** Whether an approval applies to the plan. It may permit the deletion of a group without users. */
  readonly isApproved: boolean;
  /** Whether the hold or the rejection applies to the plan. */
  readonly isStopped: boolean;
}

/**
 * Splits the removals of a plan by the set that contains them. The first matching line counts:
 *
 *     removal                                                | result
 *     -------------------------------------------------------|---------------------------------------------
 *     approved                                               | permitted
 *     rejected, or the plan deletes a group, as was rejected | held
 *     other, and the hold contains all others                | held
 *     other, and the hold contains some of the others        | all others become a new hold
 *     other, and a set that contains one has expired         | all others become a new hold
 *     other                                                  | the guard judges
 *
 * New removals join a waiting hold, so that an operator approves all removals that will happen. An expired hold permits
 * no removal, because the hourly limit alone may allow the same removals a week later. A set of another platform group,
 * or of another kind of write, does not apply. If the guard is off, no removal waits.
 *
 * A set that cannot be read may contain any removal. So if the hold or the rejection cannot be read, all others wait.
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
  const isGuarded = stored.limits !== null || sets.rejection.isUnreadable;
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

/** Decides whether removals that no operator has decided wait, and whether a new hold must record them. */
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

/** A stored set, as far as it concerns a plan. */
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

/** Splits the removals of a plan by the decisions of operators. */
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

/** Whether a set of held removals has expired. Its removals must then be decided again. */
export const isOver = ({ expiresAtMs }: Hold, nowMs: number): boolean => nowMs >= expiresAtMs;
