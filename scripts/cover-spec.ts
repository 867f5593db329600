import { type CoveredItem, measureCoverage } from '../test/platform/support/coverage.ts';

/**
 * Prints every endpoint, parameter and field of the specification with its tests.
 * @returns 1 if an item has no test, otherwise 0
 */
function report(items: readonly CoveredItem[]): number {
  for (const { item, cases } of items) console.log(`${item}  ${cases.join(' | ') || 'NO TEST'}`);
  const missing = items.filter(({ cases }) => cases.length === 0).length;
  console.log(`\n${items.length} endpoints, parameters and fields; ${missing} without a test`);
  return missing === 0 ? 0 : 1;
}

process.exitCode = report(await measureCoverage());
