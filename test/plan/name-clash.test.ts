import { describe, expect, it } from 'vitest';
import { clashFinder } from '../../shared/plan/name-clash.ts';

const group = { name: 'Night shift', spokeId: 'g' };
const other = { id: 'p1', name: 'Night shift', spokeId: null };

describe('name clash of a new group', () => {
  it.each(['Night shift', ' night  SHIFT ', 'NIGHT SHIFT'])('%j clashes with the new group', (name) => {
    const listed = [
      { ...other, name },
      { ...other, id: 'p2', name: 'Day shift' },
    ];
    expect(clashFinder(listed, 'bySpokeId')(group).map(({ id }) => id)).toEqual(['p1']);
  });

  it('a listed group with the same spokeId does not clash if groups are adopted by spokeId', () => {
    const listed = [other, { id: 'p2', name: 'Renamed', spokeId: 'g' }];
    expect(clashFinder(listed, 'bySpokeId')(group)).toEqual([]);
  });

  it('a listed group with the same spokeId clashes if no groups are adopted', () => {
    const listed = [other, { id: 'p2', name: 'Renamed', spokeId: 'g' }];
    expect(clashFinder(listed, 'never')(group)).toHaveLength(2);
  });

  it('if groups are adopted by name, a single group with the name does not clash, but two groups do', () => {
    const twin = { ...other, id: 'p2' };
    expect(clashFinder([other], 'byName')(group)).toEqual([]);
    expect(clashFinder([other, twin], 'byName')(group)).toEqual([other, twin]);
  });

  it('a listed group without a name does not clash', () => {
    const listed = [
      { id: 'p1', spokeId: null },
      { id: 'p2', name: '', spokeId: null },
    ];
    expect(clashFinder(listed, 'bySpokeId')({ ...group, name: '' })).toEqual([]);
  });
});
