import fc from 'fast-check';
import { it } from 'vitest';

const explored = process.env['GROUPSYNC_RUNS'];

/**
 * `npm test` draws the same cases each time, so more of them find little: a property is tried 400 times, and one that
 * names a smaller number than 1,000 as many times less. `npm run test:explore` draws new cases, by default 10,000.
 */
const asked = Number(explored ?? 400);

export const runs = (perThousand = 1_000) => ({ numRuns: Math.ceil((asked * perThousand) / 1_000) });

/** Milliseconds that a property of the engine may take: by far longer when asked for more runs. */
export const PATIENCE_MS = explored === undefined ? 300_000 : 12 * 3_600_000;

/** A test of what holds for whatever is drawn. */
export const always = <Drawn>(title: string, property: fc.IRawProperty<Drawn>, perThousand?: number) =>
  it(title, () => fc.assert(property, runs(perThousand)), PATIENCE_MS);
