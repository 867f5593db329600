import { applyChange, type Change } from './changes.ts';
import { type NewId, stateFromWorld } from './from-world.ts';
import { openJournal, readJournal } from './journal.ts';
import type { State } from './state.ts';
import { worldFromState } from './to-world.ts';
import type { World } from './world.ts';

/** The only module that changes the state. */
export interface Store {
  readonly state: State;
  /** Applies all changes, or none after an error. After the return, all changes survive a kill. */
  commit(changes: readonly Change[]): void;
  /** Restores the world with which the store was opened. */
  reset(): void;
  close(): void;
}

interface StoreOptions {
  readonly world: World;
  /** The file of the state. Without a file, the state is in memory. State in the file takes precedence over `world`. */
  readonly dataFile?: string | undefined;
  readonly newId: NewId;
}

/**
 * Opens the state. With a data file, the state is also on disk.
 * @throws {WorldError} for an invalid world
 * @throws {JournalError} for a data file that cannot be read
 */
export function openStore({ world, dataFile, newId }: StoreOptions): Store {
  // Ids are generated once, so that every object has the same id after a reset.
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
