import * as z from 'zod';
import { MAX_SEQUENCE_DIGITS, normaliseInstant } from '../../domain/stamp.ts';
import { isVisible } from '../../domain/visible.ts';
import { MAX_ID_LENGTH, MAX_NAME_LENGTH } from './bounds.ts';

/*
 * Returns the type of a wrong value, and the length of a text. Error texts contain these instead of the value, because
 * the value may be a name or an address, and the log contains the error texts.
 */
const kindOf = (input: unknown): string => {
  if (input === undefined) return 'nothing';
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  return typeof input === 'string' ? `text of ${input.length} characters` : `a value of type ${typeof input}`;
};

export const expecting = (what: string) => ({
  error: (issue: { readonly input?: unknown }) => `expected ${what}, got ${kindOf(issue.input)}`,
});

/** Half of a surrogate pair. UTF-8 cannot express it, so two different ids that contain it could become equal. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

function text(what: string, longest: number) {
  const expected = expecting(`${what} of 1 to ${longest} characters`);
  return z.string(expected).check(
    z.minLength(1, expected),
    z.maxLength(longest, expected),
    z.refine((value) => !LONE_SURROGATE.test(value), expecting(`${what} that is valid Unicode`)),
  );
}

/** A stable id of the directory, stored unchanged. */
export const Identifier = text('an id', MAX_ID_LENGTH);
export const GroupName = text('a name', MAX_NAME_LENGTH).refine(
  (name) => name === '' || isVisible(name),
  expecting('a name with a visible character'),
);

export const Instant = z
  .string(expecting('an RFC 3339 time'))
  .refine((value) => normaliseInstant(value) !== undefined, expecting('an RFC 3339 time'))
  .meta({ format: 'date-time' });

const sequenceExpected = expecting(`a sequence of 1 to ${MAX_SEQUENCE_DIGITS} digits`);

/**
 * The CloudEvents extension `sequence`. The value may be a JSON number that JavaScript represents exactly (CloudEvents
 * JSON format, 2.2).
 */
export const Sequence = z.lazy(() =>
  z
    .union(
      [
        z.string().regex(new RegExp(`^[0-9]{1,${MAX_SEQUENCE_DIGITS}}$`), sequenceExpected),
        z.int(sequenceExpected).min(0, sequenceExpected).max(Number.MAX_SAFE_INTEGER, sequenceExpected),
      ],
      sequenceExpected,
    )
    .transform(String),
);

export const ConnectionText = z
  .string(expecting('a connection name [a-z0-9-]{1,32}'))
  .regex(/^[a-z0-9-]{1,32}$/, expecting('a connection name [a-z0-9-]{1,32}'));
