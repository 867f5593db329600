import { VERSION } from './version.ts';

/** One released version. docs/releases.md explains the rules. */
export interface Release {
  readonly version: string;
  /** The changes of stored items since the previous version, one sentence for each change. */
  readonly storedForms: readonly string[];
  /** The oldest version that can read the items that this version writes. */
  readonly oldestReader: string;
  readonly settingsAdded: readonly string[];
  readonly settingsRemoved: readonly string[];
}

/** All versions, the oldest first. The last version is this version. */
export const RELEASES: readonly Release[] = [
  {
    version: VERSION,
    storedForms: [],
    oldestReader: VERSION,
    settingsAdded: [],
    settingsRemoved: [],
  },
];

/** The oldest version that can read the items of this version. */
export const OLDEST_READER = RELEASES.at(-1)?.oldestReader ?? VERSION;

/** The names of the stack outputs that `groupsync upgrade --check` reads. */
export const RELEASE_OUTPUTS = { version: 'Version', oldestReader: 'OldestReader' } as const;
