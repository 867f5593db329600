import { createHash } from 'node:crypto';
import { ANSWER_PREFIX } from '../sync/ports/platform.ts';

/** A log line contains ids, counts, codes and durations, and no token, e-mail address or name (invariant 10). */
type LogFields = {
  readonly [name: string]: string | number | boolean | null | undefined | readonly string[] | LogFields;
};

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  with(fields: LogFields): Logger;
}

export const LEVELS = ['info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

interface LoggerOptions {
  readonly level: Level;
  readonly clock: () => number;
  /** Writes a line to standard output, which Lambda logs. */
  readonly write: (line: string) => void;
}

export function createLogger(options: LoggerOptions, context: LogFields = {}): Logger {
  const log =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(level) < LEVELS.indexOf(options.level)) return;
      const time = new Date(options.clock()).toISOString();
      options.write(JSON.stringify({ time, level, message, ...context, ...fields }, withoutPeople));
    };
  return {
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (fields) => createLogger(options, { ...context, ...fields }),
  };
}

const ADDRESS = /[^\s"'<>(),;:]+@[^\s"'<>(),;:]+/g;

/**
 * Removes personal data from a text. Some directories use an e-mail address as the id of a group or person, so each
 * address becomes a pseudonym. The platform's own error text may contain names, so it is cut off.
 */
function impersonal(text: string): string {
  const [ours = ''] = text.split(ANSWER_PREFIX);
  return ours.includes('@') ? ours.replace(ADDRESS, addressName) : ours;
}

const withoutPeople = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? impersonal(value) : value;

const addressName = (address: string): string =>
  `address-${createHash('sha256').update(address).digest('hex').slice(0, 12)}`;

const MAX_CAUSES = 5;

/**
 * Returns the names and messages of an error and its causes, for the log. A message of groupsync contains only ids,
 * apart from quoted text of the platform, which is cut off. A message of a library may quote any data, so only the
 * error's name is logged. Errors with the name `Error` count as errors of groupsync.
 */
export const errorFields = (error: unknown) => ({ error: chainOf(error) });

/** Returns the same facts as `errorFields`, as an error that a function may throw. Lambda logs the whole error. */
export const loggable = (error: unknown): Error =>
  new Error(chainOf(error).map(impersonal).join(', because of '));

function chainOf(error: unknown): readonly string[] {
  const chain: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    const { name, message } = current;
    chain.push(OURS.test(name) ? `${name}: ${message}` : name);
    current = current.cause;
  }
  return chain;
}

const OURS =
  /^(?:StoreError|UnstorableError|CorruptItemError|InvalidSettingsError|PlatformFailure|ConfigError|SecretError|DirectoryError|ListingError|LeaseEndedError|Error)$/;
