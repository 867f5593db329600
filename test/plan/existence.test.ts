import { expect, it } from 'vitest';
import { type Evidence, existence, existenceLimits } from '../../shared/plan/existence.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMITS = existenceLimits(10 * MINUTE_MS);
const LISTED = { showsThisGroup: true, showsOtherManagedGroups: true };
const OTHERS = { showsThisGroup: false, showsOtherManagedGroups: true };
const NONE_LISTED = { showsThisGroup: false, showsOtherManagedGroups: false };

/** Returns the result for a group that answers 404 from time 0 to `notFoundForMs`. */
const judged = (notFoundForMs: number, evidence: Partial<Evidence> = {}) =>
  existence(
    {
      firstNotFoundAtMs: 0,
      lastNotFoundAtMs: notFoundForMs,
      listing: NONE_LISTED,
      isDeletionReportedByFeed: false,
      isDeletionAnswered: false,
      wasGone: false,
      ...evidence,
    },
    LIMITS,
  );

const REPORTED = { isDeletionReportedByFeed: true };
const FIRST = { firstNotFoundAtMs: undefined };

it.each<[string, 'unknown' | 'gone' | 'exists', number, Partial<Evidence>]>([
  ['a single 404, despite all evidence', 'unknown', HOUR_MS, { ...REPORTED, ...FIRST, listing: OTHERS }],
  ['404s within less than a minute', 'unknown', MINUTE_MS - 1, { ...REPORTED, listing: OTHERS }],
  ['404s for a minute and a list of other managed groups', 'gone', MINUTE_MS, { listing: OTHERS }],
  ['404s for a minute and a report of the feed', 'gone', MINUTE_MS, REPORTED],
  ['404s for a minute, a report and no list', 'gone', MINUTE_MS, { ...REPORTED, listing: undefined }],
  ['404s and an empty list, as with a wrong base URL', 'unknown', HOUR_MS - 1, {}],
  ['404s and no list', 'unknown', HOUR_MS - 1, { listing: undefined }],
  ['an hour of 404s', 'gone', HOUR_MS, {}],
  [
    'a DELETE with 2xx and a first 404',
    'gone',
    0,
    { ...FIRST, listing: undefined, isDeletionAnswered: true },
  ],
  ['an earlier decision and a first 404', 'gone', 0, { ...FIRST, wasGone: true }],
  ['an hour of 404s and a list with the group', 'exists', HOUR_MS, { listing: LISTED }],
  ['a report and a list with the group', 'exists', HOUR_MS, { ...REPORTED, listing: LISTED }],
  ['a DELETE and a list with the group', 'exists', HOUR_MS, { listing: LISTED, isDeletionAnswered: true }],
  ['an earlier decision and a list with the group', 'exists', HOUR_MS, { listing: LISTED, wasGone: true }],
])('after %s, the existence of a group is: %s', (_, expected, notFoundForMs, evidence) => {
  expect(judged(notFoundForMs, evidence)).toBe(expected);
});

it('a smaller createSettleSeconds shortens the time until a decision', () => {
  expect(existenceLimits(10_000)).toEqual({ apartMs: 10_000, uncertainMs: MINUTE_MS });
  expect(existenceLimits(HOUR_MS)).toEqual({ apartMs: MINUTE_MS, uncertainMs: HOUR_MS });
});
