import { createHash } from 'node:crypto';
import { ANSWER_PREFIX } from '../sync/ports/platform.ts';

/** Only ids, counts, codes and durations. A token, an e-mail address or a name is never logged (invariant 10). */
export type LogFields = {
  readonly [name: string]: string | number | boolean | null | undefined | readonly string[] | LogFields;
};

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a logger with additional fields in every line. */
  with(fields: LogFields): Logger;
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

export interface LoggerOptions {
  readonly level: Level;
  readonly clock: () => number;
  /** Writes a line. Lambda logs standard output. */
  readonly write: (line: string) => void;
}

/** One JSON object per line. */
export function createLogger(options: LoggerOptions, context: LogFields = {}): Logger {
  const log =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(level) < LEVELS.indexOf(options.level)) return;
      const time = new Date(options.clock()).toISOString();
      options.write(JSON.stringify({ time, level, message, ...context, ...fields }, withoutPeople));
    };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (fields) => createLogger(options, { ...context, ...fields }),
  };
}

const ADDRESS = /[^\s"'<>(),;:]+@[^\s"'<>(),;:]+/g;

/**
 * Removes personal data from a text. Some directories use an address as the id of a group or person, so addresses are
 * replaced by a pseudonym. The platform's own error text may contain names, so the result ends where that text begins.
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
 * The names and messages of an error and its causes, for the log. Messages of groupsync contain only ids, and are cut
 * before text of the platform. A message of a library may quote any data, so only the name of such an error is logged.
 */
export const errorFields = (error: unknown) => ({ error: chainOf(error) });

/** Like `errorFields`, but as an error that a function throws. Lambda logs such an error completely. */
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
  /^(?:StoreError|UnstorableError|CorruptItemError|PlatformFailure|ConfigError|SecretError|DirectoryError|ListingError|LeaseLostError|Error)$/;
