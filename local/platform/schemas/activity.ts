import * as z from 'zod';

export const INITIATOR_TYPES = ['ROLE', 'SYSTEM', 'EXTERNAL'] as const;

/** Specification, "Activity event". */
export const ActivityEvent = z
  .object({
    id: z.string(),
    request_data: z.unknown(),
    linked_events: z.array(z.unknown()),
    subjects: z.array(
      z.object({
        instance: z.string(),
        type: z.string(),
        display_name: z.string(),
        icon: z.string().nullable(),
      }),
    ),
    event_type: z.string(),
    timestamp: z.string(),
    company: z.string(),
    spoke: z.string(),
    owner: z.string(),
    initiator: z.object({
      type: z.string(),
      role: z.string().nullable(),
      display_name: z.string(),
      icon: z.string().nullable(),
    }),
    event_reason: z.object({ reason: z.string(), message: z.string() }),
    name: z.string(),
  })
  .meta({ id: 'ActivityEvent' });
export type ActivityEvent = z.infer<typeof ActivityEvent>;

export const ActivityPage = z
  .object({
    data: z.object({ events: z.array(ActivityEvent), next: z.string().nullable().optional() }).nullable(),
    error: z.unknown(),
  })
  .meta({ id: 'ActivityPage' });

/**
 * All events of one change of a group, in this order: the event of the group itself, members removed, members added.
 * They are stored together. Otherwise a change of 20,000 members would store its group and initiator 20,000 times.
 */
export const ActivityBatch = z.object({
  atMs: z.number(),
  group: z.object({ id: z.string(), name: z.string() }),
  change: z.enum(['created', 'changed', 'deleted', 'members']),
  removed: z.array(z.string()),
  added: z.array(z.string()),
  initiator: z.object({
    type: z.enum(INITIATOR_TYPES),
    role: z.string().nullable(),
    displayName: z.string(),
  }),
  spoke: z.string(),
});
export type ActivityBatch = z.infer<typeof ActivityBatch>;
export type Initiator = ActivityBatch['initiator'];
