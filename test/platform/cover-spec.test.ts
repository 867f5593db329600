import { expect, it } from 'vitest';
import { CONTRACT_CASES } from './support/contract-cases.ts';
import { measureCoverage, runCase } from './support/coverage.ts';

it.each(CONTRACT_CASES.map((one) => [one.title, one] as const))('the client reads: %s', async (_, one) => {
  const { result } = await runCase(one);
  expect(result).toEqual(one.expected);
});

it('the recorded cases cover every endpoint, parameter and field of the specification', async () => {
  const items = await measureCoverage();
  expect(items.filter(({ cases }) => cases.length === 0)).toEqual([]);
  expect(items.length).toBeGreaterThan(400);
});
