import { applyChange, type Change } from './changes.ts';
import { type NewId, stateFromWorld } from './from-world.ts';
import { openJournal, readJournal } from './journal.ts';
import type { State } from './state.ts';
import { worldFromState } from './to-world.ts';
import type { World } from './world.ts';

/** The only place that changes the state. */
export interface Store {
  readonly state: State;
  /** Applies these changes together. When it returns, all survive a kill. If it throws, none was applied. */
  commit(changes: readonly Change[]): void;
  /** Returns to the world that the store was opened with. */
  reset(): void;
  close(): void;
}

export interface StoreOptions {
  readonly world: World;
  /** File of the state; without it, the state is in memory. Existing state takes precedence over `world`. */
  readonly dataFile?: string | undefined;
  readonly newId: NewId;
}

/**
 * Opens the state in memory, and on disk if a data file is given.
 * @throws {WorldError} for an invalid world
 * @throws {JournalError} for a data file that cannot be read
 */
export function openStore({ world, dataFile, newId }: StoreOptions): Store {
  // Ids are generated once, so that everything has the same id after a reset as at the start.
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

/** Gives each feed a new id, so that cursors of an earlier feed are rejected. */
function withNewFeeds(world: World, newId: NewId): World {
  const companies = world.companies.map((company) => ({
    ...company,
    activity: { feed: newId(), batches: company.activity?.batches ?? [] },
  }));
  return { ...world, companies };
}
