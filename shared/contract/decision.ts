import * as z from 'zod';
import { HoldDecision } from '../domain/hold.ts';
import { groupId, platformUserId } from '../domain/ids.ts';
import type { SettingRequestRow } from './answers/status.ts';
import { named as connection } from './invocation.ts';

export const DecisionRequest = z.lazy(() =>
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
      /** The open requests, unchecked: they only are compared with the stored requests. */
      shown: z.array(z.custom<SettingRequestRow>()),
    }),
    z.object({ about: z.literal('probe'), connection }),
  ]),
);
export type DecisionRequest = z.infer<typeof DecisionRequest>;
