import { beforeAll, expect, it } from 'vitest';
import { CONTRACT_CASES } from './support/contract-cases.ts';
import { type CoveredItem, measureCoverage, runCase } from './support/coverage.ts';

it.each(CONTRACT_CASES.map((one) => [one.title, one] as const))('the client reads: %s', async (_, one) => {
  const { result } = await runCase(one);
  expect(result).toEqual(one.expected);
});

let items: CoveredItem[];
beforeAll(async () => {
  items = await measureCoverage();
});

it('the recorded cases cover every endpoint, parameter and field of the specification', () => {
  const missing = items.filter(({ cases }) => cases.length === 0);
  expect(missing.map(({ endpoint, kind, name }) => `${endpoint}: ${kind} ${name}`)).toEqual([]);
  expect(items.length).toBeGreaterThan(400);
});
