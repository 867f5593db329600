import { HOUR_MS } from '../../domain/duration.ts';
import type { MemberId } from '../../domain/ids.ts';
import { type GroupRead, isEqual, type MemberDifference } from './read.ts';
import type { ReaderGroup } from './reader-group.ts';

/** The minimum time between two reads that confirm each other, in a directory without lag. */
export const CONFIRMED_AFTER_MS = 10 * 60_000;
/**
 * A read is short if the directory lists fewer users than it counts. After this many short reads within an hour, the
 * reader adds the listed users and removes no member.
 */
export const MAX_SHORT_READS = 3;
/** A group up to this size is sent as one snapshot. A larger group is sent as single changes. */
const LARGEST_SNAPSHOT = 1_000;

export type ReadOutcome =
  | { readonly kind: 'equal' }
  /** No event is sent, and the group is read again. */
  | { readonly kind: 'again'; readonly because: 'short' | 'unconfirmed' | 'superseded' }
  | { readonly kind: 'snapshot'; readonly members: readonly MemberId[] }
  | {
      readonly kind: 'changes';
      readonly isNamed: boolean;
      readonly added: readonly MemberId[];
      readonly removed: readonly MemberId[];
      /** Why the read removes no member, although it lacks some. The reader then reads the group again. */
      readonly keepsBecause?: 'short' | 'unconfirmed';
    };

/**
 * Decides which events to send. A list that is short or empty by mistake must not remove a member. A list is *unsure* if
 * it would remove members, and it is empty or no count of the directory proves it. A second read with the same members
 * confirms it.
 *
 *   users listed     short reads in the hour  unsure list           difference            result
 *   ---------------  -----------------------  --------------------  --------------------  ------------------------------
 *   below the count  1 or 2                   any                   any                   again: short
 *   below the count  3 or more                any                   no addition, no name  again: short
 *   below the count  3 or more                any                   addition or new name  changes, no removals
 *   all              any                      any                   none                  equal
 *   all              any                      yes, not confirmed    no addition, no name  again: unconfirmed
 *   all              any                      yes, not confirmed    addition or new name  changes, no removals
 *   all              any                      no, or confirmed      superseded only       again: superseded
 *   all              any                      no, or confirmed      some, ≤ 1,000 users   snapshot
 *   all              any                      no, or confirmed      some, more users      changes
 */
export function outcomeOf(
  read: GroupRead,
  difference: MemberDifference,
  known: Pick<ReaderGroup, 'shortMs' | 'unconfirmed'>,
  { nowMs, lagMs }: { readonly nowMs: number; readonly lagMs: number },
): ReadOutcome {
  const { added, removed, isNamed } = difference;
  if (read.isShort) {
    const isLasting = shortReads(known, nowMs).length >= MAX_SHORT_READS;
    return isLasting ? withoutRemovals(difference, 'short') : { kind: 'again', because: 'short' };
  }
  if (isEqual(difference)) return { kind: 'equal' };
  const isUnsure = removed.length > 0 && (read.members.size === 0 || !read.isCounted);
  const sinceMs = unconfirmedSince(known, { content: read.content, nowMs });
  if (isUnsure && nowMs - lagMs - sinceMs < CONFIRMED_AFTER_MS)
    return withoutRemovals(difference, 'unconfirmed');
  if (added.length + removed.length === 0 && !isNamed) return { kind: 'again', because: 'superseded' };
  if (read.members.size <= LARGEST_SNAPSHOT) return { kind: 'snapshot', members: [...read.members] };
  return { kind: 'changes', isNamed, added, removed };
}

const withoutRemovals = (
  { added, isNamed }: MemberDifference,
  because: 'short' | 'unconfirmed',
): ReadOutcome =>
  added.length === 0 && !isNamed
    ? { kind: 'again', because }
    : { kind: 'changes', isNamed, added, removed: [], keepsBecause: because };

/** Returns the short reads of the last hour, including the current read. */
export const shortReads = ({ shortMs = [] }: Pick<ReaderGroup, 'shortMs'>, nowMs: number) => [
  ...shortMs.filter((atMs) => nowMs - atMs < HOUR_MS),
  nowMs,
];

/** Returns the time of the first of the successive unsure reads with this content. */
export const unconfirmedSince = (
  { unconfirmed }: Pick<ReaderGroup, 'unconfirmed'>,
  { content, nowMs }: { readonly content: string; readonly nowMs: number },
): number => (unconfirmed?.content === content ? unconfirmed.sinceMs : nowMs);
