import type { Difference } from '../../domain/drift.ts';
import type { ConnectionName, GroupId, GroupRef, PlatformGroupId } from '../../domain/ids.ts';
import type { Attribution } from '../../plan/attribute.ts';

export type DriftSettlement = 'restore' | 'report' | 'adopt';

/** A difference on the platform that we did not make: who made it, and how it ended. */
export interface DriftRecord extends Difference {
  /** The same difference found again is the same record: hash of group, platform group, observed version and kind. */
  readonly id: string;
  readonly group: GroupId;
  readonly platformId: PlatformGroupId | null;
  /** `ROLE`, `SYSTEM` or `EXTERNAL`, as the activity feed says; `UNKNOWN` where no event told of it. */
  readonly initiator: string;
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
