import type * as z from 'zod';
import { ConnectionSettings } from './settings.ts';

/** Settings that cannot be used; `problems` has one line per fault, each `key: expected …, got …`. */
export class InvalidSettingError extends Error {
  override readonly name = 'InvalidSettingError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('; '), options);
    this.problems = problems;
  }
}

/**
 * Checks settings from a file, a flag or the store and fills in the defaults.
 * @throws InvalidSettingError naming every fault by its dotted key.
 */
export function parseSettings(input: unknown): ConnectionSettings {
  const parsed = ConnectionSettings.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidSettingError(parsed.error.issues.map(describeIssue), { cause: parsed.error });
}

/** Stored settings without the keys that this release does not know: a newer one has written them. */
export function withoutUnknown(stored: unknown): {
  readonly known: unknown;
  /** Dotted keys. */
  readonly unknown: readonly string[];
} {
  const known = structuredClone(stored);
  const unknown: string[] = [];
  for (const { path, ...issue } of ConnectionSettings.safeParse(stored).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const parent = path.reduce((level, key) => level[key as string] as Level, known as Level);
    for (const key of issue.keys) {
      delete parent[key];
      unknown.push([...path, key].join('.'));
    }
  }
  return { known, unknown };
}

type Level = { [key: string]: unknown };

const describeIssue = (issue: z.core.$ZodIssue): string =>
  `${issue.path.length === 0 ? 'settings' : issue.path.join('.')}: ${issue.message}`;

/** Every key that can be set, parents included: `guard`, `guard.minSize`, … */
export const SETTING_KEYS: readonly string[] = keysOf(parseSettings({ baseUrl: 'https://platform.invalid' }));

function keysOf(settings: object, prefix = ''): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [`${prefix}${key}`, ...(isGroup ? keysOf(value, `${prefix}${key}.`) : [])];
  });
}

/**
 * The settings with one of them changed (`--setting KEY=VALUE`, `connections set`); the argument stays as it was.
 * Setting one limit of a guard that is off (`guard.minSize` over null) switches it on with the other defaults.
 * @param key dotted, one of SETTING_KEYS
 * @param value as parsed from JSON
 * @throws InvalidSettingError where the key is unknown or the value is not one the setting takes.
 */
export function applySetting(settings: ConnectionSettings, key: string, value: unknown): ConnectionSettings {
  if (!SETTING_KEYS.includes(key)) {
    throw new InvalidSettingError([`unknown setting "${key}"; expected one of ${SETTING_KEYS.join(', ')}`]);
  }
  const [outer = key, inner] = key.split('.');
  if (inner === undefined) return parseSettings({ ...settings, [outer]: value });
  const before = settings[outer as 'guard' | 'groups' | 'activity'];
  return parseSettings({ ...settings, [outer]: { ...before, [inner]: value } });
}
