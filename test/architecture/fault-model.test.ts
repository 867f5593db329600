import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FEATURES } from '../../simulate/features.ts';
import { PLAIN_TRAITS } from '../../simulate/platform/platform.ts';
import { PLATFORM_FAULTS } from '../../simulate/platform-faults.ts';
import { DIRECTORY_FAULTS } from '../../simulate/reader/faults.ts';

const ROWS = readFileSync('docs/fault-model.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Fault'))
  .map((line) => line.split(' | '));

/** The names in the column "Simulated by" of the fault model, such as `platformFault:slow`. */
const DOCUMENTED = ROWS.flatMap(([, , , simulatedBy = '']) =>
  [...simulatedBy.matchAll(/`([a-zA-Z]+:\w+)`/g)].map(([, name]) => name ?? ''),
);

const named = (kind: string, names: readonly string[]) => names.map((name) => `${kind}:${name}`);
/** The names that the run log counts, without crashes. */
const COUNTED = [
  ...'trait:installer returned asked table:next_page secrets:stale aws:frozen'.split(' '),
  ...FEATURES.filter((name) => !/^set:|^aws:crash$/.test(name)),
  ...named('directoryFault', Object.keys(DIRECTORY_FAULTS)),
];
const KINDS = /^(?:aws|company|client|directoryFault):/;

it('the fault model gives every fault a reason, a response, a place in the simulation and a check', () => {
  for (const cells of ROWS) {
    expect(cells).toHaveLength(5);
    expect(cells[1]).toMatch(/^(?:specified|observed|trusted): /);
    expect(cells.every((cell) => cell.trim().length > 2)).toBe(true);
  }
});

it('the fault model has a row for every platform fault and trait of the simulation', () => {
  const expected = [
    ...named('platformFault', Object.keys(PLATFORM_FAULTS)),
    ...named('trait', Object.keys(PLAIN_TRAITS)),
  ];
  expect(expected.filter((name) => !DOCUMENTED.includes(name))).toEqual([]);
});

it('the fault model has a row for every AWS fault, directory fault, change of people and action of another client', () => {
  const expected = COUNTED.filter((name) => KINDS.test(name));
  expect(expected.filter((name) => !DOCUMENTED.includes(name))).toEqual([]);
});

it('every fault that the fault model names exists in the simulation', () => {
  const possible = new Set([
    ...COUNTED,
    ...named('platformFault', Object.keys(PLATFORM_FAULTS)),
    ...named('trait', Object.keys(PLAIN_TRAITS)),
  ]);
  expect(DOCUMENTED.filter((name) => !possible.has(name))).toEqual([]);
});

it('the fault model names each platform fault and trait once', () => {
  const names = DOCUMENTED.filter((name) => /^(?:platformFault|trait):/.test(name));
  expect(names.length).toBe(new Set(names).size);
});
