import type { DriftKind } from '../../domain/drift.ts';
import type { GroupField } from '../../domain/group-fields.ts';
import type { GroupError, GroupState, Intent, WriteAction } from '../../domain/group-state.ts';
import type { IntentId, PlatformUserId } from '../../domain/ids.ts';
import type { Write } from '../../plan/decision.ts';
import type { Facts, Shown } from '../../plan/facts.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { AuditEntry, AuditLink } from '../ports/logs.ts';
import type { Platform, PlatformFailure } from '../ports/platform.ts';
import type { Reading } from '../reading.ts';

export interface ApplyContext extends Reading {
  readonly platform: Platform;
  readonly ports: ApplyPorts;
  /**
   * Adds an entry to the group's audit. The entry has links to two earlier entries. One is the latest entry of this
   * attempt, or of the last write if this attempt has none. The other is the entry of an operator's last action.
   */
  readonly record: (state: GroupState, entry: AuditEntry) => Promise<AuditLink>;
  /** Returns the times of the calls about the group that count towards the hourly limit. */
  readonly calledMs: () => readonly number[];
  /** A callback for each external change that was not recorded before. */
  readonly found: (kind: DriftKind) => void;
  readonly opened: (id: IntentId) => void;
  /** A callback for each version of the group that the platform shows. */
  readonly showed: (group: Shown) => void;
  readonly bisection: Bisection;
}

/** The facts of one pass. A pass decides and performs until it has a result, such as a write. */
export interface PassFacts extends Facts {
  readonly refused?: { readonly write: Write; readonly intent: Intent; readonly cause: PlatformFailure };
}

/**
 * The search for the refused part of a write. The search is necessary because the platform does not report which part
 * it refuses. The members are sent first, without name and external id: the removals without the additions, then the
 * additions in halves. After the members, each field is sent alone. So one refused part does not block the other
 * changes.
 */
export interface Bisection {
  /** The batches of additions that the search must still try, in order. */
  readonly batches: readonly (readonly PlatformUserId[])[];
  readonly refusals: number;
  /**
   * Whether the platform accepted a write of the group during the search. Such a write shows that the platform does not
   * refuse the whole group.
   */
  readonly hasWritten: boolean;
  /** The fields that wait until the members are written. Each field is then tried in a separate write. */
  readonly withheld: readonly GroupField[];
}

export const NO_BISECTION: Bisection = { batches: [], refusals: 0, hasWritten: false, withheld: [] };

/** Whether the search must try further parts after an accepted write. */
export const isUnfinished = ({ batches, withheld }: Bisection): boolean =>
  batches.length > 0 || withheld.length > 0;

/**
 * Returns the search after the platform accepted a write. The next pass sends the next batch of additions, or the next
 * field if no batch is left.
 */
export function afterWrite(bisection: Bisection): Bisection {
  const { batches, withheld } = bisection;
  return {
    ...bisection,
    batches: batches.slice(1),
    withheld: batches.length > 0 ? withheld : withheld.slice(1),
    hasWritten: true,
  };
}

export interface WriteMade {
  readonly action: WriteAction;
  readonly added: number;
  readonly removed: number;
}

export type NewGroupError = Omit<GroupError, 'atMs'>;

export type PassResult =
  /** The next pass follows immediately, with a new read of the group. */
  | { readonly kind: 'again' }
  /** The next pass follows immediately, because of an external change. */
  | { readonly kind: 'conflict' }
  /** The group waits for `waitMs`. If `waitMs` is undefined, the wait grows exponentially. */
  | {
      readonly kind: 'wait';
      readonly waitMs: number | undefined;
      readonly why: NewGroupError;
    }
  | { readonly kind: 'spent' }
  /** Another worker has changed the group's item during the pass. */
  | { readonly kind: 'superseded' }
  /** The group is settled, because no write is needed now. */
  | { readonly kind: 'in_sync' }
  | {
      readonly kind: 'written';
      readonly write: WriteMade;
      readonly clean: boolean;
      readonly isExternallyChanged: boolean;
      /**
       * The error if the platform answered with 200 but did not make the change. Apply retries with exponential
       * backoff.
       */
      readonly undone?: NewGroupError | undefined;
    }
  | { readonly kind: 'broken'; readonly cause: PlatformFailure }
  /** The platform refuses a part of the write. The next pass tries a smaller write. */
  | { readonly kind: 'narrowed'; readonly bisection: Bisection }
  /** The platform refuses the write. Apply tries again after the next change of the group, or after a day. */
  | { readonly kind: 'failed'; readonly cause: unknown };

/** The outcome of a performed decision: new facts with which the pass continues, or the result of the pass. */
export type Performed = { readonly facts: PassFacts } | { readonly result: PassResult };

export const AGAIN: Performed = { result: { kind: 'again' } };
export const CONFLICT: Performed = { result: { kind: 'conflict' } };
export const SUPERSEDED: Performed = { result: { kind: 'superseded' } };

export const unlessSuperseded = async (isDone: Promise<boolean>, next: Performed = AGAIN) =>
  (await isDone) ? next : SUPERSEDED;
