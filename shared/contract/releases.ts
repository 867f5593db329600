import { VERSION } from './version.ts';

/** One released version, compared with the version before it. docs/releases.md explains the rules. */
export interface Release {
  readonly version: string;
  /** Changes of items in the table, one sentence each. */
  readonly storedForms: readonly string[];
  /** The oldest version that can read the items that this version writes. */
  readonly oldestReader: string;
  readonly settingsAdded: readonly string[];
  readonly settingsRemoved: readonly string[];
}

/** All versions, the oldest first. The last one is this version. */
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

/** Names of the stack outputs that `groupsync upgrade --check` reads. */
export const RELEASE_OUTPUTS = { version: 'Version', oldestReader: 'OldestReader' } as const;
