import * as z from 'zod';
import { ROLES } from '../../contract/console.ts';
import { number, text } from '../../domain/forms.ts';

/** The session of a person who signed in to the console. Only the hash of its id is stored. */
export const ConsoleSession = z.lazy(() =>
  z.object({
    person: text,
    /** The role for each connection; `*` stands for all connections. */
    roles: z.record(text, z.enum(ROLES)),
    sinceMs: number,
    expiresMs: number,
  }),
);
export type ConsoleSession = z.infer<typeof ConsoleSession>;

export type FoundSession = ConsoleSession & { readonly hash: string };
