import type { DriftPolicy } from '../contract/settings.ts';
import type { Difference } from '../domain/drift.ts';
import type { GroupField } from '../domain/group-fields.ts';
import type {
  AcceptedDeletion,
  FlapDamping,
  GroupError,
  GuardRecord,
  Intent,
  MemberCounts,
  SettledState,
} from '../domain/group-state.ts';
import type { HoldRule } from '../domain/hold.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import type { ListedGroup, ObservedGroup, View } from '../domain/view.ts';
import type { Plan } from './plan.ts';

/** What is read from our table, consistently: see the fields of `Facts`. */
export type StoredFact = 'wanted' | 'views' | 'held' | 'departed' | 'managed' | 'unlisted';

/** Data that must be read before anything can be decided. */
export interface Read {
  readonly kind: 'read';
  /**
   * `group`: the platform's group itself; if the outcome of a creation is unknown, every group that it may have made.
   * `list`: the platform's groups. These two are read alone.
   */
  readonly what: readonly StoredFact[] | readonly ['group'] | readonly ['list'];
  /** How old a list may be. */
  readonly maxAgeMs?: number;
}

export const READ_GROUP: Read = { kind: 'read', what: ['group'] };

export const readList = (maxAgeMs: number): Read => ({ kind: 'read', what: ['list'], maxAgeMs });

export const readsGroup = (decision: Decision): boolean =>
  decision.kind === 'read' && decision.what[0] === 'group';

export const readsList = (decision: Decision): boolean =>
  decision.kind === 'read' && decision.what[0] === 'list';

/** Reserves these removals with the guard, and sums up all other removals of the rolling hour. */
export interface Reserve {
  readonly kind: 'reserve';
  readonly removals: number;
  /** Users in the group now. */
  readonly size: number;
  /** The group is deleted. */
  readonly deletes: boolean;
  readonly replaces: GuardRecord | undefined;
}

/** How drift of another client was settled; `open`: it is not settled yet. */
export type DriftOutcome = DriftPolicy | 'open';

export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
}

/** The next action for one group. */
export type Decision =
  | Read
  | Reserve
  /**
   * The open intent did not happen. `owed`: its removals that the guard still counts, because they may still happen.
   * `failing`: it is not tried again until the group changes or a day has passed.
   */
  | {
      readonly kind: 'drop';
      readonly intent: Intent;
      readonly owed: GuardRecord | undefined;
      readonly failing?: ErrorDetail;
    }
  | Observe
  /** The platform's group is gone: ends the link if the hourly budget allows it. */
  | {
      readonly kind: 'unlink';
      readonly id: PlatformGroupId;
      readonly difference: Difference | undefined;
      readonly acceptedDrift: AcceptedDeletion | undefined;
      /** Our own deletion that took effect late. */
      readonly lateWrite?: Intent | undefined;
    }
  | { readonly kind: 'release'; readonly reason: string }
  /** Links this existing platform group to the directory group, unless it has another owner. */
  | { readonly kind: 'adopt'; readonly candidate: ListedGroup }
  | StartHold
  | EndHold
  | Write
  /** The platform refuses the write, and waiting cannot fix that, except for the wait in `firstly`. */
  | { readonly kind: 'fail'; readonly firstly?: Wait }
  /** `waitMs` undefined: the wait grows with each failure. */
  | Wait
  /** Nothing needs to be written: the group is done until something changes. */
  | {
      readonly kind: 'settle';
      readonly as: SettledState;
      readonly counts: MemberCounts;
      readonly driftOutcome: DriftOutcome;
      /** An unconfirmed write may take effect until this time; until then the group is not done. */
      readonly againAtMs?: number;
      /** The platform refuses a name or an external id, and everything else of the group is done. */
      readonly failing?: GroupError | undefined;
    };

export interface Wait {
  readonly kind: 'wait';
  readonly waitMs: number | undefined;
  readonly why: ErrorDetail;
  /** The first 404; a creation that was again not found, or a deletion that was answered and has no effect yet. */
  readonly noting?: 'missing' | Intent;
  /** The guard does not count the removals meanwhile. */
  readonly yields?: boolean;
}

/** Records what the platform shows. This ends the open intent and the suspected external change. */
export interface Observe {
  readonly kind: 'observe';
  /** `gone`: the open intent was to delete the group and it is gone, or there is no group that could have changed. */
  readonly observed: ObservedGroup | 'gone';
  /** The group's view from now on; undefined: the stored view is current, or the group is gone. */
  readonly view?: View;
  /** The open intent whose outcome this is. */
  readonly intent?: Intent | undefined;
  /** What another client changed, reported before the view is stored; undefined: groupsync itself made the group as it is. */
  readonly external?: External;
  /** How often another client's changes were undone lately. */
  readonly flapDamping?: FlapDamping | undefined;
}

export interface External {
  readonly differences: readonly Difference[];
  /** An earlier write of groupsync that took effect late. */
  readonly lateWrite: Intent | undefined;
}

/** A group that another client may have changed. */
export type ObserveExternal = Observe & {
  readonly observed: ObservedGroup;
  readonly view: View;
  readonly external: External;
};

/** An operator must decide about these removals; all other changes of the group go on. */
export interface StartHold {
  readonly kind: 'hold';
  readonly users: readonly PlatformUserId[];
  /** Removals that an operator approved and that are not written yet: they do not wait with these. */
  readonly approved: readonly PlatformUserId[];
  readonly size: number;
  readonly rule: HoldRule;
  /** What the guard judged, including all removals within the hour; undefined if the guard did not judge. */
  readonly share: number | undefined;
  readonly deletes: boolean;
  readonly ends?: undefined;
}

/** The hold, or the approval next to it, covers no wanted removal any more. */
export interface EndHold {
  readonly kind: 'hold';
  readonly ends: readonly ('hold' | 'approval')[];
}

export interface Write {
  readonly kind: 'write';
  readonly plan: Plan;
  /** Removals that the guard stops meanwhile. */
  readonly held: ReadonlySet<PlatformUserId>;
  /** Digest of the approval that the write uses up. */
  readonly consumes: string | undefined;
  /** Whether the reservation of this attempt covers its removals. */
  readonly isReserved: boolean;
  /** Groups that existed before a creation, so none of them is the created one. */
  readonly known: readonly PlatformGroupId[];
  /** As of `Intent`. */
  readonly oddBefore?: number;
  /** Fields that keep an unwanted value: the group is not done after this write. */
  readonly left?: readonly GroupField[];
}
