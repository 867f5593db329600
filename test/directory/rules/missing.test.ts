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

const evidence = { isReportedDeleted: false, isAnotherReadable: true, nowMs: NOW_MS };

it('a missing group counts as deleted if the directory reports the deletion', () => {
  expect(isDeleted({}, { ...evidence, isReportedDeleted: true, isAnotherReadable: false })).toBe(true);
});

it('a missing group counts as deleted after a day of 404 answers while another group is readable', () => {
  expect(isDeleted({ missingMs: NOW_MS - 24 * HOUR_MS }, evidence)).toBe(true);
});

it('a missing group may still exist before a day has passed, or while no other group is readable', () => {
  expect(isDeleted({}, evidence)).toBe(false);
  expect(isDeleted({ missingMs: NOW_MS - 23 * HOUR_MS }, evidence)).toBe(false);
  const alone = { ...evidence, isAnotherReadable: false };
  expect(isDeleted({ missingMs: NOW_MS - 48 * HOUR_MS }, alone)).toBe(false);
});
