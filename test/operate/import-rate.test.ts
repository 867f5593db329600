import { expect, it } from 'vitest';
import { durationLines, importRate } from '../../shared/operate/import/rate.ts';

const table = (warmUnits?: number) => ({ tableName: 'groupsync-state', warmUnits });
const takes = (minutes: number) =>
  expect.stringContaining(`sending takes about ${minutes} minutes, so other connections are not delayed`);

it('a large import on a new table shows the command that warms table and index', () => {
  const [sending, command, ...more] = durationLines(100_001, table(4_000));
  expect([sending, more]).toEqual([takes(2), []]);
  expect(command).toBe(
    "aws dynamodb update-table --table-name groupsync-state --warm-throughput ReadUnitsPerSecond=60000,WriteUnitsPerSecond=20000 --global-secondary-index-updates '" +
      '[{"Update":{"IndexName":"due","WarmThroughput":{"ReadUnitsPerSecond":60000,"WriteUnitsPerSecond":20000}}}]' +
      "'",
  );
});

it.each([
  ['a warmed table', 1_000_000, 20_000, [takes(4)]],
  ['a table whose warm throughput is not known', 1_000_000, undefined, [takes(21)]],
  ['few memberships', 100_000, 4_000, [takes(2)]],
  ['an import of seconds', 20_000, 4_000, []],
])('the duration of an import, without a command: %s', (_, memberships, warmUnits, lines) => {
  expect(durationLines(memberships, table(warmUnits))).toEqual(lines);
});

it('an import is never slower than on a new table', () => {
  expect([1, 4_000, 8_000].map(importRate)).toEqual([800, 800, 1_600]);
});
