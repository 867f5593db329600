import { drawLife } from './draw.ts';
import { live } from './execute.ts';
import type { Answer, Errand } from './many-runs.ts';
import type { Violation } from './run-log.ts';
import { type LifeReport, lifeReport, readKnown, unknownOf } from './run-report.ts';
import { plantNamed } from './seeded-bugs.ts';
import type { Life } from './simulation-run.ts';

const known = readKnown();
/** A plan is rehearsed over stores that no plant has wrapped: that it differs proves nothing of a bug. */
const isUnknown = (violation: Violation) =>
  !violation.cause.startsWith('plan_') && unknownOf([violation], known).length > 0;
const sortOf = ({ oracle, cause }: Violation) => `${oracle} ${cause}`;

/** What goes wrong in a life without any plant; the next bug is tried with the same seeds. */
const plainly = new Map<number, ReadonlySet<string>>();

async function sortsWithoutPlant(life: Life): Promise<ReadonlySet<string>> {
  const sorts =
    plainly.get(life.seed) ?? new Set((await live(life)).violations.filter(isUnknown).map(sortOf));
  plainly.set(life.seed, sorts);
  return sorts;
}

/** A life with a bug, until there is a violation of a sort that the same life has not without it. */
async function liveWith(planted: string, life: Life): Promise<LifeReport> {
  const plant = plantNamed(planted);
  const first = await live(life, { plant, endsAt: isUnknown });
  if (!first.violations.some(isUnknown)) return { ...lifeReport(first), violations: [] };
  const plain = await sortsWithoutPlant(life);
  const isNew = (violation: Violation) => isUnknown(violation) && !plain.has(sortOf(violation));
  const again = first.violations.some(isNew) ? first : await live(life, { plant, endsAt: isNew });
  return { ...lifeReport(again), violations: again.violations.filter(isNew) };
}

/** A process that lives what it is sent (many-runs.ts), one life after the other. */
process.on('message', ({ seed, draw, planted }: Errand) => {
  const answer = (message: Answer) => process.send?.(message);
  const life = drawLife(seed, draw);
  const lived = planted === undefined ? live(life).then(lifeReport) : liveWith(planted, life);
  lived.then(
    (report) => answer({ planted, report }),
    (error: unknown) =>
      answer({
        planted,
        seed,
        broke: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
