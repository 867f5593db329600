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
  /** Whether the feed comes in `{data: {events, next}, error}`, or as `{events, next}` at the top level. */
  feedEnvelope: z.enum(['data', 'flat']),
  /** How a page of the feed without events comes: as an empty list, as `events: null`, or as `data: null`. */
  emptyFeedPage: z.enum(['list', 'nullEvents', 'nullData']),
  /** How groups show their version: as text, as a number, or as a number with more digits than JavaScript keeps. */
  versionForm: z.enum(['text', 'number', 'longNumber']),
  /** The status of a successful POST of a group. */
  createdStatus: z.literal([200, 201]),
  /** Whether empty ids in `users` are dropped; otherwise they are refused. */
  dropBlankIds: z.boolean(),
  /** Whether a write that changes nothing keeps the group's version. */
  keepVersionIfUnchanged: z.boolean(),
});
export type Settings = z.infer<typeof Settings>;

export const DEFAULT_SETTINGS: Settings = {
  staleVersionStatus: 409,
  enforceVersionOnPatch: true,
  requireVersion: false,
  echoSpokeId: true,
  requestsPerSecond: null,
  endOfFeed: 'same',
  feedEnvelope: 'data',
  emptyFeedPage: 'list',
  versionForm: 'text',
  createdStatus: 200,
  dropBlankIds: false,
  keepVersionIfUnchanged: true,
};
