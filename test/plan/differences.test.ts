import { describe, expect, it } from 'vitest';
import { platformUserId, versionToken } from '../../shared/domain/ids.ts';
import type { ObservedGroup, View } from '../../shared/domain/view.ts';
import { foreignDifferences } from '../../shared/plan/differences.ts';

const viewWith = (users: readonly string[], change: Partial<View> = {}): View => ({
  name: 'Eng',
  spokeId: 'g1',
  users: new Map(users.map((user) => [platformUserId(user), true])),
  ...change,
});
const shown = (users: readonly string[], change: Partial<ObservedGroup> = {}): ObservedGroup => ({
  id: 'p1',
  name: 'Eng',
  spokeId: 'g1',
  users: users.map(platformUserId),
  version: versionToken('v2'),
  ...change,
});

describe('foreignDifferences', () => {
  it('finds nothing where the platform shows our view, or where we have none', () => {
    expect(foreignDifferences([viewWith(['a'])], shown(['a', 'a']))).toEqual([]);
    expect(foreignDifferences([], shown(['a']))).toEqual([]);
  });

  it('lists a new name, another spokeId, who came and who went, sorted', () => {
    const observed = shown(['z', 'a', 'y'], { name: 'Theirs', spokeId: 'x' });
    expect(foreignDifferences([viewWith(['c', 'a', 'b'])], observed)).toEqual([
      { kind: 'name', before: 'Eng', after: 'Theirs' },
      { kind: 'spoke_id', before: 'g1', after: 'x' },
      { kind: 'members_added', before: [], after: ['y', 'z'] },
      { kind: 'members_removed', before: ['b', 'c'], after: [] },
    ]);
  });

  it('takes for our own what either of two views explains', () => {
    const before = viewWith(['stays', 'goes']);
    const after = viewWith(['stays', 'comes'], { name: 'New', spokeId: 'n' });
    for (const users of [['stays', 'goes'], ['stays', 'comes'], ['stays', 'goes', 'comes'], ['stays']]) {
      expect(foreignDifferences([before, after], shown(users))).toEqual([]);
      expect(foreignDifferences([before, after], shown(users, { name: 'New', spokeId: 'n' }))).toEqual([]);
    }
    expect(foreignDifferences([before, after], shown(['stranger']))).toEqual([
      { kind: 'members_added', before: [], after: ['stranger'] },
      { kind: 'members_removed', before: ['stays'], after: [] },
    ]);
  });

  it('concludes nothing from a spokeId that is not echoed, unless it is known to be gone', () => {
    const observed = shown(['a'], { spokeId: null });
    expect(foreignDifferences([viewWith(['a'])], observed)).toEqual([]);
    expect(foreignDifferences([viewWith(['a'])], observed, { isSpokeIdGone: true })).toEqual([
      { kind: 'spoke_id', before: 'g1', after: null },
    ]);
  });
});
