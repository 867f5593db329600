import { expect, it } from 'vitest';
import { clashFinder } from '../../shared/plan/names.ts';

const group = { name: 'Night shift', spokeId: 'g' };
const other = { id: 'p1', name: 'Night shift', spokeId: null };

it.each(['Night shift', ' night  SHIFT ', 'NIGHT SHIFT'])('%j clashes with the new group', (name) => {
  const listed = [
    { ...other, name },
    { ...other, id: 'p2', name: 'Day shift' },
  ];
  expect(clashFinder(listed)(group).map(({ id }) => id)).toEqual(['p1']);
});

it('no name clashes if a listed group has the external id, because the group is linked to it', () => {
  expect(clashFinder([other, { id: 'p2', name: 'Renamed', spokeId: 'g' }])(group)).toEqual([]);
});

it('a listed group without a name does not clash', () => {
  const listed = [
    { id: 'p1', spokeId: null },
    { id: 'p2', name: '', spokeId: null },
  ];
  expect(clashFinder(listed)({ ...group, name: '' })).toEqual([]);
});
