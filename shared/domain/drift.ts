import { eachField, GROUP_FIELDS } from './group-fields.ts';

/** What somebody else did to a group on the platform. */
export const DRIFT_KINDS = [
  ...Object.values(eachField((field) => GROUP_FIELDS[field].drift)),
  ...(['members_added', 'members_removed', 'deleted', 'recreated', 'duplicate_spoke_id'] as const),
];
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** Stands for the initiator where no event told of a difference. */
export const NOBODY_KNOWN = 'UNKNOWN';

/** Who it was, as the feed says: personal, so never in a log. */
export type Actor = { readonly role: string | null; readonly name: string | null };

/** One event of the activity feed about a platform group: who did something, and of what kind. */
export interface Trace {
  readonly id: string;
  /** `ROLE`, `SYSTEM`, `EXTERNAL`, or whatever else the platform says. */
  readonly initiator: string;
  readonly actor?: Actor;
  /** `event_type` of the specification; most values are listed nowhere. */
  readonly type: string;
  /** Timestamp as the feed gave it. */
  readonly at: string | null;
}

/** One difference, before somebody changed the platform and after; lists are sorted. */
export interface Difference {
  readonly kind: DriftKind;
  readonly before: string | readonly string[] | null;
  readonly after: string | readonly string[] | null;
}
