import type { DirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import type { DirectorySetting } from '../../shared/contract/directory-settings.ts';

export interface Access {
  readonly setting: DirectorySetting;
  /** Content of the directory's secret. */
  readonly key: Readonly<Record<string, unknown>>;
}

/** How a connection of the local stack gets access to the simulator of one vendor. */
export interface LocalVendor {
  readonly accessTo: (simulator: DirectorySimulator, url: string) => Promise<Access>;
}
