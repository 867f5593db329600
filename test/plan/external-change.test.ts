import { expect, it } from 'vitest';
import type { Difference } from '../../shared/domain/drift.ts';
import { platformGroupId, platformUserId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import {
  externalDifferences,
  isOurCreation,
  mayPrecedeWriteForMs,
  shows,
  viewOf,
} from '../../shared/plan/external-change.ts';

const view = (users: string, over: Partial<View> = {}): View => ({
  name: 'Ours',
  spokeId: 'g',
  users: new Map([...users].map((user) => [platformUserId(user), true])),
  ...over,
});
const observed = (users: string, over: Partial<ObservedGroup> = {}): ObservedGroup => ({
  id: 'p',
  name: 'Ours',
  spokeId: 'g',
  users: [...users].map(platformUserId),
  version: versionToken('v'),
  ...over,
});

const change = <Kind extends string, Value>(kind: Kind, before: Value, after: Value) => ({
  kind,
  before,
  after,
});

it.each<[string, View[], ObservedGroup, Difference[]]>([
  ['nothing if only order and repetitions of users differ', [view('ab')], observed('baa'), []],
  ['a changed name', [view('')], observed('', { name: 'X' }), [change('name', 'Ours', 'X')]],
  [
    'no change of the name if the platform shows the sent name after its normalised form',
    [view('', { name: 'ours', alias: 'Ours' })],
    observed('', { name: 'Ours' }),
    [],
  ],
  ['a changed spokeId', [view('')], observed('', { spokeId: 'x' }), [change('spoke_id', 'g', 'x')]],
  [
    'no change of the spokeId that a write of groupsync may have made',
    [view(''), view('', { spokeId: 'x' })],
    observed('', { spokeId: 'x' }),
    [],
  ],
  ['no change if the platform shows no spokeId', [view('')], observed('', { spokeId: null }), []],
  ['sorted additions', [view('b')], observed('cba'), [change('members_added', [], ['a', 'c'])]],
  ['sorted removals', [view('cba')], observed('b'), [change('members_removed', ['a', 'c'], [])]],
  ['no addition that a write of groupsync may have made', [view('a'), view('ab')], observed('ab'), []],
  ['no removal that a write of groupsync may have made', [view('ab'), view('a')], observed('a'), []],
  [
    'no part of a change that a write of groupsync may have made',
    [view('ab'), view('bc', { name: 'New' })],
    observed('abc', { name: 'New' }),
    [],
  ],
  [
    'changes that neither view explains',
    [view('ab'), view('bc')],
    observed('acx'),
    [change('members_added', [], ['x']), change('members_removed', ['b'], [])],
  ],
  ['nothing if no view is known', [], observed('a', { name: 'X' }), []],
])('externalDifferences finds %s', (_, ours, seen, expected) => {
  expect(externalDifferences(ours, seen)).toEqual(expected);
});

it('externalDifferences finds a removed spokeId if the platform shows spokeIds', () => {
  const gone = externalDifferences([view('')], observed('', { spokeId: null }), {
    emptied: new Set(['spokeId']),
  });
  expect(gone).toEqual([change('spoke_id', 'g', null)]);
});

it.each<[string, View | undefined, Partial<ObservedGroup>, boolean]>([
  ['has the sent spokeId', undefined, {}, true],
  ['has another spokeId', view('a'), { spokeId: 'x' }, false],
  ['existed before', view('a'), { id: 'known' }, false],
  ['has the sent name and users, and one more user', view('a'), { spokeId: null, name: 'OURS ' }, true],
  ['has another name', view('a'), { spokeId: null, name: 'Theirs' }, false],
  ['has some of the sent users', view('abc'), { spokeId: null }, true],
  ['has none of the sent users', view('bc'), { spokeId: null, users: [] }, false],
  ['has users although none were sent', view(''), { spokeId: null }, false],
  ['is empty and was sent without users', view(''), { spokeId: null, users: [] }, true],
  ['has no spokeId, if the sent values are unknown', undefined, { spokeId: null }, false],
])('isOurCreation decides whether the POST created a group that %s: $3', (_, prepared, over, expected) => {
  const intent = { spokeId: 'g', known: [platformGroupId('known')] } as never;
  expect(isOurCreation(observed('ab', over), intent, prepared)).toBe(expected);
});

it('within a minute after a write of groupsync, a read of another version may be from before the write', () => {
  const [v1, v2] = ['v1', 'v2'].map(versionToken) as [never, never];
  const after = (version: never, state: object, nowMs: number, createSettleMs = 600_000) =>
    mayPrecedeWriteForMs(observed('', { version }), {
      state: { link: { version: v2 }, ...state } as never,
      ...{ nowMs, createSettleMs },
    });
  const written = { lastWriteAtMs: 1_000 };
  expect([1_000, 2_000, 61_000, 99_000].map((nowMs) => after(v1, written, nowMs))).toEqual([
    60_000, 59_000, 0, 0,
  ]);
  expect(after(v2, written, 2_000)).toBe(0);
  expect(after(v1, {}, 2_000)).toBe(0);
  expect(after(v1, written, 2_000, 5_000)).toBe(4_000);
  expect(after(v1, { ...written, link: undefined }, 2_000)).toBe(0);
});

it.each<[string, Partial<ObservedGroup>, boolean]>([
  ['ab', { spokeId: null }, true],
  ['aab', {}, true],
  ['ac', {}, false],
  ['ab', { name: 'Theirs' }, false],
])('a group with the users %s and %o shows the sent content: %s', (users, over, expected) => {
  expect(shows(observed(users, over), view('ab'))).toBe(expected);
});

it('a view keeps fields that the platform does not show, the mode, and the waiting removals of present users', () => {
  const before = view('a', { mode: 'additive', waits: new Map([[platformUserId('a'), 'mode']]) });
  const expected = { ...before, users: new Map([...view('a').users, [platformUserId('x'), false]]) };
  expect(viewOf(observed('ax', { spokeId: null }), undefined, before)).toEqual(expected);
  expect(viewOf(observed('x'), before)).not.toHaveProperty('waits');
});
