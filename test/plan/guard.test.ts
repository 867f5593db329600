import { describe, expect, it } from 'vitest';
import {
  type GuardInput,
  judgeRemovals,
  mayUnlink,
  NOTHING_REMOVED,
  sizeBefore,
} from '../../shared/plan/guard.ts';
import { guardLimits } from '../support/guard-limits.ts';

const limits = guardLimits({ maxRemovedCount: 10, perHourCount: 20 });
const calm: GuardInput = {
  limits,
  size: 100,
  removals: 1,
  deletesGroup: false,
  recent: NOTHING_REMOVED,
};

const ruleOf = (change: Partial<GuardInput>) => {
  const verdict = judgeRemovals({ ...calm, ...change });
  return verdict.allowed ? 'allowed' : verdict.rule;
};

describe('judgeRemovals', () => {
  it.each<[string, Partial<GuardInput>, string]>([
    ['as many as one group may lose', { removals: 10 }, 'allowed'],
    ['one more', { removals: 11 }, 'count'],
    [
      'one more together with what went before',
      { removals: 1, recent: { group: 10, connection: 10, largestSize: 100 } },
      'count',
    ],
    [
      'just that many together',
      { removals: 1, recent: { group: 9, connection: 9, largestSize: 100 } },
      'allowed',
    ],
    ['half of a group', { size: 10, removals: 5 }, 'allowed'],
    ['more than half', { size: 10, removals: 6 }, 'share'],
    [
      'half of what it was before the hour',
      { size: 8, removals: 3, recent: { group: 2, connection: 2, largestSize: 10 } },
      'allowed',
    ],
    [
      'more than half of what it was',
      { size: 8, removals: 4, recent: { group: 2, connection: 2, largestSize: 10 } },
      'share',
    ],
    ['all of a group below the least size', { size: 4, removals: 4 }, 'allowed'],
    ['all of a group of the least size', { size: 5, removals: 5 }, 'share'],
    [
      'the rest of a group that was of the least size',
      { size: 3, removals: 3, recent: { group: 2, connection: 2, largestSize: 5 } },
      'share',
    ],
    [
      'the third user in one place of a group that always was below the least size',
      { size: 3, removals: 1, recent: { group: 2, connection: 2, largestSize: 3 } },
      'allowed',
    ],
    [
      'the sixth of ten users who were replaced one by one',
      { size: 10, removals: 1, recent: { group: 5, connection: 5, largestSize: 10 } },
      'share',
    ],
    [
      'the fifth of ten users who were replaced one by one',
      { size: 10, removals: 1, recent: { group: 4, connection: 4, largestSize: 10 } },
      'allowed',
    ],
    [
      'as many as the connection may lose in an hour',
      { removals: 5, recent: { ...NOTHING_REMOVED, connection: 15 } },
      'allowed',
    ],
    ['one more than that', { removals: 6, recent: { ...NOTHING_REMOVED, connection: 15 } }, 'per_hour'],
    ['more than the hour allows, before any other rule', { size: 21, removals: 21 }, 'per_hour'],
    [
      'everybody, with a group that the directory deleted',
      { size: 15, removals: 15, deletesGroup: true },
      'allowed',
    ],
    ['a deletion past the hour', { size: 21, removals: 21, deletesGroup: true }, 'per_hour'],
    ['anything with the guard off', { limits: null, size: 1_000, removals: 1_000 }, 'allowed'],
    [
      'nothing, however much went before',
      { removals: 0, recent: { group: 50, connection: 50, largestSize: 100 } },
      'allowed',
    ],
  ])('%s', (_, change, rule) => {
    expect(ruleOf(change)).toBe(rule);
  });

  it('never reports a share above the whole group', () => {
    const recent = { group: 9, connection: 9, largestSize: 6 };
    const whole = { ...limits, maxRemovedShare: 1 };
    expect(judgeRemovals({ ...calm, size: 6, removals: 1, recent })).toMatchObject({ share: 1 });
    expect(judgeRemovals({ ...calm, limits: whole, size: 6, removals: 1, recent })).toEqual({
      allowed: true,
    });
  });

  it('gives no share for a group that was empty', () => {
    const verdict = judgeRemovals({
      ...calm,
      size: 0,
      removals: 1,
      recent: { ...NOTHING_REMOVED, connection: 20 },
    });
    expect(verdict).toEqual({ allowed: false, rule: 'per_hour', share: 0 });
  });

  it('says which share of the group was at stake', () => {
    expect(
      judgeRemovals({ ...calm, size: 8, removals: 4, recent: { group: 2, connection: 2, largestSize: 10 } }),
    ).toEqual({
      allowed: false,
      rule: 'share',
      share: 0.6,
    });
    expect(
      judgeRemovals({ ...calm, size: 40, removals: 20, recent: { ...NOTHING_REMOVED, connection: 1 } }),
    ).toEqual({
      allowed: false,
      rule: 'per_hour',
      share: 0.5,
    });
    expect(judgeRemovals({ ...calm, size: 44, removals: 11 })).toEqual({
      allowed: false,
      rule: 'count',
      share: 0.25,
    });
  });
});

describe('sizeBefore', () => {
  it.each([
    ['there were no removals', 7, NOTHING_REMOVED, 7],
    ['there were no additions since', 8, { group: 2, connection: 2, largestSize: 10 }, 10],
    ['everybody removed was replaced', 3, { group: 2, connection: 2, largestSize: 3 }, 3],
    ['the group has grown since', 40, { group: 2, connection: 2, largestSize: 3 }, 40],
    ['another client removed some as well', 2, { group: 2, connection: 2, largestSize: 10 }, 4],
  ])('returns the size before the removals when %s', (_, size, recent, before) => {
    expect(sizeBefore(size, recent)).toBe(before);
  });
});

describe('mayUnlink', () => {
  it.each([
    [1, 0, true],
    [1, 1, true],
    [38, 2, false],
    [59, 2, true],
    [57, 3, false],
    [77, 3, true],
    [996, 49, true],
    [960, 50, false],
  ])('with %i links and %i given up this hour, one more is allowed: %s', (links, recent, allowed) => {
    expect(mayUnlink({ links, recent })).toBe(allowed);
  });
});
