import * as z from 'zod';

/** More is not advised (Workforce Platform API, Limits). */
export const MAX_PAGE_SIZE = 100;

/** Where a list begins and how large its pages are: `limit` items a page (1 to 100, default 100), after `offset`. */
export const PageQuery = z.strictObject({
  limit: z.int().check(z.gte(1), z.lte(MAX_PAGE_SIZE)).default(MAX_PAGE_SIZE),
  offset: z.int().min(0).default(0),
});
export type PageQuery = z.input<typeof PageQuery>;
