import type { Outcome } from './execute.ts';
import known from './known.json' with { type: 'json' };
import type { Violation } from './run-log.ts';

/** A violation that is accepted for now. Any other violation makes the run fail. */
export interface KnownViolation extends Pick<Violation, 'check' | 'cause'> {
  /** A sentence that describes the violation. */
  readonly what: string;
  /** The issue that will fix the violation. */
  readonly fixedBy: string;
}

export const readKnown = (): readonly KnownViolation[] => known as readonly KnownViolation[];

export const unknownOf = (
  violations: readonly Violation[],
  known: readonly KnownViolation[],
): readonly Violation[] =>
  violations.filter(({ check, cause }) => !known.some((one) => one.check === check && one.cause === cause));

/** The result of a simulation run. */
export interface RunReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly fired: Readonly<Record<string, number>>;
  readonly figures: Outcome['figures'];
}

/**
 * Returns the report of a run. It has only the first violation of each kind, because the checks report a lasting
 * violation again each hour.
 */
export function runReport({ run, violations, fired, figures }: Outcome): RunReport {
  const firsts = new Map(violations.toReversed().map((one) => [`${one.check} ${one.cause}`, one]));
  return {
    seed: run.seed,
    violations: [...firsts.values()].reverse(),
    fired: Object.fromEntries(fired),
    figures,
  };
}

/** Returns how often each fault took effect in all runs together. */
export function firedIn(reports: readonly RunReport[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { fired } of reports) {
    for (const [name, times] of Object.entries(fired)) sums.set(name, (sums.get(name) ?? 0) + times);
  }
  return sums;
}
