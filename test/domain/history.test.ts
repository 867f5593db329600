import { expect, it } from 'vitest';
import { stepUserOf, type UserPresence, usersBetween } from '../../shared/domain/history.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { membersAt } from '../../shared/plan/replay.ts';

const user = platformUserId('u');
const viewWith = (presence: UserPresence) => {
  const marked = new Map([[user, true]]);
  return { users: presence === '+' ? marked : new Map(), ...(presence === '?' && { hidden: marked }) };
};

it.each<[UserPresence, UserPresence]>([
  ['+', '?'],
  ['?', '+'],
  ['-', '?'],
  ['?', '-'],
  ['+', '-'],
])(
  'a user that goes from %s to %s changes, because a hidden user is neither present nor absent',
  (was, is) => {
    expect(usersBetween(viewWith(was), viewWith(is))).toEqual([{ user, was, is }]);
    expect(usersBetween(viewWith(is), viewWith(is))).toEqual([]);
  },
);

it('a user that an answer hides is an uncertain member from then on, and a certain one before', () => {
  const users = [stepUserOf(`+?=${user}`)];
  const created = {
    before: '-',
    after: 'a',
    sinceMs: 0,
    atMs: 1,
    action: 'create',
    users: [stepUserOf(`-+=${user}`)],
  };
  const hidden = { before: 'a', after: 'b', sinceMs: 9, atMs: 10, action: 'patch', users };
  const view = { name: 'Crew', spokeId: 'g', ...viewWith('?') };
  const present = { content: 'b', view, open: { users: [], sinceMs: 0, untilMs: 0 } };
  const at = (atMs: number) => membersAt(atMs, present, [hidden, created]);
  expect(at(5)).toMatchObject({ members: new Map([[user, undefined]]) });
  expect(at(20)).toMatchObject({ members: new Map([[user, { sinceMs: 9, untilMs: 20 }]]) });
});
