import * as z from 'zod';

/** Reads an integer in a query string. Any other text gives a 400 with the expected range. */
export const integerParameter = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string({ error: 'expected one value' })
    .regex(/^[+-]?\d{1,15}$/, 'expected an integer')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const booleanParameter = z
  .string({ error: 'expected one value' })
  .toLowerCase()
  .pipe(z.enum(['true', 'false'], { error: 'expected true or false' }))
  .transform((text) => text === 'true')
  .pipe(z.boolean());

/** Specification, "Endpoints": `limit` is the number of values to return. `offset` is the number of values to skip. */
export const Pagination = z.object({
  limit: integerParameter(0).optional(),
  offset: integerParameter(0).optional(),
});

/** Returns the requested part of a list. Without a limit, the part ends at the end of the list. */
export function page<T>(items: readonly T[], query: z.infer<typeof Pagination>): readonly T[] {
  const offset = query.offset ?? 0;
  if (offset === 0 && query.limit === undefined) return items;
  return items.slice(offset, query.limit === undefined ? undefined : offset + query.limit);
}
