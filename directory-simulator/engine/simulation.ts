import type { SeededRandom } from '../../local/platform/seeded-random.ts';
import type { Directory } from './directory.ts';
import type { PageTokens } from './page-tokens.ts';
import type { Settings } from './settings.ts';

/**
 * The state that endpoints and controls use. A reset does not replace this object, but changes the results of its
 * functions.
 */
export interface Simulation {
  readonly directory: () => Directory;
  readonly settings: () => Settings;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns random numbers for one purpose. The same seed and purpose give the same numbers. */
  readonly random: (purpose: string) => SeededRandom;
  readonly pageTokens: PageTokens;
  /** Wrong member counts from `POST /_simulator/counts`, by group id. null means that no count is shown. */
  readonly wrongCounts: Map<string, string | null>;
}
