import * as z from 'zod';

/** An integer as it stands in a query string; anything else is a 400 that says what was expected. */
export const integerParameter = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string({ error: 'expected one value' })
    .regex(/^[+-]?\d{1,15}$/, 'expected an integer')
    .transform(Number)
    .pipe(z.int().min(least).max(most));

export const booleanParameter = z
  .string({ error: 'expected one value' })
  .toLowerCase()
  .pipe(z.enum(['true', 'false'], { error: 'expected true or false' }))
  .transform((text) => text === 'true')
  .pipe(z.boolean());

/** Specification, "Endpoints": `limit` is how many values are returned, `offset` skips values. */
export const Pagination = z.object({
  limit: integerParameter(0).optional(),
  offset: integerParameter(0).optional(),
});

/** The part of a list that a query asks for; without a limit, everything after the offset. */
export function page<T>(items: readonly T[], query: z.infer<typeof Pagination>): readonly T[] {
  const offset = query.offset ?? 0;
  if (offset === 0 && query.limit === undefined) return items;
  return items.slice(offset, query.limit === undefined ? undefined : offset + query.limit);
}
