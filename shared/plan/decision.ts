import type { DriftPolicy } from '../contract/settings.ts';
import type { Difference } from '../domain/drift.ts';
import type { GroupField } from '../domain/group-fields.ts';
import type {
  Contest,
  DeletionWaiver,
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

/** What must be known before anything can be decided. */
export type Question =
  /** The directory group with its people, the stored views, members that the directory removed, and owners of the listed groups. */
  | {
      readonly kind: 'read';
      readonly what: readonly ('wanted' | 'views' | 'held' | 'departed' | 'managed')[];
    }
  /** The platform's group itself; of a creation whose outcome is unknown, whatever may be what it made. */
  | { readonly kind: 'look' }
  | { readonly kind: 'list'; readonly ageMs: number }
  /** Puts these removals into the guard's book, and sums up what else was removed in the rolling hour. */
  | {
      readonly kind: 'reserve';
      readonly removals: number;
      /** Users in the group now. */
      readonly size: number;
      readonly replaces: GuardRecord | undefined;
    };

/** How differences that somebody else made end with what is decided; `open`: they stay open. */
export type DriftEnding = DriftPolicy | 'open';

export interface GroupTrouble {
  readonly code: string;
  readonly message: string;
}

/** What is done with one group next. */
export type Decision =
  | Question
  /**
   * The open intent did not happen. `owed`: removals of it that stay in the guard's book, as they may yet happen.
   * `failing`: it is not tried again until the group changes, or for a day.
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
  /** Somebody else changed the group: told first, then taken as the group's view. */
  | Absorb
  /** The group is as we left it, whatever the suspicion was. */
  | { readonly kind: 'clear'; readonly observed: ObservedGroup; readonly contest: Contest | undefined }
  /** There is no platform group to look at: the suspicion is void. */
  | { readonly kind: 'forget' }
  /** The first 404 for the group. */
  | { readonly kind: 'miss'; readonly waitMs: number; readonly why: GroupTrouble }
  /** The platform's group is gone: its link is given up, as far as the hour's budget allows. */
  | {
      readonly kind: 'unlink';
      readonly id: PlatformGroupId;
      readonly difference: Difference | undefined;
      readonly waiver: DeletionWaiver | undefined;
      /** A deletion of ours that was looked for in vain, and has happened since. */
      readonly landed?: Intent | undefined;
    }
  | { readonly kind: 'release'; readonly reason: string }
  /** This existing platform group becomes the group's own, unless it has another owner. */
  | { readonly kind: 'adopt'; readonly candidate: ListedGroup }
  /** A person is asked about these removals; what else the group needs goes on. */
  | {
      readonly kind: 'hold';
      readonly users: readonly PlatformUserId[];
      /** Approved by a person, and not written yet: they do not wait with these. */
      readonly approved: readonly PlatformUserId[];
      readonly size: number;
      readonly rule: Hold['rule'];
      /** What the guard judged, with everything removed within the hour; undefined where it was not asked. */
      readonly share: number | undefined;
      readonly deletes: boolean;
    }
  /** What is held, or was approved beside it, is about no removal any more. */
  | { readonly kind: 'drop_hold'; readonly drops: readonly ('hold' | 'approval')[] }
  | Write
  /** The platform will not have the write, and waiting cannot mend that, but for what comes `firstly`. */
  | { readonly kind: 'fail'; readonly firstly?: Wait }
  /** `waitMs` undefined: ever longer. */
  | Wait
  /** Nothing is to be written: the group is done until something changes. */
  | {
      readonly kind: 'settle';
      readonly as: SettledState;
      readonly counts: MemberCounts;
      readonly ending: DriftEnding;
      /** A write that was looked for in vain may land until then: the group is not done with before. */
      readonly againAtMs?: number;
      /** The platform refuses a name or an external id, and the group is done but for that. */
      readonly failing?: GroupError | undefined;
    };

export interface Wait {
  readonly kind: 'wait';
  readonly waitMs: number | undefined;
  readonly why: GroupTrouble;
  /** A creation that was not found once more, or a deletion that was answered and has no effect yet. */
  readonly noting?: Intent;
  /** The removals leave the guard's book meanwhile. */
  readonly yields?: boolean;
}

export interface Absorb {
  readonly kind: 'absorb';
  readonly observed: ObservedGroup;
  readonly view: View;
  readonly differences: readonly Difference[];
  /** The open intent whose outcome this is. */
  readonly intent: Intent | undefined;
  /** An earlier write of ours that was looked for in vain, and has happened since. */
  readonly landed: Intent | undefined;
  /** How often this happens. */
  readonly contest: Contest | undefined;
}

export interface Write {
  readonly kind: 'write';
  readonly plan: Plan;
  /** Removals that the guard stops meanwhile. */
  readonly held: ReadonlySet<PlatformUserId>;
  /** Digest of the approval that the write uses up. */
  readonly consumes: string | undefined;
  /** Whether the round's reservation covers its removals. */
  readonly isReserved: boolean;
  /** Groups that were there before a creation: none of them is what it makes. */
  readonly known: readonly PlatformGroupId[];
  /** Fields that stay otherwise than wanted: the group is not done after it. */
  readonly left?: readonly GroupField[];
}
