import { HOUR_MS, MINUTE_MS } from '../domain/duration.ts';

/** The evidence about a platform group, after the platform answered 404 for its id. */
export interface Evidence {
  /** The time of the first 404 since the platform last showed the group; undefined if this 404 is the first. */
  readonly firstNotFoundAtMs: number | undefined;
  readonly lastNotFoundAtMs: number;
  /** A list of the platform's groups that is newer than the first 404; undefined if no list was read. */
  readonly listing: PresenceInList | undefined;
  readonly isDeletionReportedByFeed: boolean;
  /** Whether the platform answered groupsync's own DELETE with 2xx, just before this 404. */
  readonly isDeletionAnswered: boolean;
  /** Whether `existence` has already ended the link to the group, and the platform has not shown the group since. */
  readonly wasGone: boolean;
}

export interface PresenceInList {
  readonly showsThisGroup: boolean;
  /** Whether the list shows another platform group that a directory group owns. */
  readonly showsOtherManagedGroups: boolean;
}

/**
 * The time limits of `existence`. The limits depend on the time that a platform may take to show a new group
 * (`createSettleSeconds`). In the local stack, `createSettleSeconds` and the limits are shorter.
 */
interface Limits {
  /** The minimum time between the first and the last 404. */
  readonly apartMs: number;
  /** If the platform answers 404 for this long, the group counts as gone without other evidence. */
  readonly uncertainMs: number;
}

const SETTLES_IN_AN_HOUR = 6;

export const existenceLimits = (createSettleMs: number): Limits => ({
  apartMs: Math.min(MINUTE_MS, createSettleMs),
  uncertainMs: Math.min(HOUR_MS, SETTLES_IN_AN_HOUR * createSettleMs),
});

/**
 * Decides whether a platform group still exists. Only the result `gone` may end a link, confirm a deletion without a
 * 2xx answer, or exclude an adoption candidate. With a wrong base URL, the platform answers 404 for every group, and
 * its list is empty. So a 404 and an empty list prove nothing alone. A group that a list shows is never gone.
 *
 *   own DELETE answered | was gone | two 404s ≥ 60 s apart | list                            | feed             | result
 *   --------------------|----------|-----------------------|---------------------------------|------------------|------------------------
 *   any                 | any      | any                   | shows the group                 | any              | exists
 *   yes                 | any      | any                   | any other, or none              | any              | gone
 *   no                  | yes      | any                   | any other, or none              | any              | gone
 *   no                  | no       | no                    | any other, or none              | any              | unknown
 *   no                  | no       | yes                   | shows other managed groups only | any              | gone
 *   no                  | no       | yes                   | shows no managed group, or none | reports deletion | gone
 *   no                  | no       | yes                   | shows no managed group, or none | silent           | unknown; gone after 1 h
 */
export function existence(evidence: Evidence, limits: Limits): 'exists' | 'gone' | 'unknown' {
  const { firstNotFoundAtMs, lastNotFoundAtMs, listing } = evidence;
  if (listing?.showsThisGroup === true) return 'exists';
  if (evidence.isDeletionAnswered) return 'gone';
  if (evidence.wasGone) return 'gone';
  if (firstNotFoundAtMs === undefined) return 'unknown';
  const notFoundForMs = lastNotFoundAtMs - firstNotFoundAtMs;
  if (notFoundForMs < limits.apartMs) return 'unknown';
  if (listing?.showsOtherManagedGroups === true) return 'gone';
  if (evidence.isDeletionReportedByFeed) return 'gone';
  return notFoundForMs >= limits.uncertainMs ? 'gone' : 'unknown';
}
