import { describe, expect, it } from 'vitest';
import type { Difference } from '../../shared/domain/drift.ts';
import { platformUserId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import { foreignDifferences } from '../../shared/plan/foreign.ts';

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
