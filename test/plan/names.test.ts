import { describe, expect, it } from 'vitest';
import { foldName, namedLike, renamedTo, says } from '../../shared/plan/names.ts';

describe('names that platforms write in their own way', () => {
  it.each([
    [' Sales ', 'sales'],
    ['Sales  in\tEurope', 'sales in europe'],
    ['Ve\u0301rtrieb', 'v\u00e9rtrieb'],
  ])('%j folds to %j', (name, fold) => {
    expect(foldName(name)).toBe(fold);
  });

  it.each([
    ['Sales', ['Sales']],
    [' Sales', ['Sales', 'Sales ']],
    ['SALES', []],
  ])('%j is carried by %j: exactly, else but for white space', (name, found) => {
    const groups = ['Sales', 'Sales ', 'Other'].map((one) => ({ name: one }));
    expect(namedLike(groups, name).map((group) => group.name)).toEqual(found);
  });

  it('are remembered as sent, beside what is shown', () => {
    const view = { name: ' Sales', spokeId: 'g', users: new Map() };
    const shown = renamedTo(view, { name: 'Sales' });
    expect(shown).toEqual({ ...view, name: 'Sales', alias: ' Sales' });
    expect(renamedTo(shown, { name: 'sales' })).toMatchObject({ name: 'sales', alias: ' Sales' });
    expect(renamedTo(view, { name: ' Sales' })).toBe(view);
    const said = [' Sales', 'Sales', 'sales'].filter((name) => says(shown, 'name', name));
    expect(said).toEqual([' Sales', 'Sales']);
  });
});
