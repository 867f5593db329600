import { describe, expect, it } from 'vitest';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import { type Answer, executeMany } from '../../simulate/many-runs.ts';
import { runReport } from '../../simulate/run-report.ts';
import { DAY_MS } from '../../simulate/simulation-run.ts';

/**
 * The seeds of runs of a week. small-runs.test.ts has more and shorter runs. `npm run simulate` executes other seeds.
 */
const SEEDS = [5, 11];

describe('simulation run of a week', () => {
  it('a simulation run has no violation', async () => {
    const seeds = [...SEEDS];
    const wrong: object[] = [];
    const errands = seeds.map((seed) => ({ seed, draw: {} }));
    await executeMany(errands.values(), 1, (answer) => {
      const { seed } = 'report' in answer ? answer.report : answer;
      seeds.splice(seeds.indexOf(seed), 1);
      const found = 'report' in answer ? answer.report.violations : [answer.broke];
      if (found.length > 0) wrong.push({ executeItAgain: `npm run simulate -- --seed ${seed}`, found });
    });
    expect({ wrong, notCompleted: seeds }).toEqual({ wrong: [], notCompleted: [] });
  });

  it('a simulation run of two years with few events has no violation', async () => {
    const run = drawRun(3, { long: true, scale: 'small' });
    const outcome = await execute(run);
    expect(outcome.violations).toEqual([]);
    expect(outcome.figures.simulatedMs).toBeGreaterThan(700 * DAY_MS);
    expect(outcome.figures.effects).toBeLessThan(400_000);
  });

  it('two simulation runs with the same seed are equal, even if executeMany runs one of them', async () => {
    const draw = { days: 1, scale: 'small' } as const;
    const run = drawRun(7, draw);
    const [first, second] = [await execute(run, { keepsLog: true }), await execute(run, { keepsLog: true })];
    expect(first.logLines.length).toBeGreaterThan(100);
    expect(second.logLines).toEqual(first.logLines);
    expect(second.figures).toEqual(first.figures);
    const answers: Answer[] = [];
    await executeMany([{ seed: 7, draw }].values(), 1, (answer) => answers.push(answer));
    const { figures, fired } = runReport(first);
    expect(answers).toMatchObject([{ report: { seed: 7, figures, fired } }]);
  });
});
