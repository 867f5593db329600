import { expect, it } from 'vitest';
import { type Evidence, existence, existenceLimits } from '../../shared/plan/existence.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMITS = existenceLimits(10 * MINUTE_MS);
const LISTED = { showsThisGroup: true, showsOtherManagedGroups: true };
const OTHERS_LISTED = { showsThisGroup: false, showsOtherManagedGroups: true };
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

it("a group's existence is unknown after a single 404, even with other evidence", () => {
  const evidence = { listing: OTHERS_LISTED, isDeletionReportedByFeed: true };
  expect(judged(HOUR_MS, { ...evidence, firstNotFoundAtMs: undefined })).toBe('unknown');
});

it("a group's existence is unknown after two 404s less than a minute apart", () => {
  expect(judged(MINUTE_MS - 1, { listing: OTHERS_LISTED, isDeletionReportedByFeed: true })).toBe('unknown');
});

it('a group is gone after two 404s a minute apart if a list shows only other managed groups', () => {
  expect(judged(MINUTE_MS, { listing: OTHERS_LISTED })).toBe('gone');
});

it('a group is gone after two 404s a minute apart if the feed reports the deletion', () => {
  expect(judged(MINUTE_MS, { isDeletionReportedByFeed: true })).toBe('gone');
  expect(judged(MINUTE_MS, { isDeletionReportedByFeed: true, listing: undefined })).toBe('gone');
});

it('the existence is unknown with a wrong base URL, which causes 404s and an empty list', () => {
  expect(judged(HOUR_MS - 1)).toBe('unknown');
  expect(judged(HOUR_MS - 1, { listing: undefined })).toBe('unknown');
});

it('a group is gone after an hour of 404s without further evidence', () => {
  expect(judged(HOUR_MS)).toBe('gone');
});

it('a group is gone at the first 404 after the platform answered a DELETE with 2xx', () => {
  expect(judged(0, { firstNotFoundAtMs: undefined, listing: undefined, isDeletionAnswered: true })).toBe(
    'gone',
  );
});

it('a group is gone at the first 404 if an earlier decision found it gone', () => {
  expect(judged(0, { firstNotFoundAtMs: undefined, wasGone: true })).toBe('gone');
});

it.each<[string, Partial<Evidence>]>([
  ['an hour of 404s', {}],
  ['a deletion in the feed', { isDeletionReportedByFeed: true }],
  ['a DELETE that was answered', { isDeletionAnswered: true }],
  ['an earlier decision that it is gone', { wasGone: true }],
])('a group exists while a list shows it, despite %s', (_, evidence) => {
  expect(judged(HOUR_MS, { ...evidence, listing: LISTED })).toBe('exists');
});

it('a smaller createSettleSeconds shortens the time until a decision', () => {
  expect(existenceLimits(10_000)).toEqual({ apartMs: 10_000, uncertainMs: MINUTE_MS });
  expect(existenceLimits(HOUR_MS)).toEqual({ apartMs: MINUTE_MS, uncertainMs: HOUR_MS });
});
