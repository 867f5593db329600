import type { GroupRef, IntentId } from '../../domain/ids.ts';

/** A change of a plan, as it is kept. */
export interface AuditedChange {
  readonly kind: string;
  readonly member?: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
}

/** One write to the platform, or its certain failure, for people to read later. Kept for 400 days. */
export interface AuditEntry {
  readonly atMs: number;
  readonly intent: IntentId;
  readonly action: string;
  /** The first thousand; `changeCount` says how many there were. */
  readonly changes: readonly AuditedChange[];
  readonly changeCount: number;
  readonly versionBefore: string | null;
  readonly versionAfter: string | null;
  readonly cause: string;
  readonly outcome: 'written' | 'found_written' | 'found_changed' | 'rejected';
}

export interface AuditLog {
  record(ref: GroupRef, entry: AuditEntry): Promise<void>;
  /** Newest first, in pages. */
  read(ref: GroupRef): AsyncIterable<readonly AuditEntry[]>;
}
