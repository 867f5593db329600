import * as z from 'zod';

/** Behaviour that the specification leaves open. `POST /_simulator/settings` changes these settings. */
export const Settings = z.strictObject({
  staleVersionStatus: z.literal([409, 412, 400, 422]),
  /** Whether PATCH compares the version in its body with the group's version. PUT always does so. */
  enforceVersionOnPatch: z.boolean(),
  /** Whether PUT and PATCH without a version are rejected. */
  requireVersion: z.boolean(),
  echoSpokeId: z.boolean(),
  /** The limit of requests per second for each credential; null means no limit. */
  requestsPerSecond: z.number().positive().nullable(),
  /** The value of `next` on the last page of the activity feed. */
  endOfFeed: z.enum(['same', 'null', 'absent', 'empty']),
  /** Format of a feed page: `{data: {events, next}, error}`, or `{events, next}` at the top level. */
  feedEnvelope: z.enum(['data', 'flat']),
  /** Format of a feed page without events: an empty list, `events: null`, or `data: null`. */
  emptyFeedPage: z.enum(['list', 'nullEvents', 'nullData']),
  /** Format of a group's version: text, a number, or a number that is too large for exact JavaScript numbers. */
  versionForm: z.enum(['text', 'number', 'longNumber']),
  createdStatus: z.literal([200, 201]),
  /** If true, empty ids in `users` are dropped. If false, the request is rejected. */
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
