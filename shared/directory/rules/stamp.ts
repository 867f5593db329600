/** The tolerance for clock differences, and for the delay until a directory shows a change. */
const BEHIND_MS = 60_000;

/**
 * Returns the time of the stamp of a read, in milliseconds since 1970. The time is before the start of the read, so an
 * event that another producer sends during the read wins. The time is not earlier than the last stamp that the reader
 * sent for the group.
 * @param oldestPageMs the time of the request for the oldest page that the read used
 */
export const stampTimeOf = (oldestPageMs: number, lastSentMs: number | undefined): number =>
  Math.max(oldestPageMs - BEHIND_MS, lastSentMs ?? 0);
