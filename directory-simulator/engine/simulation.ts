import type { SeededRandom } from '../../local/platform/seeded-random.ts';
import type { Directory } from './directory.ts';
import type { PageTokens } from './page-tokens.ts';
import type { Settings } from './settings.ts';

/** What endpoints and controls work with. A reset replaces what is in it; the object stays. */
export interface Simulation {
  readonly directory: () => Directory;
  readonly settings: () => Settings;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A source of chance for one purpose: the same seed and purpose give the same draws. */
  readonly random: (purpose: string) => SeededRandom;
  readonly pageTokens: PageTokens;
  /** Member counts that `POST /_simulator/counts` made wrong, by group id; null means an absent count. */
  readonly wrongCounts: Map<string, string | null>;
}
