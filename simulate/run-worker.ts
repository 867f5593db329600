import { drawRun } from './draw.ts';
import { execute } from './execute.ts';
import type { Answer, Errand } from './many-runs.ts';
import type { Violation } from './run-log.ts';
import { type RunReport, runReport } from './run-report.ts';
import { seededBugNamed } from './seeded-bugs.ts';
import type { SimulationRun } from './simulation-run.ts';

/** Returns whether a violation may come from the seeded bug, which the stores of `plan` do not have. */
const mayBeIts = ({ cause }: Violation) => !cause.startsWith('plan_');
const sortOf = ({ check, cause }: Violation) => `${check} ${cause}`;

/** For each seed, the violations of the run without a seeded bug. */
const plainly = new Map<number, ReadonlySet<string>>();

async function sortsWithoutBug(run: SimulationRun): Promise<ReadonlySet<string>> {
  const sorts =
    plainly.get(run.seed) ?? new Set((await execute(run)).violations.filter(mayBeIts).map(sortOf));
  plainly.set(run.seed, sorts);
  return sorts;
}

/** Executes a run with a seeded bug. Returns only the violations that the same run without the bug does not have. */
async function executeWith(seededBug: string, run: SimulationRun): Promise<RunReport> {
  const wrapPorts = seededBugNamed(seededBug);
  const first = await execute(run, { wrapPorts, endsAt: mayBeIts });
  if (!first.violations.some(mayBeIts)) return { ...runReport(first), violations: [] };
  const plain = await sortsWithoutBug(run);
  const isNew = (violation: Violation) => mayBeIts(violation) && !plain.has(sortOf(violation));
  const again = first.violations.some(isNew) ? first : await execute(run, { wrapPorts, endsAt: isNew });
  return { ...runReport(again), violations: again.violations.filter(isNew) };
}

/** Executes the simulation runs that the parent process (many-runs.ts) sends, one after the other. */
process.on('message', ({ seed, draw, seededBug }: Errand) => {
  const answer = (message: Answer) => process.send?.(message);
  const run = drawRun(seed, draw);
  const completed =
    seededBug === undefined
      ? execute(run, { countsMeetings: draw.meet !== undefined }).then(runReport)
      : executeWith(seededBug, run);
  completed.then(
    (report) => answer({ seededBug, report }),
    (error: unknown) =>
      answer({
        seededBug,
        seed,
        broke: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
