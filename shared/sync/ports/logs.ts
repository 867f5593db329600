import type { Actor, Difference } from '../../domain/drift.ts';
import type { ConnectionName, GroupId, GroupRef, IntentId, PlatformGroupId } from '../../domain/ids.ts';
import type { Attribution } from '../../plan/attribute.ts';

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

export type DriftSettlement = 'restore' | 'report' | 'adopt';

/** A difference on the platform that we did not make: who made it, and how it ended. */
export interface DriftRecord extends Difference {
  /** The same difference found again is the same record: hash of group, platform group, our view before it, and kind. */
  readonly id: string;
  readonly group: GroupId;
  readonly platformId: PlatformGroupId | null;
  /** `ROLE`, `SYSTEM` or `EXTERNAL`, as the activity feed says; `UNKNOWN` where no event told of it. */
  readonly initiator: string;
  readonly actor?: Actor;
  readonly eventIds: readonly string[];
  readonly policy: DriftSettlement;
  readonly detectedAtMs: number;
  readonly settledBy: DriftSettlement | null;
  readonly settledAtMs: number | null;
}

export interface DriftLog {
  /** false where it was known already: it stays as it is. */
  record(connection: ConnectionName, drift: DriftRecord): Promise<boolean>;
  /** The first settlement stands. */
  settle(
    ref: GroupRef,
    ids: readonly string[],
    how: { readonly by: DriftSettlement; readonly atMs: number },
  ): Promise<void>;
  /** Names who made a difference that was found before the feed told of it; the first name stands. */
  attribute(ref: GroupRef, id: string, attribution: Attribution): Promise<void>;
  /** Those of these ids that there are. */
  read(ref: GroupRef, ids: readonly string[]): Promise<readonly DriftRecord[]>;
  list(connection: ConnectionName): AsyncIterable<readonly DriftRecord[]>;
  ofGroup(ref: GroupRef): AsyncIterable<readonly DriftRecord[]>;
  /** Found or settled at or after the instant; up to a second or so behind. */
  since(connection: ConnectionName, atMs: number): AsyncIterable<readonly DriftRecord[]>;
}
