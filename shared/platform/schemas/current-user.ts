import * as z from 'zod';
import { text } from './field.ts';

/** Workforce Platform API, Current user. `company` is the company's id. */
export const CurrentUser = z.lazy(() =>
  z.object({ id: z.string().min(1), workEmail: text, company: z.string().min(1) }),
);
export type CurrentUser = z.infer<typeof CurrentUser>;

/** Answer of the installation call. */
export const Installation = z.lazy(() => z.object({ ok: z.literal(true) }));
export type Installation = z.infer<typeof Installation>;
