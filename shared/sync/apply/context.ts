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

/** The connection, the platform and the ports of one invocation for one group. */
export interface ApplyContext extends Reading {
  readonly platform: Platform;
  readonly ports: ApplyPorts;
  /**
   * Adds an entry to the group's audit. The entry has links to two earlier entries: to the latest entry of this
   * invocation (or of the last write, if this invocation has none), and to the entry of the last action of an operator.
   */
  readonly record: (state: GroupState, entry: AuditEntry) => Promise<AuditLink>;
  /** Returns the times of the calls about the group that count towards the hourly limit. */
  readonly calledMs: () => readonly number[];
  /** Called for each external change that was not known before. */
  readonly found: (kind: DriftKind) => void;
  readonly opened: (id: IntentId) => void;
  /** Called with each version of the group that the platform shows. */
  readonly showed: (group: Shown) => void;
  /** The progress of the search for the refused part of a write. */
  readonly bisection: Bisection;
}

/** The facts of one pass. A pass repeats the steps read, decide and perform until it has a result, such as a write. */
export interface PassFacts extends Facts {
  readonly refused?: { readonly write: Write; readonly intent: Intent; readonly cause: PlatformFailure };
}

/**
 * The search for the refused part of a write, because the platform does not report which part is wrong. The members are
 * sent first, without name and external id: the removals without the additions, then the additions in halves. Then each
 * field is sent alone. So one user or field that the platform refuses does not block other changes.
 */
export interface Bisection {
  /** Batches of additions that must still be tried, in order. */
  readonly batches: readonly (readonly PlatformUserId[])[];
  readonly refusals: number;
  /**
   * Whether the platform accepted another write of the group during the search. The platform then does not refuse the
   * group as a whole.
   */
  readonly hasWritten: boolean;
  /** Fields that wait until the members are written. Each field is then tried in a separate write. */
  readonly withheld: readonly GroupField[];
}

export const NO_BISECTION: Bisection = { batches: [], refusals: 0, hasWritten: false, withheld: [] };

/** Whether more parts must be tried after an accepted write. */
export const isUnfinished = ({ batches, withheld }: Bisection): boolean =>
  batches.length > 0 || withheld.length > 0;

/**
 * Returns the next attempt after a write that the platform accepted: the next batch of additions, or else the next
 * field.
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
  /** The next pass follows at once. Apply reads the group again. */
  | { readonly kind: 'again' }
  /** Apply reads the group again, because of an external change. */
  | { readonly kind: 'conflict' }
  /** The group waits for `waitMs`. If `waitMs` is undefined, the wait grows exponentially. */
  | {
      readonly kind: 'wait';
      readonly waitMs: number | undefined;
      readonly why: NewGroupError;
      /** The number of members who keep access because the platform refuses to remove them. */
      readonly keepAccess?: number;
    }
  /** The group has used up its calls of this hour. */
  | { readonly kind: 'spent' }
  /** Another worker has changed the group's item during the pass. */
  | { readonly kind: 'superseded' }
  /** No write is needed now. The platform shows the wanted state, except for held or refused changes. */
  | { readonly kind: 'in_sync' }
  | {
      readonly kind: 'written';
      readonly write: WriteMade;
      readonly clean: boolean;
      /** The answer shows an external change. */
      readonly isContested: boolean;
      /**
       * The error if the platform answered with 200 but did not make the change. The change is tried again with
       * exponential backoff.
       */
      readonly undone?: NewGroupError | undefined;
    }
  | { readonly kind: 'broken'; readonly cause: PlatformFailure }
  /** The platform refuses a part of the write. The other parts are tried without it. */
  | { readonly kind: 'narrowed'; readonly bisection: Bisection }
  /** The platform refuses the write, and will refuse it again. */
  | { readonly kind: 'failed'; readonly cause: unknown };

/** The result of a decision that was performed: new facts with which the pass continues, or the result of the pass. */
export type Performed = { readonly facts: PassFacts } | { readonly result: PassResult };

export const AGAIN: Performed = { result: { kind: 'again' } };
export const CONFLICT: Performed = { result: { kind: 'conflict' } };
export const SUPERSEDED: Performed = { result: { kind: 'superseded' } };

export const unlessSuperseded = async (
  isDone: Promise<boolean>,
  next: Performed = AGAIN,
): Promise<Performed> => ((await isDone) ? next : SUPERSEDED);
