import type { GroupState } from './group-state.ts';
import type { IntentId } from './ids.ts';

/*
 * A dirty group has a scheduled wake-up on its item. The function that marks the group dirty first stores the wake-up
 * time, and then sends a delayed apply message. Until that time, further events send no message. So many events within
 * a short time cost one message and one write. If the message is lost or its worker dies, the requeue job sends a new
 * message.
 */

/**
 * Wake-ups allow for this difference between the clocks of two workers. A larger difference costs an extra message, or
 * a delay until the requeue job wakes the group.
 */
const CLOCKS_APART_MS = 2_000;
/** A wake-up counts as lost this long after its time. In a healthy queue, no message waits so long. */
export const WAKE_GRACE_MS = 60_000;
/** SQS delays a message by whole seconds and then delivers it up to this much later. */
const DELIVERY_MS = 1_000;
/** A call to the platform begins within this time after its intent, or not at all. A call ends within a minute. */
export const CALL_BEGINS_WITHIN_MS = 5_000;
/**
 * The worker of an open intent may still be running for this time after the intent: 5 s until the call begins, a minute
 * for the call, and 25 s for clocks that differ.
 */
export const AT_WORK_MS = 90_000;

interface Moment {
  readonly nowMs: number;
  readonly coalesceMs: number;
}

/**
 * Returns the latest time at which a stored wake-up may process a change that is made now. A later wake-up belongs to a
 * retry, and the change must not wait so long.
 */
const latestMs = ({ nowMs, coalesceMs }: Moment): number =>
  nowMs + coalesceMs + DELIVERY_MS + CLOCKS_APART_MS;

/** Whether a scheduled wake-up will also process a change that is made now, because it starts soon. */
export const coversChange = (wakeAtMs: number, moment: Moment): boolean =>
  wakeAtMs >= moment.nowMs - WAKE_GRACE_MS && wakeAtMs <= latestMs(moment);

/** Returns the delay of a wake-up: the remaining time of the coalescing window after the group's last write, or 0. */
export const delayMs = (lastWriteAtMs: number | undefined, { nowMs, coalesceMs }: Moment): number =>
  Math.min(coalesceMs, Math.max(0, (lastWriteAtMs ?? 0) + coalesceMs - nowMs));

/** Whether another worker may be calling the platform now. That worker will also process new changes of the group. */
export const isAtWork = ({ intent, releasedIntent }: GroupState, nowMs: number, mine: IntentId | undefined) =>
  intent !== undefined &&
  intent.id !== mine &&
  intent.id !== releasedIntent &&
  nowMs - intent.atMs < AT_WORK_MS;

/**
 * Whether a message arrives before the scheduled wake-up of its group. Such a message belongs to an earlier wake-up,
 * and SQS delivered it twice or late. The scheduled wake-up is for a retry or for the end of the coalescing window.
 */
export function isEarly({ wakeAtMs = 0, lastWriteAtMs = 0 }: GroupState, moment: Moment): boolean {
  const windowEndMs = Math.min(wakeAtMs, lastWriteAtMs + moment.coalesceMs);
  return wakeAtMs > latestMs(moment) || moment.nowMs < windowEndMs - CLOCKS_APART_MS;
}
