import type { DirectoryKind, DirectoryOf } from '../contract/settings.ts';
import type { Directory, DirectoryStep, SelectsGroup } from '../sync/ports/directory.ts';
import type { DirectoryWorld } from './exchange.ts';

/** Reads the stored secret of the connection. Only a sign-in that needs the secret calls this function. */
export type ReadSecret = () => Promise<unknown>;

export interface Vendor<Kind extends DirectoryKind> {
  /** @throws DirectoryError `denied` if there is no usable credential. The message does not show the credential */
  open(setting: DirectoryOf<Kind>, readSecret: ReadSecret, world: DirectoryWorld): Promise<Directory>;
  /**
   * Tries each step of reading. If a step fails, the steps that depend on it are not tried.
   * @throws DirectoryError `denied` if there is no usable credential
   */
  examine(
    setting: DirectoryOf<Kind>,
    readSecret: ReadSecret,
    world: DirectoryWorld,
    isSelected?: SelectsGroup,
  ): Promise<readonly DirectoryStep[]>;
}
