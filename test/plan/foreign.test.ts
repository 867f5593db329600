import { describe, expect, it } from 'vitest';
import type { Difference } from '../../shared/domain/drift.ts';
import { platformGroupId, platformUserId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import {
  foreignDifferences,
  isOurCreation,
  mayPrecedeWriteForMs,
  shows,
  viewOf,
} from '../../shared/plan/foreign.ts';

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

describe('foreignDifferences', () => {
  it.each<[string, View[], ObservedGroup, Difference[]]>([
    ['nothing where nothing differs, in whatever order and however often', [view('ab')], observed('baa'), []],
    ['a name', [view('')], observed('', { name: 'X' }), [change('name', 'Ours', 'X')]],
    [
      'no name that the platform made of ours, nor the one that we sent',
      [view('', { name: 'ours', alias: 'Ours' })],
      observed('', { name: 'Ours' }),
      [],
    ],
    ['a spokeId', [view('')], observed('', { spokeId: 'x' }), [change('spoke_id', 'g', 'x')]],
    [
      'no spokeId that one of our writes may have set',
      [view(''), view('', { spokeId: 'x' })],
      observed('', { spokeId: 'x' }),
      [],
    ],
    ['no spokeId where the platform shows none', [view('')], observed('', { spokeId: null }), []],
    ['additions, sorted', [view('b')], observed('cba'), [change('members_added', [], ['a', 'c'])]],
    ['removals, sorted', [view('cba')], observed('b'), [change('members_removed', ['a', 'c'], [])]],
    ['nothing that a write of ours may have done: added', [view('a'), view('ab')], observed('ab'), []],
    ['nothing that a write of ours may have done: removed', [view('ab'), view('a')], observed('a'), []],
    [
      'nothing that a write of ours may have done: half of it',
      [view('ab'), view('bc', { name: 'New' })],
      observed('abc', { name: 'New' }),
      [],
    ],
    [
      'what neither view explains',
      [view('ab'), view('bc')],
      observed('acx'),
      [change('members_added', [], ['x']), change('members_removed', ['b'], [])],
    ],
    ['nothing where no view of ours is known', [], observed('a', { name: 'X' }), []],
  ])('finds %s', (_, ours, seen, expected) => {
    expect(foreignDifferences(ours, seen)).toEqual(expected);
  });

  it('finds a spokeId that was taken away, where the platform shows spokeIds', () => {
    const gone = foreignDifferences([view('')], observed('', { spokeId: null }), {
      lost: new Set(['spokeId']),
    });
    expect(gone).toEqual([change('spoke_id', 'g', null)]);
  });
});

it.each<[string, View | undefined, Partial<ObservedGroup>, boolean]>([
  ['bears our spokeId', undefined, {}, true],
  ['bears another', view('a'), { spokeId: 'x' }, false],
  ['was there before', view('a'), { id: 'known' }, false],
  ['has our name and users, and one more', view('a'), { spokeId: null, name: 'OURS ' }, true],
  ['has another name', view('a'), { spokeId: null, name: 'Theirs' }, false],
  ['lacks a user', view('abc'), { spokeId: null }, false],
  ['has users where we sent none', view(''), { spokeId: null }, false],
  ['is as empty as ours', view(''), { spokeId: null, users: [] }, true],
  ['may be any, as it is unknown what we sent', undefined, { spokeId: null }, false],
])('a group that %s: our creation is %4$s', (_, prepared, over, expected) => {
  const intent = { spokeId: 'g', known: [platformGroupId('known')] } as never;
  expect(isOurCreation(observed('ab', over), intent, prepared)).toBe(expected);
});

it('a read of another version proves nothing within a minute of our last write', () => {
  const [v1, v2] = ['v1', 'v2'].map(versionToken) as [never, never];
  const after = (version: never, state: object, nowMs: number, createSettleMs = 600_000) =>
    mayPrecedeWriteForMs(observed('', { version }), {
      state: { version: v2, ...state } as never,
      ...{ nowMs, createSettleMs },
    });
  const written = { lastWriteAtMs: 1_000 };
  expect([1_000, 2_000, 61_000, 99_000].map((nowMs) => after(v1, written, nowMs))).toEqual([
    60_000, 59_000, 0, 0,
  ]);
  expect(after(v2, written, 2_000)).toBe(0);
  expect(after(v1, {}, 2_000)).toBe(0);
  expect(after(v1, written, 2_000, 5_000)).toBe(4_000);
  expect(after(v1, { ...written, version: undefined }, 2_000)).toBe(0);
});

it.each<[string, Partial<ObservedGroup>, boolean]>([
  ['ab', { spokeId: null }, true],
  ['aab', {}, true],
  ['ac', {}, false],
  ['ab', { name: 'Theirs' }, false],
])('a group of %s, %o, shows what was sent: %s', (users, over, expected) => {
  expect(shows(observed(users, over), view('ab'))).toBe(expected);
});

it('a view keeps what the platform does not echo, and what was accepted', () => {
  const acceptedDrift = { policy: 'report', absent: new Set(), present: new Set() };
  const before = view('a', { acceptedDrift: acceptedDrift as never });
  const expected = { ...before, users: new Map([...view('a').users, [platformUserId('x'), false]]) };
  expect(viewOf(observed('ax', { spokeId: null }), undefined, before)).toEqual(expected);
  expect(viewOf(observed('a'), undefined)).not.toHaveProperty('acceptedDrift');
});
