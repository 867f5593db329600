import type { DirectoryKind, DirectoryOf } from '../../contract/directory-settings.ts';
import type { Directory, DirectoryStep, SelectsGroup } from '../ports.ts';
import type { DirectoryWorld } from './exchange.ts';

/** Reads the stored secret of the connection. Called only if the settings do not name another credential. */
export type ReadSecret = () => Promise<unknown>;

export interface Vendor<Kind extends DirectoryKind> {
  /** @throws DirectoryError `denied` if there is no usable credential. The message does not show the credential */
  open(setting: DirectoryOf<Kind>, readSecret: ReadSecret, world: DirectoryWorld): Promise<Directory>;
  /**
   * Tries each step of reading. If a step of the sign-in fails, no later step is tried. Each right is tried even if
   * another right is missing.
   * @throws DirectoryError `denied` if there is no usable credential
   */
  examine(
    setting: DirectoryOf<Kind>,
    readSecret: ReadSecret,
    world: DirectoryWorld,
    isSelected?: SelectsGroup,
  ): Promise<readonly DirectoryStep[]>;
}
