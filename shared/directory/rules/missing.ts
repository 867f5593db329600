import { DAY_MS } from '../../domain/duration.ts';
import type { ReaderGroup } from './reader-group.ts';

/** If more than this share of the known groups is missing in one list, the list counts as wrong. */
const MAX_MISSING_SHARE = 0.05;

/**
 * Whether a list counts as wrong because too many groups are missing. For example, the credential lost a permission, or
 * its administrator can see only a part of the directory.
 *
 *   groups known | missing                   | wrong
 *   -------------|---------------------------|------
 *   any          | none                      | no
 *   any          | all                       | yes
 *   two or more  | one                       | no
 *   any          | two or more, at most 5 %  | no
 *   any          | two or more, over 5 %     | yes
 */
export function isListingWrong(known: number, missing: number): boolean {
  if (missing === 0) return false;
  if (missing === known) return true;
  return missing >= 2 && missing > known * MAX_MISSING_SHARE;
}

interface MissingEvidence {
  readonly isReportedDeleted: boolean;
  /** Whether another group could be read in this run. */
  readonly isAnotherReadable: boolean;
  readonly nowMs: number;
}

/**
 * Whether a group was deleted, after the directory did not find its id. A lost permission may cause the same answer. So
 * a deletion needs one of two proofs: the directory reported the deletion, or the directory did not find the group for
 * a day and another group is readable.
 */
export function isDeleted(
  { missingMs }: Pick<ReaderGroup, 'missingMs'>,
  { isReportedDeleted, isAnotherReadable, nowMs }: MissingEvidence,
): boolean {
  if (isReportedDeleted) return true;
  return isAnotherReadable && missingMs !== undefined && nowMs - missingMs >= DAY_MS;
}
