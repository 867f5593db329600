import type { MemberId } from '../../domain/ids.ts';
import type { ReaderGroup } from '../../domain/reader-group.ts';
import { type Difference, type GroupRead, isEqual } from './read.ts';

/** The minimum time between two reads that confirm each other, in a directory without lag. */
export const CONFIRMED_AFTER_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
/**
 * A read is short if the directory lists fewer users than it counts. After this many short reads within an hour, the
 * reader adds the listed users and removes no member.
 */
export const MAX_SHORT_READS = 3;
/** A group up to this size is sent as one snapshot. A larger group is sent as single changes. */
export const LARGEST_SNAPSHOT = 1_000;

/** The result of one complete read of a group. */
export type ReadOutcome =
  | { readonly kind: 'equal' }
  /** No event is sent, and the group is read again. */
  | { readonly kind: 'again'; readonly because: 'short' | 'empty' | 'superseded' }
  | { readonly kind: 'snapshot'; readonly members: readonly MemberId[] }
  | {
      readonly kind: 'changes';
      readonly isNamed: boolean;
      readonly added: readonly MemberId[];
      readonly removed: readonly MemberId[];
      /** Whether the read was short. After a short read, no member is removed, and the reader reads the group again. */
      readonly isShort: boolean;
    };

/**
 * Decides which events to send. A list that is short or empty by mistake must not remove a member.
 *
 *   users listed     short reads in the hour  list became empty     difference            result
 *   ---------------  -----------------------  --------------------  --------------------  ------------------------------
 *   below the count  1 or 2                   any                   any                   again: short
 *   below the count  3 or more                any                   no addition, no name  again: short
 *   below the count  3 or more                any                   addition or new name  changes, no removals
 *   all              any                      any                   none                  equal
 *   all              any                      yes, not confirmed    some                  again: empty
 *   all              any                      no, or confirmed      superseded only       again: superseded
 *   all              any                      no, or confirmed      some, ≤ 1,000 users   snapshot
 *   all              any                      no, or confirmed      some, more users      changes
 */
export function outcomeOf(
  read: GroupRead,
  difference: Difference,
  known: Pick<ReaderGroup, 'shortMs' | 'emptyMs'>,
  { nowMs, lagMs }: { readonly nowMs: number; readonly lagMs: number },
): ReadOutcome {
  const { added, removed, isNamed } = difference;
  if (read.isShort) {
    const isLasting = shortReads(known, nowMs).length >= MAX_SHORT_READS;
    if (!isLasting || (added.length === 0 && !isNamed)) return { kind: 'again', because: 'short' };
    return { kind: 'changes', isNamed, added, removed: [], isShort: true };
  }
  if (isEqual(difference)) return { kind: 'equal' };
  const isEmptied = read.members.size === 0 && removed.length > 0;
  if (isEmptied && !isConfirmed(known.emptyMs, nowMs - lagMs)) return { kind: 'again', because: 'empty' };
  if (added.length + removed.length === 0 && !isNamed) return { kind: 'again', because: 'superseded' };
  if (read.members.size <= LARGEST_SNAPSHOT) return { kind: 'snapshot', members: [...read.members] };
  return { kind: 'changes', isNamed, added, removed, isShort: false };
}

/** Returns the short reads of the last hour, including the current read. */
export const shortReads = (
  { shortMs = [] }: Pick<ReaderGroup, 'shortMs'>,
  nowMs: number,
): readonly number[] => [...shortMs.filter((atMs) => nowMs - atMs < HOUR_MS), nowMs];

const isConfirmed = (firstMs: number | undefined, nowMs: number): boolean =>
  firstMs !== undefined && nowMs - firstMs >= CONFIRMED_AFTER_MS;
