import { beforeAll, expect, it } from 'vitest';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import { type Answer, executeMany } from '../../simulate/many-runs.ts';
import { runReport } from '../../simulate/run-report.ts';
import { SEEDED_BUGS } from '../../simulate/seeded-bugs.ts';
import { startProcess } from '../local/support/process.ts';

/** Five times the duration of all runs on a slow idle machine. */
const PATIENCE_MS = 600_000;
const TWO_YEARS = { seed: 3, draw: { long: true, scale: 'small' } } as const;
const DAY = { seed: 8, draw: { days: 1, scale: 'small' } } as const;
/** small-runs.test.ts has more and shorter runs. `npm run simulate` executes other seeds. */
const RUNS = [{ seed: 5, draw: { scale: 'small' } } as const, TWO_YEARS, DAY];

const answers: Answer[] = [];
const reportOf = (seed: number) =>
  answers.flatMap((answer) => ('report' in answer ? [answer.report] : [])).find((one) => one.seed === seed);

// One process executes all runs, because its start takes seconds, and a bundle is faster than the modules of vitest.
beforeAll(() => executeMany(RUNS.values(), 1, (answer) => answers.push(answer)), PATIENCE_MS);

it('a simulation run has no violation', () => {
  const wrong = answers.flatMap((answer) => {
    const { seed } = 'report' in answer ? answer.report : answer;
    const found = 'report' in answer ? answer.report.violations : [answer.broke];
    return found.length > 0 ? [{ run: RUNS.find((one) => one.seed === seed), found }] : [];
  });
  expect(wrong).toEqual([]);
  expect(answers).toHaveLength(RUNS.length);
});

it('a simulation run of two years is drawn for two years, and has few effects', () => {
  const { figures } = reportOf(TWO_YEARS.seed) ?? {};
  expect(drawRun(TWO_YEARS.seed, TWO_YEARS.draw).days).toBeGreaterThan(700);
  expect(figures?.effects).toBeLessThan(400_000);
});

it('two simulation runs with the same seed are equal, even if executeMany runs one of them', async () => {
  const run = drawRun(DAY.seed, DAY.draw);
  const [first, second] = [await execute(run, { keepsLog: true }), await execute(run, { keepsLog: true })];
  expect(first.logLines.length).toBeGreaterThan(100);
  expect(second.logLines).toEqual(first.logLines);
  expect(second.figures).toEqual(first.figures);
  const { figures, fired } = runReport(first);
  expect(reportOf(DAY.seed)).toMatchObject({ figures, fired });
});

it(
  'npm run simulate -- --planted with an unknown name exits with 2, and names the known bugs',
  async () => {
    const args = ['--import', 'tsx', 'simulate/run.ts', '--planted', 'xyzzy'];
    const { code, stderr } = await startProcess(process.execPath, args).exit;
    expect(code).toBe(2);
    for (const { name } of SEEDED_BUGS) expect(stderr).toContain(name);
  },
  PATIENCE_MS,
);
