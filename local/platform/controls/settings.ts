import * as z from 'zod';

/** How the simulator behaves where the specification leaves a choice; changed by `POST /_simulator/settings`. */
export const Settings = z.strictObject({
  staleVersionStatus: z.literal([409, 412, 400, 422]),
  /** Whether the version that a PATCH carries is compared; a PUT's always is. */
  enforceVersionOnPatch: z.boolean(),
  /** Whether PUT and PATCH without a version are refused. */
  requireVersion: z.boolean(),
  echoSpokeId: z.boolean(),
  /** Per credential; null means no limit. */
  requestsPerSecond: z.number().positive().nullable(),
  /** What `next` is on the last page of the activity feed. */
  endOfFeed: z.enum(['same', 'null', 'absent', 'empty']),
});
export type Settings = z.infer<typeof Settings>;

export const DEFAULT_SETTINGS: Settings = {
  staleVersionStatus: 409,
  enforceVersionOnPatch: true,
  requireVersion: false,
  echoSpokeId: true,
  requestsPerSecond: null,
  endOfFeed: 'same',
};
