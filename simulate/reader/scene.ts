import type { DirectoryKind } from '../../shared/contract/settings.ts';

/** The connection that reads a directory. */
export const CONNECTION = 'd';
export const GROUPS = 7;
/** Groups that are never deleted, so that messages about them always concern a group of the reader. */
export const LASTING = ['k1', 'k2', 'k3', 'k4'];

/** The part of a run in which a directory changes. */
export interface Scene {
  readonly vendor: DirectoryKind;
  readonly endMs: number;
  readonly members: readonly string[];
}

export interface Timed<Action> {
  readonly atMs: number;
  readonly action: Action;
}
