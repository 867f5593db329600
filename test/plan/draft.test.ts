import { expect, it } from 'vitest';
import { memberId, platformUserId } from '../../shared/domain/ids.ts';
import type { View } from '../../shared/domain/view.ts';
import { type DraftInput, draftPlan, type MergeInput, mergeUsers } from '../../shared/plan/draft.ts';

const member = (user: string) => memberId(`m-${user}`);
const wanted = (...users: string[]) => ({
  name: 'Eng',
  spokeId: 'g1',
  users: new Map(users.map((user) => [platformUserId(user), member(user)] as const)),
});
const view = (users: Readonly<Record<string, boolean>>, change: Partial<View> = {}): View => ({
  name: 'Eng',
  spokeId: 'g1',
  users: new Map(Object.entries(users).map(([user, mine]) => [platformUserId(user), mine])),
  ...change,
});
const left = (...users: string[]): Partial<View> => ({ wantedBefore: new Set(users.map(platformUserId)) });
const base: DraftInput = {
  wanted: wanted('a', 'b'),
  current: view({ a: true, b: true }),
  mode: 'authoritative',
  onGroupDeleted: 'delete',
  whole: false,
  held: new Set(),
  whyNot: new Map(),
};
const draft = (change: Partial<DraftInput>) => draftPlan({ ...base, ...change });
const shortOf = (plan: ReturnType<typeof draftPlan>) =>
  plan.changes.map(({ kind, before, after }) => [kind, before, after]);

const change = (
  kind: string,
  [before, after]: readonly [string | null, string | null],
  reason: string,
  whose?: ReturnType<typeof member> | null,
) => ({ kind, ...(whose !== undefined && { member: whose }), before, after, reason });

it('the plan is empty if nothing differs, even if a PUT is required', () => {
  expect(draft({})).toMatchObject({ action: 'none', changes: [], removals: [], departs: false });
  expect(draft({ whole: true }).action).toBe('none');
  expect(draft({ wanted: wanted('a'), whole: true }).action).toBe('put');
});

it('the plan creates a group that the platform does not have', () => {
  const plan = draft({ current: undefined });
  expect(plan).toMatchObject({ action: 'create', removals: [], departs: false });
  expect(plan.after).toEqual(view({ a: true, b: true }));
  expect(plan.changes).toEqual([
    change('create_group', [null, 'Eng'], 'the directory has this group, the platform does not'),
    change('add_member', [null, 'a'], 'the directory has them in this group', member('a')),
    change('add_member', [null, 'b'], 'the directory has them in this group', member('b')),
  ]);
});

it('the plan lists changes by kind, then by user, whatever the order of its input', () => {
  const plan = draft({
    wanted: wanted('z', 'c', 'a'),
    current: view({ y: true, a: true, x: false }, { name: 'Old', spokeId: null }),
  });
  expect(plan.action).toBe('patch');
  expect(shortOf(plan)).toEqual([
    ['rename', 'Old', 'Eng'],
    ['set_spoke_id', null, 'g1'],
    ['add_member', null, 'c'],
    ['add_member', null, 'z'],
    ['remove_member', 'x', null],
    ['remove_member', 'y', null],
  ]);
  expect(plan.removals).toEqual(['x', 'y']);
  expect(plan.after).toEqual(view({ a: true, c: true, z: true }, left('y')));
  expect(plan.changes.map(({ reason }) => reason)).toEqual([
    'the directory gives this name',
    'spokeId is the directory id of the group',
    'the directory has them in this group',
    'the directory has them in this group',
    'another client added them, and the directory never had them in the group',
    'the member that was this user is now another employee, was erased, or belongs to an earlier source',
  ]);
});

const gone = { wanted: undefined };

it.each<[string, Partial<DraftInput>, string]>([
  ['the platform does not have the group', { current: undefined }, 'none'],
  ['its deletion is held', { isDeletionHeld: true }, 'none'],
  [
    'its deletion is held, and a person has left',
    {
      isDeletionHeld: true,
      whyNot: new Map([[platformUserId('b'), { member: memberId('b'), cause: 'gone' }]]),
    },
    'patch',
  ],
  ['the group is in mode report', { mode: 'report' }, 'none'],
])('the action for a group that the directory deleted is $2 if %s', (_, over, action) => {
  expect(draft({ ...gone, ...over }).action).toBe(action);
});

it.each<Partial<DraftInput>>([{ onGroupDeleted: 'release' }, { mode: 'additive' }])(
  'with %j, the plan first removes the users that the directory has wanted, then releases the group',
  (over) => {
    const current = view({ a: true, b: true, stranger: false });
    const plan = draft({ ...gone, ...over, current });
    expect(plan).toMatchObject({ action: 'patch', removals: ['a', 'b'], departs: true });
    expect(plan.after).toEqual(view({ stranger: false }, left('a', 'b')));
    expect(draft({ ...gone, ...over, current: view({ stranger: false }) })).toMatchObject({
      action: 'release',
      removals: [],
    });
  },
);

it('the link stays while the removal of a user is held', () => {
  const held = new Set([platformUserId('b')]);
  const release = { ...gone, held, onGroupDeleted: 'release' } as const;
  expect(draft(release)).toMatchObject({ action: 'patch', removals: ['a'] });
  expect(draft({ ...release, current: view({ b: true }) })).toMatchObject({ action: 'none' });
});

const U = platformUserId('u');

/** Wanted, present, marked, the mark in the mode authoritative, and in additive. `null`: not in the group. */
const TABLE: readonly (readonly [boolean, boolean, boolean, boolean | null, boolean | null])[] = [
  [true, false, false, true, true],
  [true, true, true, true, true],
  [true, true, false, true, true],
  [false, true, true, null, null],
  [false, true, false, null, false],
  [false, false, false, null, null],
];

function merge(row: (typeof TABLE)[number], mode: MergeInput['mode'], isKept = false) {
  const [wanted, there, mine] = row;
  const merged = mergeUsers({
    wanted: new Set(wanted ? [U] : []),
    current: new Map(there ? [[U, mine]] : []),
    mode,
    keep: () => isKept,
  });
  return merged.has(U) ? merged.get(U) : null;
}

it.each(TABLE)('wanted %s, present %s, marked %s: authoritative %s, additive %s', (...row) => {
  const [wanted, there, mine, ...expected] = row;
  for (const mode of ['authoritative', 'additive'] as const) {
    const outcome = expected[mode === 'authoritative' ? 0 : 1];
    expect(merge(row, mode)).toBe(outcome);
    expect(merge(row, mode, true)).toBe(!wanted && there ? mine : outcome);
  }
});

it('mergeUsers calls `keep` only for users that it would remove', () => {
  const asked: string[] = [];
  mergeUsers({
    wanted: new Set(['a', 'b'].map(platformUserId)),
    current: new Map([
      [platformUserId('b'), true],
      [platformUserId('c'), true],
      [platformUserId('d'), false],
    ]),
    mode: 'additive',
    keep: (user) => asked.push(user) > 0,
  });
  expect(asked).toEqual(['c']);
});

it('mergeUsers merges 100,000 users on both sides within ten seconds', () => {
  const users = Array.from({ length: 100_000 }, (_, index) => platformUserId(`u${index}`));
  const merged = mergeUsers({
    wanted: new Set(users.slice(1)),
    current: new Map(users.slice(0, -1).map((user) => [user, true])),
    mode: 'authoritative',
    keep: () => false,
  });
  expect(merged.size).toBe(99_999);
}, 10_000);
