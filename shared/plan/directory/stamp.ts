/** The maximum clock difference, and the maximum age of what a directory shows. */
const BEHIND_MS = 60_000;

/**
 * Time of the stamp of a read, in milliseconds since 1970. It is earlier than everything that the read shows, so that an
 * event that was pushed meanwhile wins. It is never earlier than the last stamp sent for the group.
 * @param oldestPageMs when the oldest page that was used was requested
 */
export const stampTimeOf = (oldestPageMs: number, lastSentMs: number | undefined): number =>
  Math.max(oldestPageMs - BEHIND_MS, lastSentMs ?? 0);
