import { describe, expect, it } from 'vitest';
import type { Difference } from '../../shared/domain/drift.ts';
import { platformGroupId, platformUserId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import {
  foreignDifferences,
  isOurCreation,
  overtakenBy,
  pastForMs,
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
    const gone = foreignDifferences([view('')], observed('', { spokeId: null }), { isSpokeIdGone: true });
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
  ['may be any, as nobody knows what we sent', undefined, { spokeId: null }, false],
])('a group that %s: our creation is %4$s', (_, prepared, over, expected) => {
  const intent = { spokeId: 'g', known: [platformGroupId('known')] } as never;
  expect(isOurCreation(observed('ab', over), intent, prepared)).toBe(expected);
});

it('a version from before may be shown for a minute, and any where somebody else’s may be hidden', () => {
  const [v0, v1, v2, v3] = ['v0', 'v1', 'v2', 'v3'].map(versionToken) as [never, never, never, never];
  const of = (over: object) => ({ version: v1, ...over }) as never;
  expect(overtakenBy(v1, of({ overtaken: 'as it was' }), 0, true)).toBe('as it was');
  const first = overtakenBy(v2, of({}), 1_000, false);
  expect(first).toEqual({ versions: [v1], atMs: 1_000 });
  expect(overtakenBy(v2, of({ overtaken: { versions: [v0], atMs: 1 } }), 60_000, true)).toEqual({
    ...{ versions: [v0, v1], atMs: 60_000 },
    hasUnseen: true,
  });
  const after = (overtaken: object | undefined, version: never, nowMs: number) =>
    pastForMs(observed('', { version }), of({ version: v2, overtaken }), nowMs);
  expect([v1, v2, v3].map((version) => after(first, version, 2_000))).toEqual([59_000, 0, 0]);
  const hiding = { versions: [v1], atMs: 1_000, hasUnseen: true };
  expect([v1, v2, v3].map((version) => after(hiding, version, 2_000))).toEqual([59_000, 0, 59_000]);
  expect(overtakenBy(v3, of({ version: v2, overtaken: hiding }), 2_000, false)).toMatchObject({
    hasUnseen: true,
  });
  expect(overtakenBy(v3, of({ version: v2, overtaken: hiding }), 61_000, false)).toEqual({
    versions: [v2],
    atMs: 61_000,
  });
});

it.each<[string, Partial<ObservedGroup>, boolean]>([
  ['ab', { spokeId: null }, true],
  ['aab', {}, true],
  ['ac', {}, false],
  ['ab', { name: 'Theirs' }, false],
])('a group of %s, %o, shows what was sent: %s', (users, over, expected) => {
  expect(shows(observed(users, over), view('ab'))).toBe(expected);
});

it('a view keeps what the platform does not echo, and what was waived', () => {
  const waiver = { policy: 'report', absent: new Set(), present: new Set() };
  const before = view('a', { waiver: waiver as never });
  const expected = { ...before, users: new Map([...view('a').users, [platformUserId('x'), false]]) };
  expect(viewOf(observed('ax', { spokeId: null }), undefined, before)).toEqual(expected);
  expect(viewOf(observed('a'), undefined)).not.toHaveProperty('waiver');
});
