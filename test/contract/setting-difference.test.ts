import { expect, it } from 'vitest';
import { settingDifference } from '../../shared/contract/setting-difference.ts';

it.each([
  [
    'guard',
    { minSize: 2, perHourCount: 9 },
    { minSize: 5 },
    'guard.minSize: 2 → 5, guard.perHourCount: 9 → nothing',
  ],
  ['match', ['email=workEmail'], [], 'match: ["email=workEmail"] → []'],
  ['mode', 'report', 'authoritative', 'mode: "report" → "authoritative"'],
  ['guard', null, { minSize: 5 }, 'guard: null → {"minSize":5}'],
])('a change of %s names only what differs', (key, before, after, text) => {
  expect(settingDifference(key, JSON.stringify(before), JSON.stringify(after))).toBe(text);
});
