import { describe, expect, it } from 'vitest';
import { clashFinder } from '../../shared/plan/name-clash.ts';

const group = { name: 'Night shift', spokeId: 'g' };
const other = { id: 'p1', name: 'Night shift', spokeId: null };

describe('name clash of a new group', () => {
  it.each(['Night shift', ' night  SHIFT ', 'NIGHT SHIFT'])('is a platform group named %j', (name) => {
    const listed = [
      { ...other, name },
      { ...other, id: 'p2', name: 'Day shift' },
    ];
    expect(clashFinder(listed, 'bySpokeId')(group).map(({ id }) => id)).toEqual(['p1']);
  });

  it('does not exist when the group with its spokeId is adopted', () => {
    const listed = [other, { id: 'p2', name: 'Renamed', spokeId: 'g' }];
    expect(clashFinder(listed, 'bySpokeId')(group)).toEqual([]);
  });

  it('includes the group with its spokeId when nothing is adopted', () => {
    const listed = [other, { id: 'p2', name: 'Renamed', spokeId: 'g' }];
    expect(clashFinder(listed, 'never')(group)).toHaveLength(2);
  });

  it('does not exist when the only group with its name is adopted, and is both groups when there are two', () => {
    const twin = { ...other, id: 'p2' };
    expect(clashFinder([other], 'byName')(group)).toEqual([]);
    expect(clashFinder([other, twin], 'byName')(group)).toEqual([other, twin]);
  });

  it('never includes a listed group without a name', () => {
    const listed = [
      { id: 'p1', spokeId: null },
      { id: 'p2', name: '', spokeId: null },
    ];
    expect(clashFinder(listed, 'bySpokeId')({ ...group, name: '' })).toEqual([]);
  });
});
