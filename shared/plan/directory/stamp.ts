/** The maximum clock difference, and the maximum age of the state that a directory shows. */
const BEHIND_MS = 60_000;

/**
 * Returns the time of the stamp of a read, in milliseconds since 1970. The time is before every state that the read
 * shows, so that an event that was pushed meanwhile wins. The time is never before the last stamp sent for the group.
 * @param oldestPageMs the time at which the oldest used page was requested
 */
export const stampTimeOf = (oldestPageMs: number, lastSentMs: number | undefined): number =>
  Math.max(oldestPageMs - BEHIND_MS, lastSentMs ?? 0);
