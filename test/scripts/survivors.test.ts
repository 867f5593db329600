import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lineOf, mutantsOf } from '../../scripts/mutate/mutants.ts';
import { SURVIVORS } from '../../scripts/mutate/survivors.ts';

it('each mutant that survives for a known reason still exists in the code', () => {
  const lines = [...SURVIVORS.keys()].filter((line) => !line.startsWith('reversed '));
  const files = new Set(lines.map((line) => line.slice(0, line.indexOf(':'))));
  const existing = [...files].flatMap((file) => {
    const source = readFileSync(file, 'utf8');
    return mutantsOf(file, source).map((mutant) => lineOf(file, source, mutant));
  });
  expect(lines.filter((line) => !existing.includes(line))).toEqual([]);
});
