import fc from 'fast-check';
import { it } from 'vitest';

/** How often a property is tried: a thousand times in `npm test` unless it says less; more in `npm run test:explore`. */
const asked = Number(process.env['GROUPSYNC_RUNS'] ?? 0);

export const runs = (usually = 1_000) => ({
  numRuns: asked === 0 ? usually : Math.ceil((asked * usually) / 1_000),
});

/** Milliseconds that a property of the engine may take: by far longer when asked for more runs. */
export const PATIENCE_MS = asked === 0 ? 300_000 : 12 * 3_600_000;

/** A test of what holds for whatever is drawn. */
export const always = <Drawn>(title: string, property: fc.IRawProperty<Drawn>, usually?: number) =>
  it(title, () => fc.assert(property, runs(usually)), PATIENCE_MS);
