import { expect, it } from 'vitest';
import { drawRun } from '../../simulate/draw.ts';
import { execute } from '../../simulate/execute.ts';
import { seededBugNamed } from '../../simulate/seeded-bugs.ts';
import { keepOnly, shrink } from '../../simulate/shrink.ts';
import { tracePage } from '../../simulate/trace.ts';

const run = drawRun(1, { days: 2, scale: 'small' });
const { length } = run.happenings;

it('shrinking keeps only the events that are necessary for the failure', async () => {
  const needed = [run.happenings[3], run.happenings[Math.floor(length / 2)]];
  const shrunken = await shrink(
    run,
    async ({ happenings }) => needed.every((one) => one !== undefined && happenings.includes(one)),
    1_000,
  );
  expect(shrunken.run.happenings).toEqual(needed);
  expect(keepOnly(run, shrunken.kept)).toEqual(shrunken.run);
});

it('a simulation run finds a seeded bug, and its trace page begins with the violation', async () => {
  const run = drawRun(2, { days: 1, scale: 'small' });
  const outcome = await execute(run, {
    keepsLog: true,
    wrapPorts: seededBugNamed('no_audit'),
    endsAt: ({ check }) => check === 'on_record',
  });
  const [violation] = outcome.violations;
  expect(violation).toMatchObject({ check: 'on_record' });
  const page = tracePage(outcome, 'npm run simulate -- --seed 2');
  expect(page).toContain(`<h1>${violation?.sentence}</h1>`);
  expect(page).toContain('npm run simulate -- --seed 2');
  expect(page).not.toMatch(/<script|https?:\/\//);
});
