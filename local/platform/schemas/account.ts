import * as z from 'zod';

/** Specification, "Current user". */
export const CurrentUser = z
  .object({ id: z.string(), workEmail: z.string().nullable(), company: z.string() })
  .meta({ id: 'CurrentUser' });

export const Ok = z.object({ ok: z.literal(true) }).meta({ id: 'Ok' });
