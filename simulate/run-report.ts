import type { Outcome } from './execute.ts';
import type { Violation } from './run-log.ts';

export interface RunReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly fired: Readonly<Record<string, number>>;
  readonly figures: Outcome['figures'];
  /** Set if the run was asked to meet pairs. */
  readonly meetings?: Outcome['meetings'];
}

/** Returns the report of a run. */
export function runReport({ run, violations, fired, figures, meetings }: Outcome): RunReport {
  const firsts = new Map(violations.toReversed().map((one) => [`${one.check} ${one.cause}`, one]));
  return {
    seed: run.seed,
    violations: [...firsts.values()].reverse(),
    fired: Object.fromEntries(fired),
    figures,
    ...(meetings && { meetings }),
  };
}
