import type { OpenDialect } from '../../directory-simulator/engine/dialect.ts';
import type { DirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import type { DirectorySetting } from '../../shared/contract/directory-settings.ts';

export interface Access {
  readonly setting: DirectorySetting;
  /** Content of the directory's secret. */
  readonly key: Readonly<Record<string, unknown>>;
}

/** The functions that start the simulator of one vendor and return the access to this simulator. */
export interface LocalVendor {
  readonly dialect: () => OpenDialect;
  readonly accessTo: (simulator: DirectorySimulator, url: string) => Promise<Access>;
}
