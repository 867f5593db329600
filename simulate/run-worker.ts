import { drawRun } from './draw.ts';
import { execute } from './execute.ts';
import type { Answer, Errand } from './many-runs.ts';
import type { Violation } from './run-log.ts';
import { type RunReport, readKnown, runReport, unknownOf } from './run-report.ts';
import { plantNamed } from './seeded-bugs.ts';
import type { SimulationRun } from './simulation-run.ts';

const known = readKnown();
/** A plan is rehearsed over stores that no plant has wrapped: that it differs proves nothing of a bug. */
const isUnknown = (violation: Violation) =>
  !violation.cause.startsWith('plan_') && unknownOf([violation], known).length > 0;
const sortOf = ({ check, cause }: Violation) => `${check} ${cause}`;

/** What goes wrong in a simulation run without any plant; the next bug is tried with the same seeds. */
const plainly = new Map<number, ReadonlySet<string>>();

async function sortsWithoutPlant(run: SimulationRun): Promise<ReadonlySet<string>> {
  const sorts =
    plainly.get(run.seed) ?? new Set((await execute(run)).violations.filter(isUnknown).map(sortOf));
  plainly.set(run.seed, sorts);
  return sorts;
}

/** A simulation run with a bug, until there is a violation of a sort that the same simulation run has not without it. */
async function executeWith(planted: string, run: SimulationRun): Promise<RunReport> {
  const plant = plantNamed(planted);
  const first = await execute(run, { plant, endsAt: isUnknown });
  if (!first.violations.some(isUnknown)) return { ...runReport(first), violations: [] };
  const plain = await sortsWithoutPlant(run);
  const isNew = (violation: Violation) => isUnknown(violation) && !plain.has(sortOf(violation));
  const again = first.violations.some(isNew) ? first : await execute(run, { plant, endsAt: isNew });
  return { ...runReport(again), violations: again.violations.filter(isNew) };
}

/** Executes the simulation runs that the parent process (many-runs.ts) sends, one after the other. */
process.on('message', ({ seed, draw, planted }: Errand) => {
  const answer = (message: Answer) => process.send?.(message);
  const run = drawRun(seed, draw);
  const completed = planted === undefined ? execute(run).then(runReport) : executeWith(planted, run);
  completed.then(
    (report) => answer({ planted, report }),
    (error: unknown) =>
      answer({
        planted,
        seed,
        broke: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
