import type { Hold } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { GuardLimits } from './guard.ts';

export interface HeldRemovals {
  readonly hold: Hold;
  /** The full set that the hold is about. */
  readonly users: ReadonlySet<PlatformUserId>;
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

/**
 * Whether a hold has a say about these removals. One that waits for a person has none once the guard is switched off,
 * or where nobody wants any of its removals any more.
 */
export function hasSay(
  { hold, users }: HeldRemovals,
  removals: readonly PlatformUserId[],
  limits: GuardLimits | null,
  nowMs: number,
): boolean {
  const waits = hold.decision.kind === 'waiting' || isOver(hold, nowMs);
  return !waits || (limits !== null && removals.some((user) => users.has(user)));
}

/** A rejection stands until nobody wants the removals any more; everything else must be decided anew. */
export const isOver = (hold: Hold, nowMs: number): boolean =>
  hold.decision.kind !== 'rejected' && nowMs >= hold.expiresAtMs;
