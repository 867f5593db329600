import type { Happening, SimulationRun } from './simulation-run.ts';

export const keepOnly = (run: SimulationRun, kept: readonly number[]): SimulationRun => ({
  ...run,
  happenings: kept.flatMap((place) => run.happenings[place] ?? []),
});

/**
 * Removes happenings that the failure does not need (delta debugging). The function first tries to remove whole
 * connections, actors, kinds of actions and groups. Then it tries halves, quarters and smaller parts of the remaining
 * happenings. It ends when no single happening can be removed, or after the maximum number of runs.
 * @returns the remaining happenings, their positions in the drawn run, and the number of executed runs
 */
export async function shrink(
  run: SimulationRun,
  fails: (smaller: SimulationRun) => Promise<boolean>,
  mostRuns: number,
) {
  let kept = run.happenings.map((_, place) => place);
  let runs = 0;
  const tryWithout = async (without: ReadonlySet<number>): Promise<boolean> => {
    const fewer = kept.filter((place) => !without.has(place));
    if (runs >= mostRuns || fewer.length === kept.length) return false;
    runs += 1;
    if (!(await fails(keepOnly(run, fewer)))) return false;
    kept = fewer;
    return true;
  };
  for (const sortOf of SORTS) {
    const sorts = new Set(kept.map((place) => sortOf(run.happenings[place] as Happening)));
    for (const sort of sorts) {
      await tryWithout(new Set(kept.filter((place) => sortOf(run.happenings[place] as Happening) === sort)));
    }
  }
  for (let size = kept.length >> 1; size >= 1; ) {
    let shrank = false;
    for (let from = 0; from < kept.length; ) {
      const gone = await tryWithout(new Set(kept.slice(from, from + size)));
      shrank ||= gone;
      if (!gone) from += size;
    }
    if (runs >= mostRuns) break;
    if (size > 1 || !shrank) size >>= 1;
  }
  return { run: keepOnly(run, kept), kept, runs };
}

const SORTS: readonly ((happening: Happening) => string)[] = [
  ({ connection }) => connection,
  ({ actor }) => actor,
  ({ actor, action }) => `${actor} ${action.kind}`,
  ({ action }) => ('group' in action ? String(action.group) : action.kind),
];
