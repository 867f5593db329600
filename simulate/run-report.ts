import type { Outcome } from './execute.ts';
import known from './known.json' with { type: 'json' };
import type { Violation } from './run-log.ts';

/** A known violation that does not make the run fail. All other violations do. */
interface KnownViolation extends Pick<Violation, 'check' | 'cause'> {
  readonly what: string;
  readonly fixedBy: string;
}

export const readKnown = (): readonly KnownViolation[] => known as readonly KnownViolation[];

export const unknownOf = (
  violations: readonly Violation[],
  known: readonly KnownViolation[],
): readonly Violation[] =>
  violations.filter(({ check, cause }) => !known.some((one) => one.check === check && one.cause === cause));

export interface RunReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly fired: Readonly<Record<string, number>>;
  readonly figures: Outcome['figures'];
  /** Set if the run was asked to meet pairs. */
  readonly meetings?: Outcome['meetings'];
}

/**
 * Returns the report of a run. A run may violate one check for many groups, so the report contains only the first
 * violation of each check and cause.
 */
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

/** Returns how often each fault took effect in all these runs together. */
export function firedIn(reports: readonly RunReport[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { fired } of reports) {
    for (const [name, times] of Object.entries(fired)) sums.set(name, (sums.get(name) ?? 0) + times);
  }
  return sums;
}
