import type * as z from 'zod';
import type { DirectoryChange, EventActor } from '../../domain/event.ts';
import type { DeadLetterCode } from '../names.ts';

export type MessageReading = Changes | typeof IGNORED | Envelope | Invalid;

/** A value that has the shape of the adapter's format, but is not valid. */
export interface Invalid {
  readonly kind: 'invalid';
  readonly code: DeadLetterCode;
  readonly message: string;
}

/** The changes of one event or of one SCIM request. */
export interface Changes {
  readonly kind: 'changes';
  readonly source: string;
  /** Absent if the event has no time. The envelope or the delivery then gives the time. */
  readonly time?: string | undefined;
  readonly id?: string | undefined;
  readonly sequence?: string | undefined;
  readonly connection?: string | undefined;
  readonly actor?: EventActor | undefined;
  /** The changes in the order in which they take effect. */
  readonly changes: readonly DirectoryChange[];
}

/** A message that contains events and no change of its own. */
export interface Envelope {
  readonly kind: 'envelope';
  readonly content: { readonly json: string } | { readonly value: unknown };
  /** The time of the envelope, for events without their own time. */
  readonly time?: string | undefined;
  readonly id?: string | undefined;
  readonly connection?: string | undefined;
  /** Whether groupsync ignores content that no adapter recognises. If false, such content is an error. */
  readonly carriesAnything: boolean;
}

/** Reads a JSON object in the format of the adapter; undefined if the object has another format. */
export type Adapter = (value: Readonly<Record<string, unknown>>) => MessageReading | undefined;

/** A valid event that changes no group and no member. */
export const IGNORED = { kind: 'ignored' } as const;

export const invalid = (message: string, code: DeadLetterCode = 'invalid_event'): Invalid => ({
  kind: 'invalid',
  code,
  message,
});

const SHOWN_ISSUES = 3;

/** Converts zod's issues to a rejection reason: the path, the expected value, and the received type. */
export function invalidBy(error: z.ZodError): Invalid {
  const lines = error.issues
    .slice(0, SHOWN_ISSUES)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = error.issues.length - SHOWN_ISSUES;
  if (more > 0) lines.push(`and ${more} more`);
  const tooMany = error.issues.some((issue) => issue.code === 'too_big' && issue.origin === 'array');
  return invalid(lines.join('; '), tooMany ? 'too_large' : 'invalid_event');
}
