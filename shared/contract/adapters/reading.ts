import type * as z from 'zod';
import type { DirectoryChange, EventActor } from '../../domain/event.ts';
import type { DeadLetterCode } from '../names.ts';

/** What an adapter found in one JSON value. */
export type Reading = Changes | typeof IGNORED | Envelope | Invalid;

/** Of the adapter's shape, and yet not to be read. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly code: DeadLetterCode;
  readonly message: string;
}

/** One event, or the several that one request made (the operations of a SCIM PATCH, in order). */
export interface Changes {
  readonly kind: 'changes';
  readonly source: string;
  /** Absent if the format carries none: the envelope's or the delivery's is taken. */
  readonly time?: string | undefined;
  readonly id?: string | undefined;
  readonly sequence?: string | undefined;
  readonly connection?: string | undefined;
  readonly actor?: EventActor | undefined;
  /** Index of a change = its place in the order within this reading. */
  readonly changes: readonly DirectoryChange[];
}

/** Something that only carries events. */
export interface Envelope {
  readonly kind: 'envelope';
  readonly content: { readonly json: string } | { readonly value: unknown };
  /** When and as what the envelope was sent, for contents that do not say themselves. */
  readonly time?: string | undefined;
  readonly id?: string | undefined;
  readonly connection?: string | undefined;
  /** Whether contents that no adapter recognises are ignored as unrelated, not treated as a fault. */
  readonly carriesAnything: boolean;
}

/** Reads a JSON object if it is of the adapter's shape; undefined leaves it to the others. */
export type Adapter = (value: Readonly<Record<string, unknown>>) => Reading | undefined;

/** Understood, and no news of groups or members. */
export const IGNORED = { kind: 'ignored' } as const;

export const invalid = (message: string, code: DeadLetterCode = 'invalid_event'): Invalid => ({
  kind: 'invalid',
  code,
  message,
});

const SHOWN_ISSUES = 3;

/** A dead letter's reason from zod's issues: where, what was expected, what kind of thing came. */
export function invalidBy(error: z.ZodError): Invalid {
  const lines = error.issues
    .slice(0, SHOWN_ISSUES)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = error.issues.length - SHOWN_ISSUES;
  if (more > 0) lines.push(`and ${more} more`);
  const tooMany = error.issues.some((issue) => issue.code === 'too_big' && issue.origin === 'array');
  return invalid(lines.join('; '), tooMany ? 'too_large' : 'invalid_event');
}
