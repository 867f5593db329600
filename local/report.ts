/** One group as `npm start -- --json` prints it. The field names are public. */
export interface GroupReport {
  readonly connection: string;
  readonly id: string;
  readonly name: string | null;
  readonly platformId: string | null;
  readonly version: string | number | null;
  readonly state: 'in_sync' | 'dirty' | 'held' | 'failed' | 'paused' | 'deleted' | 'unnamed' | (string & {});
  /** Members in the directory, including pending ones. */
  readonly wanted: number;
  /** Members confirmed on the platform. */
  readonly applied: number;
  /** Platform user ids, sorted. */
  readonly users: readonly string[];
  readonly pending: readonly { readonly id: string; readonly cause: string; readonly sinceMs: number }[];
  /** The reason why the group's changes are not written yet; null if nothing delays the changes. */
  readonly waiting: { readonly until: string; readonly code: string; readonly reason: string } | null;
}
