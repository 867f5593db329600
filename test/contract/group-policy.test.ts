import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { matchesGlob } from '../../shared/contract/glob.ts';
import { policyFor } from '../../shared/contract/group-policy.ts';

const withGroups = (groups: object) => parseSettings({ baseUrl: 'https://platform.test', groups });

it.each([
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['a*', 'abc', true],
  ['*c', 'abc', true],
  ['a*c', 'abbbc', true],
  ['a*c', 'abbb', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['?', '😀', true],
  ['*ab*ab', 'abab', true],
  ['*ab*ab', 'ab', false],
  ['a**b', 'ab', true],
  ['Team *', 'team x', false],
  ['a.c', 'abc', false],
  ['[a]', 'a', false],
])('the pattern %j matches the text %j: %j', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected);
});

it('matchesGlob compares a pattern of many asterisks 100 times with a long text within five seconds', () => {
  const text = 'a'.repeat(512);
  const pattern = `${'*a'.repeat(255)}*b`;
  const before = performance.now();
  for (let round = 0; round < 100; round++) expect(matchesGlob(pattern, text)).toBe(false);
  expect(performance.now() - before).toBeLessThan(5_000);
});

it('policyFor excludes a group that both exclude and include match', () => {
  const settings = withGroups({ include: ['*'], exclude: ['*-test'] });
  expect(policyFor(settings, '00g1', 'ops-test').excluded).toBe(true);
});

it('policyFor returns the mode of the first matching policy', () => {
  const settings = withGroups({
    policies: [
      { match: 'Legal*', mode: 'report' },
      { match: 'L*', mode: 'additive' },
    ],
  });
  const modes = ['Legal EU', 'Law', 'Sales'].map((name) => policyFor(settings, '00g1', name).mode);
  expect(modes).toEqual(['report', 'additive', 'authoritative']);
});
