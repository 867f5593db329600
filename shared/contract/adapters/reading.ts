import type * as z from 'zod';
import type { DirectoryChange, EventActor } from '../../domain/event.ts';
import type { DeadLetterCode } from '../names.ts';

export type Reading = Changes | typeof IGNORED | Envelope | Invalid;

/** A value that has the shape of the adapter's format, but is not valid. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly code: DeadLetterCode;
  readonly message: string;
}

/** The changes of one event, or of one request (the operations of a SCIM PATCH, in order). */
export interface Changes {
  readonly kind: 'changes';
  readonly source: string;
  /**
   * Absent if the format has no time. Then the time of the envelope is used, or without an envelope the time of the
   * delivery.
   */
  readonly time?: string | undefined;
  readonly id?: string | undefined;
  readonly sequence?: string | undefined;
  readonly connection?: string | undefined;
  readonly actor?: EventActor | undefined;
  /** In the order in which they take effect. */
  readonly changes: readonly DirectoryChange[];
}

/** A message that contains other events and has no change of its own. */
export interface Envelope {
  readonly kind: 'envelope';
  readonly content: { readonly json: string } | { readonly value: unknown };
  /** Time and id of the envelope. They are used for contents that have no time and id of their own. */
  readonly time?: string | undefined;
  readonly id?: string | undefined;
  readonly connection?: string | undefined;
  /** Whether content that no adapter recognises is ignored as unrelated. Otherwise such content is an error. */
  readonly carriesAnything: boolean;
}

/** Reads a JSON object that has the shape of the adapter's format; undefined if it has another shape. */
export type Adapter = (value: Readonly<Record<string, unknown>>) => Reading | undefined;

/** A valid event that changes no group and no member. */
export const IGNORED = { kind: 'ignored' } as const;

export const invalid = (message: string, code: DeadLetterCode = 'invalid_event'): Invalid => ({
  kind: 'invalid',
  code,
  message,
});

const SHOWN_ISSUES = 3;

/**
 * Converts the issues of zod to the reason of a dead-lettered message: the place, the expected value, and the type of
 * the actual value.
 */
export function invalidBy(error: z.ZodError): Invalid {
  const lines = error.issues
    .slice(0, SHOWN_ISSUES)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = error.issues.length - SHOWN_ISSUES;
  if (more > 0) lines.push(`and ${more} more`);
  const tooMany = error.issues.some((issue) => issue.code === 'too_big' && issue.origin === 'array');
  return invalid(lines.join('; '), tooMany ? 'too_large' : 'invalid_event');
}
