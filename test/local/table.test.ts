import { expect, it } from 'vitest';
import { groupsSummary, groupsTable } from '../../local/table.ts';
import { groupOf } from './support/parts.ts';

const groups = [
  {
    ...groupOf('2', 'held'),
    name: 'a name that is far too long for the column of a terminal',
    version: 'f'.repeat(24),
  },
  { ...groupOf('1'), name: 'Accounting', wanted: 12_345, applied: 12_344 },
  { ...groupOf('3', 'unnamed'), name: null, version: null },
];

it('the table of groups has at most 80 columns, and shows the name and the counts of each group', () => {
  const lines = groupsTable(groups).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(
    lines.slice(2, -1).map((line) =>
      line
        .split('│')
        .map((cell) => cell.trim())
        .slice(1, -1),
    ),
  ).toEqual([
    ['(3)', '2', '1', '1', 'unnamed', '–'],
    ['a name that is far too lo…', '2', '1', '1', 'held', 'ffffff…'],
    ['Accounting', '12345', '12344', '1', 'in_sync', 'v1'],
  ]);
  for (const title of ['group', 'wanted', 'applied', 'pending', 'state', 'version']) {
    expect(lines[1]).toContain(title);
  }
});

it('the summary shows the number of groups in each state', () => {
  expect(groupsSummary(groups)).toBe('3 groups: 1 held, 1 in_sync, 1 unnamed; 3 members pending');
  expect(groupsSummary([])).toBe('0 groups: none; 0 members pending');
});
