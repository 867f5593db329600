import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { platformUserId, versionToken } from '../../shared/domain/ids.ts';
import { isUndone, judgeAnswer, keptMessage, readAnswer, showsWrite } from '../../shared/plan/answer.ts';
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

const renaming = plan('patch', { changes: [rename] });
const MADE = { name: 'new', alias: 'New' };
it.each([
  ['the old name', renaming, 'Old', true, { name: 'Old' }],
  ['a normalised form of the new name', renaming, 'new', false, MADE],
  ['a name that was not sent', plan('patch'), 'Theirs', false, { name: 'New' }],
  ["a normalised form of a new group's name", plan('create'), 'new', false, MADE],
  ['only a change of case', plan('patch', { changes: [{ ...rename, before: 'new' }] }), 'new', false, MADE],
])('readAnswer finds whether the name was kept if it shows %s', (_, sent, name, keepsName, made) => {
  const answer = readAnswer(sent, shown([a], name));
  expect(answer).toMatchObject({ keepsName, made });
  expect(answer.made).toEqual({ ...after, ...made });
  expect(isUndone(answer)).toBe(keepsName);
});

it.each([
  [{ kept: [b] }, '1 user that groupsync removed'],
  [{ kept: [b, c] }, '2 users that groupsync removed'],
  [{ keepsName: true }, 'the name that the group had'],
  [{ kept: [b], keepsName: true }, '1 user that groupsync removed, and the name that the group had'],
  [{ hasAdded: true }, undefined],
])('keptMessage names the kept users and the kept name: %o', (over, told) => {
  const answer = { made: after, kept: [], hasAdded: false, keepsName: false, ...over };
  expect(keptMessage(answer)).toBe(told && `the platform keeps ${told}`);
});

const add = { kind: 'add_member', member: null, before: null, after: b, reason: '' } as const;
const remove = { kind: 'remove_member', member: null, before: b, after: null, reason: '' } as const;
const both = { ...after, users: new Map([...after.users, [b, true]]) };
const adding = (action: PlanAction) => plan(action, { changes: [add], after: both });
const removing = plan('patch', { changes: [remove, { ...remove, before: c }], removals: [b, c] });
const theirs = (differences: object[]) => ({ kind: 'observe', external: { differences } });
it.each<[string, Plan, readonly never[], string, boolean]>([
  ['the sent users and name', adding('patch'), [a, b], 'New', true],
  ['another user in addition', adding('patch'), [a, b, c], 'New', true],
  ['no user who was sent', adding('create'), [], 'New', false],
  ['a removed user', removing, [a, b], 'New', false],
  ['the old name', renaming, [a], 'Old', false],
  ['a normalised form of the new name', renaming, [a], 'new', true],
  ['no users after a rename', renaming, [], 'New', false],
])('showsWrite returns $4 for an answer that shows %s', (_, sent, users, name, expected) => {
  expect(showsWrite(sent, shown(users, name))).toBe(expected);
});

it.each<[string, Plan, readonly never[] | undefined, object]>([
  ['shows what was sent', adding('patch'), [a, b], { isAsPrepared: true, hidden: [] }],
  ['lacks a sent user', adding('patch'), [a], { isAsPrepared: false, hidden: [b], external: undefined }],
  ['to a PUT shows an unsent user', adding('put'), [a, b, c], { external: undefined, isUndone: true }],
  [
    'to a PATCH shows a user that was not sent',
    adding('patch'),
    [a, b, c],
    {
      external: theirs([{ kind: 'members_added', before: [], after: [c] }]),
      isAsPrepared: false,
      isUndone: false,
    },
  ],
  [
    'to a rename lacks a user',
    renaming,
    [],
    { external: undefined, hidden: [a], view: { users: new Map(), hidden: new Map([[a, true]]) } },
  ],
  [
    'shows users that groupsync removed',
    removing,
    [a, b],
    {
      ...{ kept: [b], changes: [{ before: c }], error: { code: 'kept' }, isAsPrepared: false },
      ...{ external: undefined, view: { users: both.users } },
    },
  ],
  [
    'shows no group after a deletion',
    plan('delete', { after: undefined, removals: [a] }),
    undefined,
    { view: undefined, isAsPrepared: false, kept: [] },
  ],
])('judgeAnswer finds the differences if the answer %s', (_, sent, users, expected) => {
  const registers = { upserted: '', deleted: '', snapshot: '' };
  const facts = {
    ...{
      nowMs: 0,
      state: { ref: { group: 'g' }, registers },
      settings: parseSettings({ baseUrl: 'https://p.test' }),
    },
    views: { base: both },
  } as never;
  expect(judgeAnswer(sent, users && shown(users), facts)).toMatchObject(expected);
});
