import * as z from 'zod';
import { platformGroupId, roleId } from '../domain/ids.ts';
import { MATCHABLE_EMPLOYEE_FIELDS } from './match-rule.ts';

/*
 * Only functions may read the credential of the platform. A command that needs data of the platform sends a question to
 * the function `reconcile`. The function uses the stored settings of the connection, and changes nothing on the
 * platform.
 */

const fields = z.lazy(() =>
  z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('field'), name: z.enum(MATCHABLE_EMPLOYEE_FIELDS) }),
      z.object({ kind: z.literal('customField'), title: z.string() }),
    ]),
  ),
);

/** The part of a list that begins at this position. */
const Part = z.lazy(() =>
  z.object({
    from: z.number().int().min(0),
    /** The digest of the list that contained the earlier parts. */
    digest: z.string().optional(),
  }),
);
export type Part = z.infer<typeof Part>;

export const PlatformQuestion = z.lazy(() =>
  z.union([
    z.object({ group: z.string().transform(platformGroupId) }),
    z.object({ groups: Part }),
    z.object({ employee: z.string().transform(roleId), fields }),
    z.object({ employees: Part, fields, states: z.array(z.string()) }),
    /** Check the credential, as the command `doctor` does. */
    z.object({ credential: z.literal('check') }),
  ]),
);
export type PlatformQuestion = z.infer<typeof PlatformQuestion>;
