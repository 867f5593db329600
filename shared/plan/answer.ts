import type { PlatformUserId } from '../domain/ids.ts';
import type { ObservedGroup, View } from '../domain/view.ts';
import { LISTING_AGE_MS } from './absence.ts';
import { decideForeign } from './decide/drift.ts';
import type { GroupTrouble, ObserveExternal, Read } from './decision.ts';
import type { Facts } from './facts.ts';
import { foreignDifferences, isSpokeIdLost, shows, viewOf, withHidden } from './foreign.ts';
import { foldName, renamedTo } from './names.ts';
import type { Plan, PlanChange } from './plan.ts';

/** What a successful answer makes of a write. */
export interface Answer {
  /** The group that the write made: what was sent, under the name that the platform made of the one sent. */
  readonly made: View | undefined;
  /** Users whom this very write took out and who are still there: their removal did not happen. */
  readonly kept: readonly PlatformUserId[];
  /** The platform put somebody in by itself: the next plan takes them out, where the policy does not let them stay. */
  readonly hasAdded: boolean;
  /** A new name was sent, and the group has its old one. */
  readonly keepsName: boolean;
}

/**
 * Compares the answer with what was sent. Users whom it shows though they were not sent:
 *
 *                          | create        | put           | patch
 *     ---------------------|---------------|---------------|--------------------------------
 *     removed by the plan  | –             | kept          | kept
 *     any other            | platform's    | platform's    | somebody else's: drift, not judged here
 */
export function readAnswer(plan: Plan, observed: ObservedGroup | undefined): Answer {
  const { action, after, removals } = plan;
  if (observed === undefined || after === undefined) {
    return { made: after, kept: [], hasAdded: false, keepsName: false };
  }
  const shown = new Set(observed.users);
  const removed = new Set(removals);
  const isWhole = action === 'create' || action === 'put';
  const rename = plan.changes.find(({ kind }) => kind === 'rename');
  const keepsName =
    rename !== undefined &&
    rename.before === observed.name &&
    foldName(rename.before) !== foldName(rename.after ?? '');
  const named = isWhole || rename !== undefined ? renamedTo(after, observed) : after;
  return {
    made: keepsName ? { ...after, name: observed.name } : named,
    kept: removals.filter((user) => shown.has(user)),
    hasAdded: isWhole && [...shown].some((user) => !after.users.has(user) && !removed.has(user)),
    keepsName,
  };
}

/** Whether the platform answered well and did something else than it was sent. */
export const isUndone = ({ kept, hasAdded, keepsName }: Answer): boolean =>
  kept.length > 0 || hasAdded || keepsName;

/** What to tell a person of what the platform did not do; undefined where the next write may well do it. */
export function toldOf({ kept, keepsName }: Answer): string | undefined {
  const told: string[] = [];
  if (kept.length > 0) told.push(`${kept.length} user${kept.length === 1 ? '' : 's'} whom we took out`);
  if (keepsName) told.push('the name that the group had');
  return told.length === 0 ? undefined : `the platform keeps ${told.join(', and ')}`;
}

/** What a write made of the group. */
export interface Outcome {
  /** The group from now on; undefined where it is gone. */
  readonly view: View | undefined;
  /** The platform shows exactly what was sent. */
  readonly isAsPrepared: boolean;
  /** What was done of the plan. */
  readonly changes: readonly PlanChange[];
  readonly kept: readonly PlatformUserId[];
  /** Users that were sent and are not shown: later writes still send them, and a later fetch shows whether they are in. */
  readonly unshown: readonly PlatformUserId[];
  /** What somebody else did meanwhile. */
  readonly foreign: ObserveExternal | undefined;
  readonly isUndone: boolean;
  readonly trouble: GroupTrouble | undefined;
}

/**
 * Reads a successful answer. A platform that compares the version has refused a PATCH where somebody else was faster;
 * one that does not has let both changes through, and only here can theirs be told.
 * @param facts with the open intent
 */
export function judgeAnswer(plan: Plan, observed: ObservedGroup | undefined, facts: Facts): Outcome | Read {
  const answer = readAnswer(plan, observed);
  const { made, kept } = answer;
  const message = toldOf(answer);
  const stays = new Set<string>(kept);
  const outcome: Outcome = {
    view: undefined,
    isAsPrepared: false,
    changes: plan.changes.filter(({ kind, before }) => kind !== 'remove_member' || !stays.has(before)),
    kept,
    unshown: [],
    foreign: undefined,
    isUndone: isUndone(answer),
    trouble: message === undefined ? undefined : { code: 'kept', message },
  };
  if (observed === undefined || made === undefined || plan.after === undefined) return outcome;
  // Whoever was ours and is kept stays ours: to be taken out by a later write, also where strangers may stay.
  const shown = viewOf(observed, made, kept.length > 0 ? facts.views?.base : undefined);
  const foreign = plan.action === 'patch' ? foreignBeside(plan, observed, { made, shown, facts }) : undefined;
  if (foreign !== undefined && foreign.kind === 'read') return foreign;
  const isAsPrepared = foreign === undefined && shows(observed, plan.after);
  const unshown = unshownIn(plan, observed);
  const hidden = unshown.map((user) => [user, plan.after?.users.get(user) === true] as const);
  const view = withHidden(foreign?.view ?? shown, hidden);
  return { ...outcome, view, isAsPrepared, unshown, foreign };
}

function unshownIn(plan: Plan, observed: ObservedGroup): readonly PlatformUserId[] {
  if (plan.after === undefined) return [];
  const shown = new Set(observed.users);
  return [...plan.after.users.keys()].filter((user) => !shown.has(user));
}

/** Whether the platform shows all users that the write left in the group. Any other users come from the platform or another client. */
export function showsWrite(plan: Plan, observed: ObservedGroup): boolean {
  const { kept, keepsName } = readAnswer(plan, observed);
  return kept.length === 0 && !keepsName && unshownIn(plan, observed).length === 0;
}

function foreignBeside(
  plan: Plan,
  observed: ObservedGroup,
  { made, shown, facts }: { readonly made: View; readonly shown: View; readonly facts: Facts },
): ObserveExternal | Read | undefined {
  const isSpokeIdGone = isSpokeIdLost(observed, [made], facts.listed, [LISTING_AGE_MS]);
  if (typeof isSpokeIdGone !== 'boolean') return isSpokeIdGone;
  if (shows(observed, made) && !isSpokeIdGone) return undefined;
  // An answer proves only what it shows. A user that is missing from it, or that was removed and is still shown, is no
  // change by another client.
  const removed = new Set(plan.removals);
  const isOwnDoing = ([user]: [PlatformUserId, boolean]) => made.users.has(user) || removed.has(user);
  const ours = [{ ...made, users: new Map([...shown.users].filter(isOwnDoing)) }];
  if (foreignDifferences(ours, observed, { isSpokeIdGone }).length === 0) return undefined;
  return decideForeign(facts, observed, ours);
}
