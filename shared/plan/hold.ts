import type { Hold } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { HeldUsers } from './facts.ts';
import type { GuardLimits } from './guard.ts';
import type { Plan } from './plan.ts';

export interface HeldRemovals {
  readonly hold: Hold;
  /** The full set that the hold is about. */
  readonly users: ReadonlySet<PlatformUserId>;
}

/** A hold to record, and the approved removals next to it. */
export interface HeldSets {
  readonly hold: HeldRemovals;
  readonly approval: HeldRemovals | undefined;
}

/** What an existing hold says about the removals of a new draft. */
export interface HoldVerdict {
  /** Permitted by a person: the guard is not asked. */
  readonly approved: readonly PlatformUserId[];
  /** To be judged by the guard. */
  readonly unjudged: readonly PlatformUserId[];
  /** May not happen now. */
  readonly held: readonly PlatformUserId[];
  /** New removals came, or its time is over: what is held must be recorded anew. */
  readonly superseded: boolean;
}

/**
 * Splits removals by what was decided before:
 *
 *     hold               | removals in its set | other removals
 *     -------------------|---------------------|--------------------------------------
 *     none               | –                   | the guard judges
 *     waiting            | held                | held, and the hold is superseded
 *     approved           | permitted           | the guard judges
 *     rejected           | held                | the guard judges
 *     past its time      | held anew           | held with them
 *
 * New removals join a waiting hold, so that what a person approves is the whole of what will happen. Time alone lets
 * nothing through: the limit of an hour would not stop after a week what it stopped before.
 */
export function judgeByHold(
  removals: readonly PlatformUserId[],
  current: HeldRemovals | undefined,
  nowMs: number,
): HoldVerdict {
  if (current === undefined) return { approved: [], unjudged: removals, held: [], superseded: false };
  if (isOver(current.hold, nowMs)) return { approved: [], unjudged: [], held: removals, superseded: true };
  const inside = removals.filter((user) => current.users.has(user));
  const outside = removals.filter((user) => !current.users.has(user));
  switch (current.hold.decision.kind) {
    case 'approved':
      return { approved: inside, unjudged: outside, held: [], superseded: false };
    case 'rejected':
      return { approved: [], unjudged: outside, held: inside, superseded: false };
    case 'waiting':
      return { approved: [], unjudged: [], held: removals, superseded: outside.length > 0 };
  }
}

/** Removals of a plan that an operator approved while other removals of the group stayed held. */
export function approvedBeside(
  approval: Hold | undefined,
  approved: HeldUsers['approved'],
  { plan, nowMs }: { readonly plan: Plan; readonly nowMs: number },
): readonly PlatformUserId[] {
  const { users, about } = approved ?? {};
  const isValid = approval !== undefined && about === kindOf(plan) && !isOver(approval, nowMs);
  return isValid ? plan.removals.filter((user) => users?.has(user)) : [];
}

/**
 * The hold that is about this plan. One over another platform group, or over another kind of write, says nothing of
 * these removals: what was approved, or stopped, as removals is not a deletion, and the reverse. One whose set cannot
 * be read may be over any of them, so all are held anew. One that waits for a person has no say once the guard is
 * switched off, save where it covers what a person rejected, or where nobody wants any of its removals any more.
 */
export function holdWithSay(
  hold: Hold,
  { users, about }: HeldUsers,
  {
    plan,
    limits,
    nowMs,
  }: { readonly plan: Plan; readonly limits: GuardLimits | null; readonly nowMs: number },
): HeldRemovals | undefined {
  if (users !== undefined && about !== kindOf(plan)) return undefined;
  const current: HeldRemovals =
    users === undefined
      ? { hold: { ...hold, decision: { kind: 'waiting' }, expiresAtMs: 0 }, users: new Set(plan.removals) }
      : { hold, users };
  const waits = current.hold.decision.kind === 'waiting' || isOver(current.hold, nowMs);
  const isGuarded = limits !== null || mayCoverRejected(hold);
  const isAboutSomebody = isGuarded && plan.removals.some((user) => current.users.has(user));
  return !waits || isAboutSomebody ? current : undefined;
}

const kindOf = ({ departs }: Plan): HeldUsers['about'] => (departs ? 'delete' : 'remove');

/** Whether a person has rejected some of what it holds, and nobody has let them go since. */
export const mayCoverRejected = ({ decision: { kind }, afterRejection }: Hold): boolean =>
  kind === 'rejected' || (afterRejection === true && kind === 'waiting');

/** A rejection stands until nobody wants the removals any more; everything else must be decided anew. */
export const isOver = (hold: Hold, nowMs: number): boolean =>
  hold.decision.kind !== 'rejected' && nowMs >= hold.expiresAtMs;
