import type { Hold } from '../domain/hold.ts';
import type { PlatformUserId } from '../domain/ids.ts';

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
  /** The hold no longer describes the removals: new ones came, and the set must be recorded anew. */
  readonly superseded: boolean;
}

/**
 * Splits removals by what was decided before:
 *
 *     hold               | removals in its set | other removals
 *     -------------------|---------------------|--------------------------------------
 *     none, or expired   | –                   | the guard judges
 *     waiting            | held                | held, and the hold is superseded
 *     approved           | permitted           | the guard judges
 *     rejected           | held                | the guard judges
 *
 * New removals join a waiting hold, so that what a person approves is the whole of what will happen.
 */
export function judgeByHold(
  removals: readonly PlatformUserId[],
  current: HeldRemovals | undefined,
  nowMs: number,
): HoldVerdict {
  if (current === undefined || isOver(current.hold, nowMs)) {
    return { approved: [], unjudged: removals, held: [], superseded: false };
  }
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

/** A rejection stands until nobody wants the removals any more; everything else runs out. */
export const isOver = (hold: Hold, nowMs: number): boolean =>
  hold.decision.kind !== 'rejected' && nowMs >= hold.expiresAtMs;
