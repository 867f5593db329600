import { expect, it } from 'vitest';
import { compareText } from '../../shared/plan/plan.ts';

it('compareText orders text, and returns 0 for equal text', () => {
  expect(['b', 'a', 'c', 'a'].sort(compareText)).toEqual(['a', 'a', 'b', 'c']);
  expect(Math.sign(compareText('b', 'a'))).toBe(1);
  expect(Math.sign(compareText('a', 'b'))).toBe(-1);
  expect(compareText('a', 'a')).toBe(0);
});
