import type { GroupState } from './group-state.ts';
import type { IntentId } from './ids.ts';

/*
 * Waking a group is a promise on its item: whoever makes the group dirty promises when it is woken, and sends a message
 * for then. While the promise stands nobody else sends one, so a burst is one message and one write. Item first, then
 * message: what is lost in between, with its message or with its worker, the pump takes up.
 */

/** Clocks of two workers differ by no more than this. */
export const CLOCKS_APART_MS = 2_000;
/** A promise is taken for broken so long after its time: longer than a message waits in a healthy queue. */
export const WAKE_GRACE_MS = 60_000;
/** SQS delays by whole seconds, and delivers a little later. */
const DELIVERY_MS = 1_000;
/** The call to the platform begins so soon after its intent, or not at all; its client gives up within a minute. */
export const CALL_BEGINS_WITHIN_MS = 5_000;
/** So long an open intent may be somebody at work: the longest call, twice the difference of clocks, and a margin. */
export const AT_WORK_MS = 90_000;

export interface Moment {
  readonly nowMs: number;
  readonly coalesceMs: number;
}

/** The latest promise that a change made now may rely on: one that is further off is a retry's, which must not wait. */
const latestMs = ({ nowMs, coalesceMs }: Moment): number =>
  nowMs + coalesceMs + DELIVERY_MS + CLOCKS_APART_MS;

/** Whoever made the promise wakes the group soon, or is at work with it and will see that it has changed. */
export const isPromised = (wakeAtMs: number, moment: Moment): boolean =>
  wakeAtMs >= moment.nowMs - WAKE_GRACE_MS && wakeAtMs <= latestMs(moment);

/** At once, but for the rest of the window in which the group was written last. */
export const delayMs = (lastWriteAtMs: number | undefined, { nowMs, coalesceMs }: Moment): number =>
  Math.min(coalesceMs, Math.max(0, (lastWriteAtMs ?? 0) + coalesceMs - nowMs));

/** The open intent of another worker who may be in the middle of its call: that worker will see what has changed. */
export const isAtWork = (
  { intent, releasedIntent }: GroupState,
  nowMs: number,
  mine: IntentId | undefined,
): boolean =>
  intent !== undefined &&
  intent.id !== mine &&
  intent.id !== releasedIntent &&
  nowMs - intent.atMs < AT_WORK_MS;

/** A message that came twice, or too late: there is a promise for later, in a retry's time or at the window's end. */
export function isEarly({ wakeAtMs = 0, lastWriteAtMs = 0 }: GroupState, moment: Moment): boolean {
  const windowEndMs = Math.min(wakeAtMs, lastWriteAtMs + moment.coalesceMs);
  return wakeAtMs > latestMs(moment) || moment.nowMs < windowEndMs - CLOCKS_APART_MS;
}
