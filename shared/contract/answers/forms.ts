import * as z from 'zod';
import type { Frozen } from '../../domain/forms.ts';

export const text = z.string();
export const count = z.int().min(0);
export const instant = z.iso.datetime();
/** A duration in milliseconds. If the name of the field ends in `sinceMs`, a time in milliseconds since 1970. */
export const ms = z.number();

export const nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

export const Version = nullable(z.union([text, z.number()])).describe(
  "The group's version as the platform sent it: text or a number. A number that is too long for JSON parsers is sent as the text number:<digits>.",
);

/** The read-only form of the type that a schema describes. */
export type Answer<Schema extends z.ZodType> = Frozen<z.infer<Schema>>;
