import type { GroupState } from './group-state.ts';
import type { IntentId } from './ids.ts';

/*
 * A dirty group has a scheduled wake-up on its item. The function that marks the group dirty stores the wake-up time
 * and sends a delayed apply message. While that wake-up is pending, no other message is sent. So many events within a
 * short time cost one message and one write. The item is written before the message is sent. If the message is lost or
 * its worker dies, the requeue job sends another message.
 */

/** The maximum difference between the clocks of two workers. */
export const CLOCKS_APART_MS = 2_000;
/**
 * The time after which a missed wake-up counts as lost. This time is longer than a message waits in a healthy queue.
 */
export const WAKE_GRACE_MS = 60_000;
/** SQS delays a message by whole seconds, and delivers it a little later. */
const DELIVERY_MS = 1_000;
/** A call to the platform begins within this time after its intent, or not at all. It ends within a minute. */
export const CALL_BEGINS_WITHIN_MS = 5_000;
/**
 * While an open intent is younger than this, its worker may still be running: the longest call, twice the clock
 * difference, and a margin.
 */
export const AT_WORK_MS = 90_000;

export interface Moment {
  readonly nowMs: number;
  readonly coalesceMs: number;
}

/**
 * Returns the latest time of a stored wake-up that also serves a change made now. A later wake-up belongs to a retry,
 * and the change must not wait for it.
 */
const latestMs = ({ nowMs, coalesceMs }: Moment): number =>
  nowMs + coalesceMs + DELIVERY_MS + CLOCKS_APART_MS;

/**
 * Whether a pending wake-up also serves a change made now: its worker starts soon, or is starting now, and will read
 * the change.
 */
export const coversChange = (wakeAtMs: number, moment: Moment): boolean =>
  wakeAtMs >= moment.nowMs - WAKE_GRACE_MS && wakeAtMs <= latestMs(moment);

/** Returns the delay of a wake-up: 0, or the rest of the coalescing window after the group's last write. */
export const delayMs = (lastWriteAtMs: number | undefined, { nowMs, coalesceMs }: Moment): number =>
  Math.min(coalesceMs, Math.max(0, (lastWriteAtMs ?? 0) + coalesceMs - nowMs));

/** Whether another worker may be calling the platform for its open intent. That worker will also handle the change. */
export const isAtWork = (
  { intent, releasedIntent }: GroupState,
  nowMs: number,
  mine: IntentId | undefined,
): boolean =>
  intent !== undefined &&
  intent.id !== mine &&
  intent.id !== releasedIntent &&
  nowMs - intent.atMs < AT_WORK_MS;

/**
 * Whether a message arrives before the scheduled wake-up of its group. Such a message belongs to an earlier wake-up,
 * and was delivered twice or late. The scheduled wake-up is for a retry, or for the end of the coalescing window.
 */
export function isEarly({ wakeAtMs = 0, lastWriteAtMs = 0 }: GroupState, moment: Moment): boolean {
  const windowEndMs = Math.min(wakeAtMs, lastWriteAtMs + moment.coalesceMs);
  return wakeAtMs > latestMs(moment) || moment.nowMs < windowEndMs - CLOCKS_APART_MS;
}
