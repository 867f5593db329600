import * as z from 'zod';
import { openEnum, text } from './field.ts';

const Subject = z.lazy(() =>
  z.object({
    instance: text,
    type: openEnum(['GROUP', 'SPOKE_USER', 'ROLE', 'SPOKE', 'RPASS_ITEM']).nullish(),
    display_name: text,
    icon: text,
  }),
);

const Initiator = z.lazy(() =>
  z.object({
    type: openEnum(['ROLE', 'SYSTEM', 'EXTERNAL']).nullish(),
    role: text,
    display_name: text,
    icon: text,
  }),
);

/**
 * Workforce Platform API, Activity event, under the specification's own names. Types appear that nobody listed: an
 * unknown `event_type`, subject or initiator is data.
 */
export const ActivityEvent = z.lazy(() =>
  z.object({
    id: z.string().min(1),
    request_data: z.unknown().optional(),
    linked_events: z.array(z.unknown()).nullish(),
    subjects: z.array(Subject).nullish(),
    event_type: openEnum([
      'EXTERNAL_GROUP_ADD',
      'EXTERNAL_GROUP_REMOVE',
      'EXTERNAL_GROUP_MEMBER_ADD',
      'EXTERNAL_GROUP_MEMBER_REMOVE',
    ]).nullish(),
    timestamp: text,
    company: text,
    spoke: text,
    owner: text,
    initiator: Initiator.nullish(),
    event_reason: z.object({ reason: text, message: text }).nullish(),
    name: text,
  }),
);
export type ActivityEvent = z.infer<typeof ActivityEvent>;

/** The feed's envelope. A null, absent or empty `next` all mean "no more for now". */
export const ActivityEnvelope = z.lazy(() =>
  z.object({
    data: z.object({ events: z.array(ActivityEvent), next: text }),
  }),
);
export type ActivityEnvelope = z.infer<typeof ActivityEnvelope>;
