import { beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_CASES } from './support/contract-cases.ts';
import { type CoveredItem, measureCoverage, runCase } from './support/coverage.ts';
import { SPECIFICATION } from './support/specification.ts';

it.each(CONTRACT_CASES.map((one) => [one.title, one] as const))('the client reads: %s', async (_, one) => {
  const { result } = await runCase(one);
  expect(result).toEqual(one.expected);
});

describe('specification of the platform', () => {
  let items: CoveredItem[];
  beforeAll(async () => {
    items = await measureCoverage();
  });

  it('the specification has 25 endpoints in seven areas', () => {
    expect(SPECIFICATION).toHaveLength(25);
    const areas = [...new Set(SPECIFICATION.map(({ area }) => area))];
    const sizes = areas.map((name) => SPECIFICATION.filter(({ area }) => area === name).length);
    expect(sizes).toEqual([3, 7, 5, 6, 1, 1, 2]);
  });

  it('the recorded cases cover every endpoint, parameter and field of the specification', () => {
    const missing = items.filter(({ cases }) => cases.length === 0);
    expect(missing.map(({ endpoint, kind, name }) => `${endpoint}: ${kind} ${name}`)).toEqual([]);
    expect(items.length).toBeGreaterThan(400);
  });
});
