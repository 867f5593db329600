import * as z from 'zod';
import { type Frozen, text } from './forms.ts';
import { eachField, GROUP_FIELDS } from './group-fields.ts';

/** The kinds of external changes to a platform group. */
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

/** Begins an id that sorts by when the difference came to be, behind those that tell no time, which are bare hashes. */
export const DATED = 'g';

/** Stands for the initiator where no event told of a difference. */
export const UNKNOWN_INITIATOR = 'UNKNOWN';

/** Who it was, as the feed says: personal, so never in a log. */
export const Actor = z.lazy(() => z.object({ role: text.nullable(), name: text.nullable() }));
export type Actor = Frozen<z.infer<typeof Actor>>;

/** One event of the activity feed about a platform group: who did something, and of what kind. */
export const Trace = z.lazy(() =>
  z.object({
    id: text,
    /** `ROLE`, `SYSTEM`, `EXTERNAL`, or whatever else the platform says. */
    initiator: text,
    actor: Actor.exactOptional(),
    /** `event_type` of the specification; most values are listed nowhere. */
    type: text,
    /** Timestamp as the feed gave it. */
    at: text.nullable(),
  }),
);
export type Trace = Frozen<z.infer<typeof Trace>>;

/** One external change: the value before and after it. Lists are sorted. */
export interface Difference {
  readonly kind: DriftKind;
  readonly before: string | readonly string[] | null;
  readonly after: string | readonly string[] | null;
}
