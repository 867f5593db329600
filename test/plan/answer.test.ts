import { describe, expect, it } from 'vitest';
import { platformUserId, versionToken } from '../../shared/domain/ids.ts';
import { isUndone, readAnswer, toldOf } from '../../shared/plan/answer.ts';
import type { Plan, PlanAction, PlanChange } from '../../shared/plan/plan.ts';

const [a, b, c] = ['a', 'b', 'c'].map(platformUserId) as [never, never, never];
const after = { name: 'New', spokeId: 'g', users: new Map([[a, true]]) };
const rename: PlanChange = { kind: 'rename', before: 'Old', after: 'New', reason: '' };
const plan = (action: PlanAction, over: Partial<Plan> = {}): Plan => ({
  action,
  changes: [],
  after,
  removals: [],
  departs: false,
  ...over,
});
const shown = (users: readonly never[], name = 'New') => ({
  id: 'p1',
  name,
  spokeId: 'g',
  users,
  version: versionToken('v1'),
});

describe('an answer to a write', () => {
  it.each<[string, Plan, readonly never[], readonly never[], boolean]>([
    ['shows what was sent', plan('patch', { removals: [b] }), [a], [], false],
    ['shows whom a change took out', plan('patch', { removals: [b] }), [a, b], [b], false],
    ['shows whom a whole write took out', plan('put', { removals: [b] }), [a, b], [b], false],
    ['to a change shows a stranger: not judged here', plan('patch', { removals: [b] }), [a, c], [], false],
    ['to a whole write shows a stranger', plan('put', { removals: [b] }), [a, c], [], true],
    ['to a creation shows a stranger', plan('create'), [a, c], [], true],
    ['lacks a user', plan('create'), [], [], false],
  ])('that %s', (_, sent, users, kept, hasAdded) => {
    const answer = readAnswer(sent, shown(users));
    expect(answer).toMatchObject({ kept, hasAdded, keepsName: false, made: after });
    expect(isUndone(answer)).toBe(kept.length > 0 || hasAdded);
  });

  it.each([
    ['the old name', plan('patch', { changes: [rename] }), 'Old', true, { name: 'Old' }],
    [
      'what it made of ours',
      plan('patch', { changes: [rename] }),
      'new',
      false,
      { name: 'new', alias: 'New' },
    ],
    ['a name that was not sent', plan('patch'), 'Theirs', false, { name: 'New' }],
    ['what it made of a new group’s', plan('create'), 'new', false, { name: 'new', alias: 'New' }],
    [
      'an old name that is the new one folded',
      plan('patch', { changes: [{ ...rename, before: 'new' }] }),
      'new',
      false,
      { name: 'new', alias: 'New' },
    ],
  ])('that shows %s', (_, sent, name, keepsName, made) => {
    const answer = readAnswer(sent, shown([a], name));
    expect(answer).toMatchObject({ keepsName, made });
    expect(answer.made).toEqual({ ...after, ...made });
    expect(isUndone(answer)).toBe(keepsName);
  });

  it('to a deletion shows nothing, and leaves nothing undone', () => {
    const answer = readAnswer(plan('delete', { after: undefined, removals: [a] }), undefined);
    expect(answer).toEqual({ made: undefined, kept: [], hasAdded: false, keepsName: false });
    expect(isUndone(answer)).toBe(false);
  });

  it.each([
    [{ kept: [b] }, 'the platform keeps 1 user whom we took out'],
    [{ kept: [b, c] }, 'the platform keeps 2 users whom we took out'],
    [{ keepsName: true }, 'the platform keeps the name that the group had'],
    [
      { kept: [b], keepsName: true },
      'the platform keeps 1 user whom we took out, and the name that the group had',
    ],
    [{ hasAdded: true }, undefined],
  ])('is told of as it is: %o', (over, told) => {
    expect(toldOf({ made: after, kept: [], hasAdded: false, keepsName: false, ...over })).toBe(told);
  });
});
