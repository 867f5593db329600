import type { UpgradeReport } from '../contract/answers/status.ts';
import type { Release } from '../contract/releases.ts';

interface Versions {
  /** Undefined if the stack does not state its version. */
  readonly deployed: string | undefined;
  /** The oldest version that can read the data of the deployed version. */
  readonly oldestReader: string | undefined;
}

/**
 * Compares the deployed version with the installed one.
 * @param releases all versions up to the installed version, the oldest first
 */
export function compareReleases(
  { deployed, oldestReader }: Versions,
  releases: readonly Release[],
): UpgradeReport {
  const last = releases.at(-1);
  if (last === undefined) throw new Error('expected at least one release, got none');
  const installed = last.version;
  const order = deployed === undefined ? undefined : compareVersions(installed, deployed);
  const between =
    deployed === undefined ? [] : releases.filter((one) => compareVersions(one.version, deployed) > 0);
  return {
    deployed: deployed ?? null,
    installed,
    direction: directionOf(order),
    storedForms: between.flatMap(({ storedForms }) => storedForms),
    settingsAdded: between.flatMap(({ settingsAdded }) => settingsAdded),
    settingsRemoved: between.flatMap(({ settingsRemoved }) => settingsRemoved),
    canReadData: deployed === undefined ? null : compareVersions(installed, oldestReader ?? deployed) >= 0,
    canRollBack:
      deployed === undefined
        ? null
        : between.every((one) => compareVersions(deployed, one.oldestReader) >= 0),
  };
}

function directionOf(order: number | undefined): UpgradeReport['direction'] {
  if (order === undefined) return 'unknown';
  if (order === 0) return 'same';
  return order > 0 ? 'upgrade' : 'downgrade';
}

/** Compares two versions of three numbers (Semantic Versioning, 2). Returns a number for `sort`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const at = [0, 1, 2].find((place) => left?.[place] !== right?.[place]);
  return at === undefined ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0);
}
