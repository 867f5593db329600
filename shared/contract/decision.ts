import * as z from 'zod';
import { HoldDecision } from '../domain/hold.ts';
import { connectionName, groupId, platformUserId } from '../domain/ids.ts';
import { PROTECTED_SETTINGS } from './weakening.ts';

const connection = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/)
  .transform(connectionName);

/** The same fields as `SettingRequestRow`. The function does not need the other answers, which are large. */
const RequestRow = z.lazy(() =>
  z.object({
    key: z.enum(PROTECTED_SETTINGS),
    before: z.string(),
    after: z.string(),
    by: z.string(),
    at: z.string(),
  }),
);

/**
 * The payload that an operator sends to `reconcile`: a decision about a hold, a decision about requested changes of
 * settings, or the order to probe the platform.
 */
export const Decision = z.lazy(() =>
  z.discriminatedUnion('about', [
    z.object({
      about: z.literal('hold'),
      connection,
      group: z.string().min(1).transform(groupId),
      isApproved: z.boolean(),
      /** Only these removals; without it, all. */
      users: z.array(z.string().transform(platformUserId)).optional(),
      request: z.object({
        reason: z.string(),
        digest: z.string().optional(),
        decision: HoldDecision.optional(),
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
