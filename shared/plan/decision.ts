import type { Difference, Settlement } from '../domain/drift.ts';
import type { GroupField } from '../domain/group-fields.ts';
import type {
  FlapDamping,
  GroupError,
  GuardRecord,
  Intent,
  MemberCounts,
  SettledState,
} from '../domain/group-state.ts';
import type { RemovalSet } from '../domain/hold.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import type { ListedGroup, ObservedGroup, View } from '../domain/view.ts';
import type { Plan } from './plan.ts';

/** The facts that are read from the table with strong consistency. `missing` also needs fetches from the platform. */
export type StoredFact =
  | 'wanted'
  | 'views'
  | 'held'
  | 'departed'
  | 'ended'
  | 'managed'
  | 'missing'
  | 'namesakes';

/** The data that apply must read before the next decision. */
export interface Read {
  readonly kind: 'read';
  /**
   * `group` is the platform group. After a creation with an unknown outcome, `group` is every group that the creation
   * may have made. `list` is the list of the platform's groups. A decision to read `group` or `list` reads nothing
   * else.
   */
  readonly what: readonly StoredFact[] | readonly ['group'] | readonly ['list'];
  readonly maxAgeMs?: number;
  /** For `namesakes`: the platform groups with the name or the external id of the group to create. */
  readonly ids?: readonly PlatformGroupId[];
}

export const READ_GROUP: Read = { kind: 'read', what: ['group'] };

export const readList = (maxAgeMs: number): Read => ({ kind: 'read', what: ['list'], maxAgeMs });

export const readsGroup = (decision: Decision): boolean =>
  decision.kind === 'read' && decision.what[0] === 'group';

export const readsList = (decision: Decision): boolean =>
  decision.kind === 'read' && decision.what[0] === 'list';

/** Reserves the removals of the next write with the guard, and adds up all other removals of the rolling hour. */
export interface Reserve {
  readonly kind: 'reserve';
  readonly removals: number;
  readonly size: number;
  /** Whether the write deletes the platform group. */
  readonly deletes: boolean;
  readonly replaces: GuardRecord | undefined;
}

/** How external drift was settled. `open` means that the drift is not settled yet. */
export type DriftOutcome = Settlement | 'open';

export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
}

export type Decision =
  | Read
  | Reserve
  /**
   * Drops the open intent, because its write had no effect so far. `owed` is the guard's record of the removals of this
   * write. They still count, because the write may take effect later.
   */
  | { readonly kind: 'drop'; readonly intent: Intent; readonly owed: GuardRecord | undefined }
  /** Drops the open intent, and fails: the write is not tried again until the group changes or a day has passed. */
  | { readonly kind: 'abandon'; readonly drop: Drop; readonly why: ErrorDetail }
  | Observe
  /** Stores the view with other marks: which users the directory has wanted, and whose removal waits. */
  | { readonly kind: 'mark'; readonly view: View }
  /** Ends the link to a platform group that is gone, if the hourly limit on ended links allows it. */
  | {
      readonly kind: 'unlink';
      readonly id: PlatformGroupId;
      readonly difference: Difference | undefined;
      /** A deletion by groupsync that took effect late. */
      readonly lateWrite?: Intent | undefined;
    }
  | { readonly kind: 'release'; readonly reason: string }
  /** Links this platform group to the directory group. If the platform group has another owner, no link is made. */
  | { readonly kind: 'adopt'; readonly candidate: ListedGroup }
  | HoldRemovals
  | Write
  /** Fails, because the platform refuses the write. Apply searches for the refused part, or records the failure. */
  | { readonly kind: 'fail' }
  /** Tries the refused write once more after the wait, unless apply already searches for the refused part. */
  | { readonly kind: 'retry'; readonly after: Wait }
  | Note
  /** Waits. If `waitMs` is undefined, the wait grows with each failure. */
  | Wait
  /** Settles the group, because no write is needed. The group is done until something changes. */
  | {
      readonly kind: 'settle';
      readonly as: SettledState;
      readonly counts: MemberCounts;
      readonly driftOutcome: DriftOutcome;
      /** The time until which an uncertain write may take effect. Apply then reads the group again. */
      readonly againAtMs?: number;
      /** The refusal of a name or an external id. All other content of the group is written. */
      readonly failing?: GroupError | undefined;
      /** In the mode `report`: the changes that the mode `authoritative` would make. */
      readonly reported?: Plan;
    };

export interface Wait {
  readonly kind: 'wait';
  readonly waitMs: number | undefined;
  readonly why: ErrorDetail;
  /** If true, the removals that this worker has reserved with the guard do not count during the wait. */
  readonly yields?: boolean;
}

/** Stores the time of the first 404, or the open intent with one more try. The next decision uses this fact. */
export interface Note {
  readonly kind: 'note';
  readonly what: 'missing' | Intent;
}

export type Drop = Extract<Decision, { kind: 'drop' }>;

/** Records the state that the platform shows. This ends the open intent, and removes the mark of a suspected change. */
export interface Observe {
  readonly kind: 'observe';
  /** `gone` means that the group of an open deletion is gone, or that there is no linked platform group. */
  readonly observed: ObservedGroup | 'gone';
  /** The group's new view. The view is undefined if the stored view is current or the group is gone. */
  readonly view?: View;
  /** The open intent that ends with this observation. */
  readonly intent?: Intent | undefined;
  /**
   * The changes of another client, which are reported before the view is stored. The field is undefined if groupsync
   * itself made the shown state.
   */
  readonly external?: External;
  readonly flapDamping?: FlapDamping | undefined;
}

interface External {
  readonly differences: readonly Difference[];
  readonly lateWrite: Intent | undefined;
}

/** A group that another client may have changed. */
export type ObserveExternal = Observe & {
  readonly observed: ObservedGroup;
  readonly view: View;
  readonly external: External;
};

/**
 * Stores the list of removals that need a decision: more removals wait, or entries have ended. All other changes of the
 * group are written.
 */
export interface HoldRemovals {
  readonly kind: 'hold';
  readonly sets: readonly RemovalSet[];
  /** Whether more removals wait, in the first of the sets. */
  readonly begins: boolean;
}

export interface Write {
  readonly kind: 'write';
  readonly plan: Plan;
  /** Removals that the guard stops for now. */
  readonly held: ReadonlySet<PlatformUserId>;
  /** Whether removals of the group wait, also of users that the platform does not show. */
  readonly isWaiting: boolean;
  /** The digests of the approvals that permit this write. They end with the write. */
  readonly consumes: readonly string[];
  /** Whether the reservation of this attempt covers the removals of the write. */
  readonly isReserved: boolean;
  /** Groups that existed before a creation. None of these groups is the created group. */
  readonly known: readonly PlatformGroupId[];
  /** See `malformedBefore` of `Intent`. */
  readonly malformedBefore?: number;
  /** Fields that keep an unwanted value after this write. So the group is not done after this write. */
  readonly withheld?: readonly GroupField[];
  /** Whether other changes wait until the source has restated the group. */
  readonly isUnrestated?: boolean;
}
