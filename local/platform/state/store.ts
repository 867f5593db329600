import { applyChange, type Change } from './changes.ts';
import { type NewId, stateFromWorld } from './from-world.ts';
import { openJournal, readJournal } from './journal.ts';
import type { State } from './state.ts';
import { worldFromState } from './to-world.ts';
import type { World } from './world.ts';

/** The one place where the state changes. */
export interface Store {
  readonly state: State;
  /** Makes these changes together: all of them survive a kill after this returns, or none was made. */
  commit(changes: readonly Change[]): void;
  /** Goes back to the world that the store was opened with. */
  reset(): void;
  close(): void;
}

export interface StoreOptions {
  readonly world: World;
  /** Where the state is kept; in memory alone when absent. What is there already wins over `world`. */
  readonly dataFile?: string | undefined;
  readonly newId: NewId;
}

/**
 * Opens the state in memory, and on disk where a data file is named.
 * @throws {WorldError} for a world that contradicts itself
 * @throws {JournalError} for a data file that cannot be read
 */
export function openStore({ world, dataFile, newId }: StoreOptions): Store {
  // Ids are given once: after a reset everything has the id that it had at the start.
  const initial = worldFromState(stateFromWorld(world, newId));
  const kept = dataFile === undefined ? undefined : readJournal(dataFile, newId);
  let state = kept ?? stateFromWorld(initial, newId);
  const journal = dataFile === undefined ? undefined : openJournal(dataFile, state);
  return {
    get state() {
      return state;
    },
    commit(changes) {
      if (changes.length === 0) return;
      journal?.append(changes);
      for (const change of changes) applyChange(state, change);
      journal?.compactIfDue(state);
    },
    reset() {
      const fresh = stateFromWorld(withNewFeeds(initial, newId), newId);
      journal?.rewrite(fresh);
      state = fresh;
    },
    close: () => journal?.close(),
  };
}

/** Gives each feed a new id, so that cursors of an earlier feed are refused. */
function withNewFeeds(world: World, newId: NewId): World {
  const companies = world.companies.map((company) => ({
    ...company,
    activity: { feed: newId(), batches: company.activity?.batches ?? [] },
  }));
  return { ...world, companies };
}
