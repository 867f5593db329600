import { expect, it } from 'vitest';
import {
  type GuardInput,
  judgeByLimits,
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
  const verdict = judgeByLimits({ ...calm, ...change });
  return verdict.allowed ? 'allowed' : verdict.rule;
};

/** The earlier removals of an hour in which the group lost users, and no other group did. */
const lost = (group: number, largestSize: number) => ({
  ...NOTHING_REMOVED,
  group,
  connection: group,
  largestSize,
});

/** Removals from a group of this size, after `emptiedGroups` other small groups were emptied. */
const emptying = (
  size: number,
  removals: number,
  emptiedGroups: number,
  smallGroups = 0,
): Partial<GuardInput> => ({
  size,
  removals,
  recent: { ...NOTHING_REMOVED, emptiedGroups, smallGroups },
});

it.each<[string, Partial<GuardInput>, string]>([
  ['the largest allowed number of removals of a group', { removals: 10 }, 'allowed'],
  ['one removal more than a group may lose', { removals: 11 }, 'count'],
  ['one removal too many, together with earlier removals', { removals: 1, recent: lost(10, 100) }, 'count'],
  [
    'the largest allowed number together with earlier removals',
    { removals: 1, recent: lost(9, 100) },
    'allowed',
  ],
  ['half of a group', { size: 10, removals: 5 }, 'allowed'],
  ['more than half of a group', { size: 10, removals: 6 }, 'share'],
  [
    'removals of half of the members that the group had an hour ago',
    { size: 8, removals: 3, recent: lost(2, 10) },
    'allowed',
  ],
  [
    'removals of more than half of the members that the group had an hour ago',
    { size: 8, removals: 4, recent: lost(2, 10) },
    'share',
  ],
  ['all members of a group below minSize', { size: 4, removals: 4 }, 'allowed'],
  ['all members of a group of minSize', { size: 5, removals: 5 }, 'share'],
  ['all shown members, if a hidden one reaches minSize', { size: 4, hidden: 1, removals: 4 }, 'share'],
  ['more than half of the shown, but half of all members', { size: 10, hidden: 2, removals: 6 }, 'share'],
  [
    'the last members of a group that had minSize members',
    { size: 3, removals: 3, recent: lost(2, 5) },
    'share',
  ],
  [
    'a third replacement in a group that was always below minSize',
    { size: 3, removals: 1, recent: lost(2, 3) },
    'allowed',
  ],
  ['the sixth of ten users replaced one by one', { size: 10, removals: 1, recent: lost(5, 10) }, 'share'],
  ['the fifth of ten users replaced one by one', { size: 10, removals: 1, recent: lost(4, 10) }, 'allowed'],
  ['as many as an hour allows', { removals: 5, recent: { ...NOTHING_REMOVED, connection: 15 } }, 'allowed'],
  ['one more than this limit', { removals: 6, recent: { ...NOTHING_REMOVED, connection: 15 } }, 'per_hour'],
  ['removals that break the hourly limit and also other rules', { size: 21, removals: 21 }, 'per_hour'],
  ['all members of a deleted group', { size: 15, removals: 15, deletesGroup: true }, 'allowed'],
  ['a deletion above the hourly limit', { size: 21, removals: 21, deletesGroup: true }, 'per_hour'],
  ['two deletions', { deletesGroup: true, recent: { ...NOTHING_REMOVED, deletedGroups: 1 } }, 'allowed'],
  [
    'the third deleted group of a small company',
    { deletesGroup: true, recent: { ...NOTHING_REMOVED, deletedGroups: 2, managedGroups: 59 } },
    'deleted_groups',
  ],
  [
    'the third deleted group of a company with 60 groups, of which three are 5 %',
    { deletesGroup: true, recent: { ...NOTHING_REMOVED, deletedGroups: 2, managedGroups: 60 } },
    'allowed',
  ],
  [
    'an empty group that is deleted after two others',
    {
      size: 0,
      removals: 0,
      deletesGroup: true,
      recent: { ...NOTHING_REMOVED, deletedGroups: 2, managedGroups: 40 },
    },
    'deleted_groups',
  ],
  [
    'the deletion of an empty group when this hour allows no more removals',
    { size: 0, removals: 0, deletesGroup: true, recent: { ...NOTHING_REMOVED, connection: 21 } },
    'allowed',
  ],
  [
    'removals from a group that is not deleted, after many deletions',
    { recent: { ...NOTHING_REMOVED, deletedGroups: 9, managedGroups: 40 } },
    'allowed',
  ],
  ['more than half of a third small group of the hour', emptying(4, 3, 2), 'emptied_groups'],
  [
    'more than half of the shown members of a third group that its hidden member makes large',
    { ...emptying(4, 3, 2), hidden: 1, limits: guardLimits({ maxRemovedShare: 1 }) },
    'allowed',
  ],
  ['more than half of a second small group of the hour', emptying(4, 3, 1), 'allowed'],
  ['half of a third small group of the hour', emptying(4, 2, 9), 'allowed'],
  ['more than half of a group that is not small', emptying(5, 3, 9), 'share'],
  ['more than half of the third of 59 small groups', emptying(4, 3, 2, 59), 'emptied_groups'],
  ['more than half of the third of 60 small groups', emptying(4, 3, 2, 60), 'allowed'],
  ['more than half of the fourth of 60 small groups', emptying(4, 3, 3, 60), 'emptied_groups'],
  [
    'the third user of a small group that lost two users within the hour',
    { size: 2, removals: 1, recent: { ...lost(2, 4), emptiedGroups: 2 } },
    'emptied_groups',
  ],
  ['a deletion after small groups were emptied', { ...emptying(4, 4, 9), deletesGroup: true }, 'allowed'],
  ['any number of removals with the guard off', { limits: null, size: 1_000, removals: 1_000 }, 'allowed'],
  ['no removal after many earlier removals', { removals: 0, recent: lost(50, 100) }, 'allowed'],
])('the result for %s is $2', (_, change, rule) => {
  expect(ruleOf(change)).toBe(rule);
});

