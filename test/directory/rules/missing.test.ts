import { expect, it } from 'vitest';
import { isDeleted, isListingWrong } from '../../../shared/directory/rules/missing.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 10);
const HOUR_MS = 3_600_000;

it.each([
  ['none of no groups', 0, 0, false],
  ['none of 100 groups', 100, 0, false],
  ['one group of several', 3, 1, false],
  ['the only group', 1, 1, true],
  ['two groups of three', 3, 2, true],
  ['two groups of 39', 39, 2, true],
  ['two groups of 40', 40, 2, false],
  ['all groups', 100, 100, true],
])('a listing that lacks %s counts as wrong: $3', (_, known, missing, expected) => {
  expect(isListingWrong(known, missing)).toBe(expected);
});

const ALONE = { isAnotherReadable: false };
const hoursAgo = (hours: number) => ({ missingMs: NOW_MS - hours * HOUR_MS });
it.each([
  ['at its first 404', {}, {}, false],
  ['if the directory reports the deletion', {}, { isReportedDeleted: true, ...ALONE }, true],
  ['after 23 hours of 404 answers', hoursAgo(23), {}, false],
  ['after a day of 404 answers while another group is readable', hoursAgo(24), {}, true],
  ['after two days in which no other group was readable', hoursAgo(48), ALONE, false],
])('a missing group counts as deleted %s: $3', (_, known, over, expected) => {
  const evidence = { isReportedDeleted: false, isAnotherReadable: true, nowMs: NOW_MS, ...over };
  expect(isDeleted(known, evidence)).toBe(expected);
});
