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
import type { Hold } from '../domain/hold.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import type { ListedGroup, ObservedGroup, View } from '../domain/view.ts';
import type { Plan } from './plan.ts';

/** Data that must be read before anything can be decided. */
export type Question =
  /**
   * The directory group with its people, the stored views, members that the directory removed, owners of the listed
   * groups, and groups that the list lacks.
   */
  | {
      readonly kind: 'read';
      readonly what: readonly ('wanted' | 'views' | 'held' | 'departed' | 'managed' | 'unlisted')[];
    }
  /** The platform's group itself. If the outcome of a creation is unknown: every group that it may have made. */
  | { readonly kind: 'look' }
  | { readonly kind: 'list'; readonly ageMs: number }
  /** Reserves these removals with the guard, and sums up all other removals of the rolling hour. */
  | {
      readonly kind: 'reserve';
      readonly removals: number;
      /** Users in the group now. */
      readonly size: number;
      readonly replaces: GuardRecord | undefined;
    };

/** How the decision ends differences that another client made; `open`: they stay open. */
export type DriftEnding = DriftPolicy | 'open';

export interface GroupTrouble {
  readonly code: string;
  readonly message: string;
}

/** The next action for one group. */
export type Decision =
  | Question
  /**
   * The open intent did not happen. `owed`: its removals that the guard still counts, because they may still happen.
   * `failing`: it is not tried again until the group changes or a day has passed.
   */
  | {
      readonly kind: 'drop';
      readonly intent: Intent;
      readonly owed: GuardRecord | undefined;
      readonly failing?: GroupTrouble;
    }
  /** The open intent happened: the group is as `view` says. */
  | {
      readonly kind: 'confirm';
      readonly intent: Intent;
      readonly observed: ObservedGroup;
      readonly view: View;
    }
  /** The open intent was to delete the group, and it is gone. */
  | { readonly kind: 'confirm_gone'; readonly intent: Intent }
  /** Another client changed the group: the change is reported first, then stored as the group's view. */
  | Absorb
  /** The group is as our last write left it, so the suspected external change did not happen. */
  | {
      readonly kind: 'clear';
      readonly observed: ObservedGroup;
      readonly flapDamping: FlapDamping | undefined;
    }
  /** There is no platform group to read, so the suspected external change is dropped. */
  | { readonly kind: 'forget' }
  /** The platform's group is gone: its link is given up if the hour's budget allows it. */
  | {
      readonly kind: 'unlink';
      readonly id: PlatformGroupId;
      readonly difference: Difference | undefined;
      readonly waiver: AcceptedDeletion | undefined;
      /** Our own deletion that earlier reads did not show, and that has happened since. */
      readonly landed?: Intent | undefined;
    }
  | { readonly kind: 'release'; readonly reason: string }
  /** This existing platform group becomes the group's own, unless it has another owner. */
  | { readonly kind: 'adopt'; readonly candidate: ListedGroup }
  /** An operator must decide about these removals; all other changes of the group go on. */
  | {
      readonly kind: 'hold';
      readonly users: readonly PlatformUserId[];
      /** Removals that an operator approved and that are not written yet: they do not wait with these. */
      readonly approved: readonly PlatformUserId[];
      readonly size: number;
      readonly rule: Hold['rule'];
      /** What the guard judged, including all removals within the hour; undefined if the guard did not judge. */
      readonly share: number | undefined;
      readonly deletes: boolean;
    }
  /** The hold, or the approval next to it, covers no wanted removal any more. */
  | { readonly kind: 'drop_hold'; readonly drops: readonly ('hold' | 'approval')[] }
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
      readonly ending: DriftEnding;
      /** An unconfirmed write may take effect until this time; until then the group is not done. */
      readonly againAtMs?: number;
      /** The platform refuses a name or an external id, and everything else of the group is done. */
      readonly failing?: GroupError | undefined;
    };

export interface Wait {
  readonly kind: 'wait';
  readonly waitMs: number | undefined;
  readonly why: GroupTrouble;
  /** The first 404; a creation that was again not found, or a deletion that was answered and has no effect yet. */
  readonly noting?: 'missing' | Intent;
  /** The guard does not count the removals meanwhile. */
  readonly yields?: boolean;
}

export interface Absorb {
  readonly kind: 'absorb';
  readonly observed: ObservedGroup;
  readonly view: View;
  readonly differences: readonly Difference[];
  /** The open intent whose outcome this is. */
  readonly intent: Intent | undefined;
  /** Our own earlier write that earlier reads did not show, and that has happened since. */
  readonly landed: Intent | undefined;
  /** How often this happens. */
  readonly flapDamping: FlapDamping | undefined;
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
