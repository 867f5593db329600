/** What somebody else did to a group on the platform. */
export const DRIFT_KINDS = [
  'name',
  'members_added',
  'members_removed',
  'deleted',
  'recreated',
  'spoke_id',
  'duplicate_spoke_id',
] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** One difference, before somebody changed the platform and after; lists are sorted. */
export interface Difference {
  readonly kind: DriftKind;
  readonly before: string | readonly string[] | null;
  readonly after: string | readonly string[] | null;
}
