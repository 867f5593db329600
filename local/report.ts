/** One group as `npm start -- --json` prints it. Scripts rely on the field names. */
export interface GroupReport {
  readonly connection: string;
  readonly id: string;
  readonly name: string | null;
  readonly platformId: string | null;
  readonly version: string | number | null;
  readonly state: 'in_sync' | 'dirty' | 'held' | 'failed' | 'paused' | 'deleted' | 'unnamed' | (string & {});
  /** Present members, pending included. */
  readonly wanted: number;
  /** Confirmed on the platform. */
  readonly applied: number;
  /** Platform ids, sorted. */
  readonly users: readonly string[];
  readonly pending: readonly { readonly id: string; readonly cause: string; readonly sinceMs: number }[];
  /** Why its changes are not written yet; null if they do not wait. */
  readonly waiting: { readonly until: string; readonly code: string; readonly reason: string } | null;
}
