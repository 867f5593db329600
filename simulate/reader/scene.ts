import type { DirectoryKind } from '../../shared/contract/directory-settings.ts';
import type { SourceVendor } from './vendor.ts';

/** The name of the connection with a reader. */
export const CONNECTION = 'd';
export const GROUPS = 7;
/** Groups that are never deleted. */
export const LASTING = ['k1', 'k2', 'k3', 'k4'];

/** The input for drawing a directory, its changes and its faults. */
export interface Scene {
  readonly vendor: SourceVendor<DirectoryKind>;
  readonly endMs: number;
  readonly members: readonly string[];
}

export interface Timed<Action> {
  readonly atMs: number;
  readonly action: Action;
}
