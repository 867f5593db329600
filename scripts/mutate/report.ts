import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Change, resultsOf, type Survey } from './state.ts';
import { SURVIVORS } from './survivors.ts';

const MIN_RUNS = 10;

/** What the run found so far. */
interface Report {
  readonly lines: readonly string[];
  /** Changes of each kind that survive without a reason. */
  readonly unexplained: number;
  readonly noticedShare: number;
}

/**
 * Reports the changes that no test noticed, and writes `unneeded-tests.txt` to the folder of the state: the tests
 * without which every noticed change is still noticed. A test is listed only if it ran with at least `MIN_RUNS` changes.
 */
export function reportOf(folder: string, changes: readonly Change[], survey: Survey): Report {
  const results = resultsOf(folder);
  const ran = changes.filter(({ id }) => results.has(id));
  const noticed = ran.filter(({ id }) => [...(results.get(id)?.values() ?? [])].includes(true));
  const alive = changes.filter((change) => !noticed.includes(change));
  const unexplained = alive.filter(({ line }) => !SURVIVORS.has(line));
  const linesOf = (change: Change) =>
    `alive: ${change.line} (${results.get(change.id)?.size ?? 0} tests${SURVIVORS.has(change.line) ? ', explained' : ''})`;
  const noticedShare = noticed.length / Math.max(1, changes.length);
  const counts = `${changes.length} changes, ${ran.length} run, ${noticed.length} noticed`;
  writeFileSync(join(folder, 'unneeded-tests.txt'), unneededTests(noticed, results, survey));
  return {
    lines: [...alive.map(linesOf), `${counts}, ${unexplained.length} unexplained`],
    unexplained: unexplained.length,
    noticedShare,
  };
}

/** Chooses tests that together notice each change, starting with the test that notices most. Lists the others. */
function unneededTests(noticed: readonly Change[], results: ReturnType<typeof resultsOf>, survey: Survey) {
  const tests = Object.entries(survey.tests).map(([name, { id, ms }]) => {
    const ran = noticed.filter((change) => results.get(change.id)?.has(id));
    const found = ran.filter((change) => results.get(change.id)?.get(id));
    return { name, ms, ran: ran.length, found };
  });
  const open = new Set(noticed);
  const needed = new Set<string>();
  while (open.size > 0) {
    const worth = tests.map((test) => ({ test, count: test.found.filter((one) => open.has(one)).length }));
    const best = worth.reduce((a, b) => (b.count > a.count ? b : a));
    if (best.count === 0) break;
    needed.add(best.test.name);
    for (const change of best.test.found) open.delete(change);
  }
  return tests
    .filter(({ name, ran }) => ran >= MIN_RUNS && !needed.has(name))
    .sort((a, b) => a.found.length - b.found.length || b.ms - a.ms)
    .map(({ name, ms, ran, found }) => `noticed ${found.length} of ${ran}, ${Math.round(ms)} ms: ${name}\n`)
    .join('');
}
