import type { ConnectionSettings } from './settings.ts';

export interface SettingDifference {
  readonly key: string;
  /** Values as JSON. */
  readonly before: string;
  readonly after: string;
}

/** In which settings two readings differ; a group of settings such as `guard` counts as one. */
export function differingSettings(
  before: ConnectionSettings,
  after: ConnectionSettings,
): readonly SettingDifference[] {
  const keys = Object.keys(after) as (keyof ConnectionSettings)[];
  return keys
    .map((key) => ({ key, before: JSON.stringify(before[key]), after: JSON.stringify(after[key]) }))
    .filter((one) => one.before !== one.after);
}

/** What one person made of the settings that they read, and what another made of the same settings meanwhile. */
export interface Versions<Value = ConnectionSettings> {
  readonly read: Value;
  readonly wanted: Value;
  readonly now: Value;
}

/**
 * The settings with the changes of both. Where both changed one setting and not to the same, there is no merging: its
 * dotted key is among `conflicts`.
 */
export function mergeSettings(versions: Versions): {
  readonly settings: ConnectionSettings;
  readonly conflicts: readonly SettingDifference[];
} {
  const conflicts: SettingDifference[] = [];
  return { settings: merge(versions, '', conflicts) as ConnectionSettings, conflicts };
}

function merge(
  { read, wanted, now }: Versions<unknown>,
  key: string,
  conflicts: SettingDifference[],
): unknown {
  if (isSame(read, wanted) || isSame(wanted, now)) return now;
  if (isSame(read, now)) return wanted;
  if (isGroup(read) && isGroup(wanted) && isGroup(now)) {
    const names = [...new Set([...Object.keys(now), ...Object.keys(wanted)])];
    return Object.fromEntries(
      names.map((name) => {
        const versions = { read: read[name], wanted: wanted[name], now: now[name] };
        return [name, merge(versions, key === '' ? name : `${key}.${name}`, conflicts)];
      }),
    );
  }
  conflicts.push({ key, before: JSON.stringify(read), after: JSON.stringify(now) });
  return now;
}

/**
 * What is stored after a change: what nobody here knows stays, but for that within a list which changed.
 * @param known what was understood of `stored`, from which `after` was made
 */
export function overStored(stored: unknown, known: unknown, after: unknown): unknown {
  if (!isGroup(stored) || !isGroup(known) || !isGroup(after))
    return stored !== undefined && isSame(known, after) ? stored : after;
  const unknown = Object.entries(stored).filter(([key]) => !(key in known));
  const entries = Object.entries(after).map(([key, value]) => [
    key,
    overStored(stored[key], known[key], value),
  ]);
  return Object.fromEntries([...unknown, ...entries]);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
