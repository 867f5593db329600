import type { Settings } from '../engine/settings.ts';
import { type Entry, entriesOf, type Tracking } from './entries.ts';

/**
 * Returns the entries of a round, from a cache of recent rounds. Without the cache, each page would compare the whole
 * directory again.
 */
export type Rounds = (tracking: Tracking) => readonly Entry[];

const MAX_ROUNDS = 8;

export function createRounds(): Rounds {
  const known = new Map<string, { readonly settings: Settings; readonly entries: readonly Entry[] }>();
  return (tracking) => {
    const { simulation, round, isMinimal, showsHidden } = tracking;
    const key = JSON.stringify([round, isMinimal, showsHidden]);
    const settings = simulation.settings();
    const found = known.get(key);
    if (found?.settings === settings) return found.entries;
    const entries = entriesOf(tracking);
    known.delete(key);
    known.set(key, { settings, entries });
    const [oldest] = known.keys();
    if (known.size > MAX_ROUNDS && oldest !== undefined) known.delete(oldest);
    return entries;
  };
}
