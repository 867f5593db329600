import * as z from 'zod';
import { type Frozen, text } from './forms.ts';
import { eachField, GROUP_FIELDS } from './group-fields.ts';

export const DRIFT_KINDS = [
  ...Object.values(eachField((field) => GROUP_FIELDS[field].drift)),
  ...([
    'members_added',
    'members_removed',
    'deleted',
    'recreated',
    'duplicate_spoke_id',
    'unknown_users',
  ] as const),
];
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** How a difference was settled: groupsync restored it, only reported it, or lets it stay (`adopt`). */
export type Settlement = 'restore' | 'report' | 'adopt';

/** The prefix of drift ids that begin with a time. All other drift ids are hex hashes, which sort before `g`. */
export const DATED = 'g';

/** The initiator of a difference that no event of the feed explains. */
export const UNKNOWN_INITIATOR = 'UNKNOWN';

/** The actor that the feed names. The actor is personal data and must not be logged. */
export const Actor = z.lazy(() => z.object({ role: text.nullable(), name: text.nullable() }));
export type Actor = Frozen<z.infer<typeof Actor>>;

export const ActivityEvent = z.lazy(() =>
  z.object({
    id: text,
    /** `ROLE`, `SYSTEM`, `EXTERNAL`, or a value that the specification does not list. */
    initiator: text,
    actor: Actor.exactOptional(),
    /** The `event_type` of the feed. The specification lists only some of its values. */
    type: text,
    /** The timestamp in the form of the feed. */
    at: text.nullable(),
  }),
);
export type ActivityEvent = Frozen<z.infer<typeof ActivityEvent>>;

/** One external change, with the value before and after it. Lists are sorted. */
export interface Difference {
  readonly kind: DriftKind;
  readonly before: string | readonly string[] | null;
  readonly after: string | readonly string[] | null;
}
