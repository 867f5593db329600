import reasons from './survivors.json' with { type: 'json' };

/**
 * The changes that no test of the run can notice, with their reasons. `npm run mutate` fails if an unlisted change
 * survives.
 */
export const SURVIVORS: ReadonlyMap<string, string> = new Map(
  Object.entries(reasons).flatMap(([reason, lines]) => lines.map((line) => [line, reason] as const)),
);
