/** Covers the difference between clocks, and the delay until a directory shows a change. */
const BEHIND_MS = 60_000;

/**
 * Returns the time of the stamp of a read, in milliseconds since 1970. The time is before the begin of the read, so an
 * event that is sent during the read has priority. The time is never earlier than the last stamp that was sent for the
 * group.
 * @param oldestPageMs the time at which the oldest used page was requested
 */
export const stampTimeOf = (oldestPageMs: number, lastSentMs: number | undefined): number =>
  Math.max(oldestPageMs - BEHIND_MS, lastSentMs ?? 0);
