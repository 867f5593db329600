import * as z from 'zod';
import { HoldDecision } from '../domain/hold.ts';
import { connectionName, groupId, platformUserId } from '../domain/ids.ts';
import { PROTECTED_SETTINGS } from './weakening.ts';

const connection = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/)
  .transform(connectionName);

/** The fields of `SettingRequestRow`, defined again to avoid the import of all answers. */
const RequestRow = z.lazy(() =>
  z.object({
    key: z.enum([...PROTECTED_SETTINGS, 'unblock']),
    before: z.string(),
    after: z.string(),
    by: z.string(),
    at: z.string(),
  }),
);

/** An operator's decision: about a hold, about a change of settings, or to probe the platform. */
export const Decision = z.lazy(() =>
  z.discriminatedUnion('about', [
    z.object({
      about: z.literal('hold'),
      connection,
      group: z.string().min(1).transform(groupId),
      isApproved: z.boolean(),
      /** The removals to decide about; absent for all removals of the hold. */
      users: z.array(z.string().transform(platformUserId)).optional(),
      request: z.object({
        reason: z.string(),
        digest: z.string().optional(),
        decision: HoldDecision.optional(),
        isAdministrator: z.boolean().optional(),
      }),
    }),
    z.object({
      about: z.literal('settings'),
      connection,
      isConfirmed: z.boolean(),
      shown: z.array(RequestRow),
    }),
    z.object({ about: z.literal('probe'), connection }),
  ]),
);
export type Decision = z.infer<typeof Decision>;
