import type { Waiting as WaitingReport } from '../contract/answers/groups.ts';
import type { GroupState, SettledState } from '../domain/group-state.ts';

/** The reason why groupsync has not written a changed group yet, and the time at which apply reads the group next. */
interface Waiting {
  /** Milliseconds since 1970. */
  readonly untilMs: number;
  readonly code: string;
  readonly reason: string;
}

const EARLIER_WRITE = { code: 'earlier_write', reason: 'outcome of an earlier write unknown' };
export const AS_WANTED = {
  code: 'as_wanted',
  reason: 'the group is as wanted, but an earlier write may still change it',
};
const DELETED_AS_WANTED = {
  code: AS_WANTED.code,
  reason: 'the platform group is deleted as wanted, but an earlier write may still take effect',
};

/** Returns the reason of the last check of a group that needs no write. */
export const asWanted = (settled: SettledState | undefined) =>
  settled === 'deleted' ? DELETED_AS_WANTED : AS_WANTED;

/**
 * Returns the reason why a dirty group waits. The first matching line counts.
 *
 *     the group                                  | waits for
 *     -------------------------------------------|------------------------------------------
 *     is clean or paused                         | nothing
 *     failed, and has an open intent             | the outcome of the open intent; shows the last error
 *     failed                                     | a retry; shows the last error
 *     is as wanted, has an uncertain write       | a last check at the deadline of the uncertain write
 *     has an uncertain write                     | the uncertain write
 *     otherwise                                  | nothing, because the coalescing window ends soon
 *
 * If apply is due now or is already working on the group, `untilMs` is now.
 */
export function waitingOf(state: GroupState, nowMs: number): Waiting | undefined {
  const { dirtySinceMs, pausedAtMs, wakeAtMs = 0, lastError, intent, uncertain, settled } = state;
  if (dirtySinceMs === undefined || pausedAtMs !== undefined) return undefined;
  const untilMs = Math.max(wakeAtMs, nowMs);
  if (lastError !== undefined && intent === undefined)
    return { untilMs, code: lastError.code, reason: lastError.message };
  if (lastError !== undefined)
    return { ...EARLIER_WRITE, untilMs, reason: `${EARLIER_WRITE.reason}; last error: ${lastError.message}` };
  if (uncertain === undefined) return undefined;
  const isAsWanted = intent === undefined && wakeAtMs === uncertain.untilMs;
  return { ...(isAsWanted ? asWanted(settled) : EARLIER_WRITE), untilMs };
}

export const reportWaiting = (waiting: Waiting | undefined): WaitingReport | null =>
  waiting === undefined
    ? null
    : { until: new Date(waiting.untilMs).toISOString(), code: waiting.code, reason: waiting.reason };
