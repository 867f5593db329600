import { expect, it } from 'vitest';
import { ConnectionSettings } from '../../shared/contract/settings.ts';
import { isWeakerGuard, weakenedSettings, weakensSafety } from '../../shared/contract/weakening.ts';
import { guardLimits } from '../support/guard-limits.ts';

const LIMITS = guardLimits();

it.each([
  ['no guard', null, true],
  ['the same limits', {}, false],
  ['a larger share', { maxRemovedShare: 0.6 }, true],
  ['a larger count', { maxRemovedCount: 101 }, true],
  ['a larger count for an hour', { perHourCount: 501 }, true],
  ['more deleted groups', { deletedGroups: 3 }, true],
  ['a larger share of deleted groups', { deletedGroupsShare: 0.06 }, true],
  ['a larger minimum size, below which the share is not checked', { minSize: 6 }, true],
  ['a smaller minimum size', { minSize: 4 }, false],
  ['stricter limits', { minSize: 0, maxRemovedShare: 0, maxRemovedCount: 0, perHourCount: 0 }, false],
  ['one stricter and one weaker limit', { maxRemovedShare: 0.1, maxRemovedCount: 101 }, true],
])('isWeakerGuard for a change to %s: $2', (_, after, expected) => {
  expect(isWeakerGuard(LIMITS, after === null ? null : { ...LIMITS, ...after })).toBe(expected);
});

it('a smaller minimum size is weaker if more than half of a group may be removed, because small groups are not counted any more', () => {
  const lax = guardLimits({ maxRemovedShare: 0.6 });
  expect(isWeakerGuard(lax, { ...lax, minSize: 4 })).toBe(true);
});

it('no guard is weaker than a guard that is switched off', () => {
  expect([isWeakerGuard(null, null), isWeakerGuard(null, LIMITS)]).toEqual([false, false]);
});

it('weakenedSettings contains fourEyes if it is switched off, and guard if it permits more removals', () => {
  const of = (settings: object) =>
    ConnectionSettings.parse({ baseUrl: 'https://platform.test', ...settings });
  const before = of({ fourEyes: true });
  expect(weakenedSettings(before, of({ fourEyes: false, guard: null }))).toEqual(['fourEyes', 'guard']);
  expect(weakenedSettings(before, of({}))).toEqual(['fourEyes']);
  expect(weakenedSettings(before, of({ fourEyes: true, mode: 'report' }))).toEqual([]);
  expect(weakenedSettings(of({}), before)).toEqual([]);
});

it.each([
  ['a weaker guard', { guard: null }, true],
  ['another address of the platform', { baseUrl: 'https://other.test' }, true],
  ['a directory', { directory: { kind: 'okta', orgUrl: 'https://acme.okta.test' } }, true],
  ['another mode', { mode: 'report' }, false],
  ['four eyes', { fourEyes: true }, false],
])('a change to %s weakens safety: $2', (_, change, expected) => {
  const of = (settings: object) =>
    ConnectionSettings.parse({ baseUrl: 'https://platform.test', ...settings });
  expect(weakensSafety(of({}), of(change))).toBe(expected);
});
