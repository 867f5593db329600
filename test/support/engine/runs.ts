import fc from 'fast-check';
import { it } from 'vitest';

const explored = process.env['GROUPSYNC_RUNS'];

/**
 * `npm test` draws the same cases each time, so a larger number of cases finds little. It draws 100 cases per property,
 * and `perThousand` changes this number in proportion. `npm run test:explore` draws new cases, by default 10,000.
 */
const asked = Number(explored ?? 100);

export const runs = (perThousand = 1_000) => ({ numRuns: Math.ceil((asked * perThousand) / 1_000) });

/** The time limit of one property in milliseconds: five minutes, or twelve hours if `GROUPSYNC_RUNS` is set. */
export const PATIENCE_MS = explored === undefined ? 300_000 : 12 * 3_600_000;

export const always = <Drawn>(title: string, property: fc.IRawProperty<Drawn>, perThousand?: number) =>
  it(title, () => fc.assert(property, runs(perThousand)), PATIENCE_MS);
