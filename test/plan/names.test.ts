import { expect, it } from 'vitest';
import type { ListedGroup } from '../../shared/domain/view.ts';
import {
  clashFinder,
  fieldMatches,
  findExisting,
  foldName,
  isListed,
  renamedTo,
} from '../../shared/plan/names.ts';

it.each([
  [' Sales ', 'sales'],
  ['Sales  in\tEurope', 'sales in europe'],
  ['Ve\u0301rtrieb', 'v\u00e9rtrieb'],
])('the name %j folds to %j', (name, fold) => {
  expect(foldName(name)).toBe(fold);
});

it('a view stores the sent name and the shown name', () => {
  const view = { name: ' Sales', spokeId: 'g', users: new Map() };
  const shown = renamedTo(view, { name: 'Sales' });
  expect(shown).toEqual({ ...view, name: 'Sales', alias: ' Sales' });
  expect(renamedTo(shown, { name: 'sales' })).toMatchObject({ name: 'sales', alias: ' Sales' });
  expect(renamedTo(view, { name: ' Sales' })).toBe(view);
  const said = [' Sales', 'Sales', 'sales'].filter((name) => fieldMatches(shown, 'name', name));
  expect(said).toEqual([' Sales', 'Sales']);
});

it('the index of a list is computed only once, for any number of created groups', () => {
  let looks = 0;
  const found = [
    { name: 'Sales', spokeId: null, version: 'v' },
    { name: 'Other', spokeId: 'g1', version: 'v' },
    { spokeId: null },
  ];
  const listing = found.map((one, n) => ({ id: `p${n}`, ...one })) as unknown as ListedGroup[];
  const get = (all: ListedGroup[], key: PropertyKey) => {
    if (key === 'length') looks += 1;
    return Reflect.get(all, key);
  };
  const watched = new Proxy(listing, { get });
  const known = (group: string) =>
    findExisting({ name: 'SALES', spokeId: group, users: new Map() }, watched).known;
  expect(known('g1')).toEqual(['p0', 'p1', 'p2']);
  const once = looks;
  expect(known('g2')).toEqual(['p0', 'p2']);
  expect([isListed(watched, 'p1'), isListed(watched, 'p3'), looks]).toEqual([true, false, once]);
});

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
