import type { ReaderGroup } from '../../domain/reader-group.ts';

const DAY_MS = 24 * 3_600_000;
/** If more than this share of the groups is missing at the same time, the list counts as wrong. */
const MAX_MISSING_SHARE = 0.05;

/**
 * Whether a list counts as wrong because too many groups are missing. A possible cause is a lost permission, or the
 * account of an administrator who can see only a part of the directory.
 *
 *   groups known | missing                   | wrong
 *   -------------|---------------------------|------
 *   none         | none                      | no
 *   any          | all                       | yes
 *   any          | one of several            | no
 *   any          | two or more, at most 5 %  | no
 *   any          | two or more, over 5 %     | yes
 */
export function isListingWrong(known: number, missing: number): boolean {
  if (missing === 0) return false;
  if (missing === known) return true;
  return missing >= 2 && missing > known * MAX_MISSING_SHARE;
}

export interface MissingEvidence {
  readonly isReportedDeleted: boolean;
  /** Whether another group could be read in this run. */
  readonly isAnotherReadable: boolean;
  readonly nowMs: number;
}

/**
 * Whether a group was deleted, if the directory does not find its id. A lost permission may cause the same answer. So
 * the deletion is proven only if the directory reported it, or if the group was not found for a day while another group
 * was readable.
 */
export function isDeleted(
  { missingMs }: Pick<ReaderGroup, 'missingMs'>,
  { isReportedDeleted, isAnotherReadable, nowMs }: MissingEvidence,
): boolean {
  if (isReportedDeleted) return true;
  return isAnotherReadable && missingMs !== undefined && nowMs - missingMs >= DAY_MS;
}