it('judgeByLimits never returns a share above 1', () => {
  const largest = { ...calm, size: 6, removals: 1, recent: lost(9, 6) };
  const whole = { ...limits, maxRemovedShare: 1 };
  expect(judgeByLimits(largest)).toMatchObject({ share: 1 });
  expect(judgeByLimits({ ...largest, limits: whole })).toEqual({ allowed: true });
});

it.each<[Partial<GuardInput>, string, number]>([
  [{ size: 0, recent: { ...NOTHING_REMOVED, connection: 20 } }, 'per_hour', 0],
  [{ size: 8, removals: 4, recent: lost(2, 10) }, 'share', 0.6],
  [{ size: 40, removals: 20, recent: { ...NOTHING_REMOVED, connection: 1 } }, 'per_hour', 0.5],
  [{ size: 44, removals: 11 }, 'count', 0.25],
])(
  'judgeByLimits returns the share of the users that the earlier and the new removals of the hour remove together: %o',
  (change, rule, share) => {
    expect(judgeByLimits({ ...calm, ...change })).toEqual({ allowed: false, rule, share });
  },
);

it.each([
  ['there were no removals', 7, NOTHING_REMOVED, 7],
  ['no user has joined since', 8, lost(2, 10), 10],
  ['all leavers were replaced', 3, lost(2, 3), 3],
  ['the group has grown since', 40, lost(2, 3), 40],
  ['another client removed users', 2, lost(2, 10), 4],
])('sizeBefore returns the size before the removals if %s', (_, size, recent, before) => {
  expect(sizeBefore(size, recent)).toBe(before);
});

it.each([
  [1, 0, true],
  [1, 1, true],
  [38, 2, false],
  [59, 2, true],
  [57, 3, false],
  [77, 3, true],
  [996, 49, true],
  [960, 50, false],
])('with %i links left and %i ended this hour, one more link may end: %s', (links, recent, allowed) => {
  expect(mayUnlink({ links, recent })).toBe(allowed);
});
