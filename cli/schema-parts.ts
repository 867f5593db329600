import { z } from 'zod';

export const text = z.string();
export const count = z.int().min(0);
export const instant = z.iso.datetime();
/** A duration, or milliseconds since 1970 where the name ends in `sinceMs`. */
export const ms = z.number();
export const nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

export const Change = z.object({
  kind: text,
  member: nullable(text).optional(),
  before: nullable(text),
  after: nullable(text),
  reason: text,
});

export const Credential = z
  .object({
    goodAt: nullable(instant).describe('When it was last found good; null: never checked.'),
    goodAgeMs: nullable(ms),
    failure: nullable(z.object({ at: instant, message: text })).describe('Since it was last good.'),
  })
  .describe('What the daily check, or connect, found.');
