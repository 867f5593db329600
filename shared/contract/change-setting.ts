import type * as z from 'zod';
import { nearest } from './nearest.ts';
import { ConnectionSettings } from './settings.ts';

/** The error for invalid settings. `problems` has one line for each fault, in the form `key: expected …, got …`. */
export class InvalidSettingError extends Error {
  override readonly name = 'InvalidSettingError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('; '), options);
    this.problems = problems;
  }
}

/**
 * Checks settings from a file, a flag or the store, and adds the defaults.
 * @throws InvalidSettingError naming every fault by its dotted key.
 */
export function parseSettings(input: unknown): ConnectionSettings {
  const parsed = ConnectionSettings.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidSettingError(parsed.error.issues.map(describeIssue), { cause: parsed.error });
}

/** A stored setting with an invalid value. `text` has the form `key: expected …, got …`. */
export interface SettingProblem {
  readonly key: string;
  readonly value: unknown;
  readonly text: string;
}

/**
 * Splits stored settings into the `known` part, the `unknown` keys, which a newer release has written, and the
 * `problems`. An invalid part of a setting makes the whole setting invalid.
 */
export function readStored(stored: unknown) {
  const known = isGroup(stored) ? structuredClone<Level>(stored) : {};
  const issues = ConnectionSettings.safeParse(known).error?.issues ?? [];
  const problems = new Map<string, SettingProblem>();
  for (const issue of issues.filter(({ code }) => code !== 'unrecognized_keys')) {
    const key = String(issue.path[0]);
    problems.set(key, { key, value: known[key], text: describeIssue(issue) });
  }
  const unrecognized = issues.flatMap(({ path, ...issue }) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((name) => ({ path, name })) : [],
  );
  const unknown: string[] = [];
  for (const { path, name } of unrecognized) {
    const parent = path.reduce((level, key) => level[key as string] as Level, known);
    unknown.push([...path, name].join('.'));
    delete parent[name];
  }
  return {
    known: withoutProblems(known, new Set(problems.keys())),
    unknown,
    problems: [...problems.values()],
  };
}

/** Until the repair, weaker settings need a second person. No host has the address (RFC 2606). */
const SAFE: Readonly<Record<string, unknown>> = { fourEyes: true, baseUrl: 'https://platform.invalid' };

const withoutProblems = (known: Level, problems: ReadonlySet<string>): object => ({
  ...Object.fromEntries(Object.entries(known).filter(([key]) => !problems.has(key))),
  ...Object.fromEntries(Object.entries(SAFE).filter(([key]) => problems.has(key))),
});

type Level = { [key: string]: unknown };

const describeIssue = ({ path, message }: z.core.$ZodIssue): string =>
  `${path.length === 0 ? 'settings' : path.join('.')}: ${message}`;

/** Returns every key that can be set, including the keys of groups of settings: `guard`, `guard.minSize`, … */
export const settingKeys = (): readonly string[] =>
  keysOf(parseSettings({ baseUrl: 'https://platform.invalid' }));

function keysOf(settings: object, prefix = ''): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    return [`${prefix}${key}`, ...(isGroup(value) ? keysOf(value, `${prefix}${key}.`) : [])];
  });
}

/**
 * Returns the settings with one changed setting (`--setting KEY=VALUE`, `connections set`). If the guard is off (null),
 * a new value for one limit, such as `guard.minSize`, switches the guard on, with the defaults of the other limits.
 * @param key one of `settingKeys`, with dots between its parts
 * @param value the value after JSON parsing
 * @throws InvalidSettingError if the key is unknown or the value is not valid for the setting
 */
export function applySetting(settings: ConnectionSettings, key: string, value: unknown): ConnectionSettings {
  if (!settingKeys().includes(key)) {
    const known = nearest(key, settingKeys());
    const hint = known === undefined ? `expected one of ${settingKeys().join(', ')}` : `is it ${known}?`;
    throw new InvalidSettingError([`unknown setting "${key}"; ${hint}`]);
  }
  return parseSettings(withValueAt(settings, key.split('.'), value));
}

function withValueAt(level: unknown, [key, ...inner]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const before = isGroup(level) ? level : {};
  return { ...before, [key]: withValueAt(before[key], inner, value) };
}

export interface SettingDifference {
  readonly key: string;
  /** Values as JSON. */
  readonly before: string;
  readonly after: string;
}

/** Returns the settings that differ. A group of settings such as `guard` counts as one setting. */
export function differingSettings(before: ConnectionSettings, after: ConnectionSettings) {
  const keys = Object.keys(after) as (keyof ConnectionSettings)[];
  return keys
    .map((key) => ({
      key,
      before: JSON.stringify(before[key] ?? null),
      after: JSON.stringify(after[key] ?? null),
    }))
    .filter((one) => one.before !== one.after);
}

/** A person read `read` and wants `wanted`. Meanwhile another person stored `now`. */
interface Versions<Value = ConnectionSettings> {
  readonly read: Value;
  readonly wanted: Value;
  readonly now: Value;
}

/** Returns the settings with both changes. `conflicts` has the keys with two different new values. */
export function mergeSettings(versions: Versions) {
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
 * Returns the settings to store after a change. Settings that this release does not know keep their stored value,
 * except in a list that changed.
 * @param known the part of `stored` that this release knows, before the change
 */
export function overStored(stored: unknown, known: unknown, after: unknown): unknown {
  if (!isGroup(stored) || !isGroup(known) || !isGroup(after))
    return stored !== undefined && isSame(known, after) ? stored : after;
  const unknown = Object.entries(stored).filter(([key]) => !Object.hasOwn(known, key));
  const entries = Object.entries(after).map(([key, value]) => [
    key,
    overStored(stored[key], known[key], value),
  ]);
  return Object.fromEntries([...unknown, ...entries]);
}

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
