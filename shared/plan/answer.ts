import type { PlatformUserId } from '../domain/ids.ts';
import type { ObservedGroup, View } from '../domain/view.ts';
import { decideExternal } from './decide/drift.ts';
import type { ErrorDetail, ObserveExternal, Read } from './decision.ts';
import { emptiedFields, externalDifferences, shows, viewOf, withHidden } from './external-change.ts';
import type { Facts } from './facts.ts';
import { LISTING_AGE_MS } from './gone.ts';
import { foldName, renamedTo } from './names.ts';
import type { Plan, PlanChange } from './plan.ts';

interface Answer {
  /** The sent content, with a sent name in the form that the platform shows; undefined after a DELETE. */
  readonly made: View | undefined;
  /** Users that this write should have removed and that the answer still shows. */
  readonly kept: readonly PlatformUserId[];
  /** Whether the platform added an unsent user. The next plan removes it if external members may not stay. */
  readonly hasAdded: boolean;
  readonly keepsName: boolean;
}

/**
 * Compares the answer with the sent content. If the answer shows a user that the write did not send, the user counts
 * as:
 *
 *                          | create        | put           | patch
 *     ---------------------|---------------|---------------|--------------------------------
 *     user to remove       | –             | kept          | kept
 *     any other user       | `hasAdded`    | `hasAdded`    | external change; see `judgeAnswer`
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

/** Whether the platform answered 2xx, but kept a removed user, added a user that was not sent, or kept the old name. */
export const isUndone = ({ kept, hasAdded, keepsName }: Answer): boolean =>
  kept.length > 0 || hasAdded || keepsName;

/** Returns a message if the platform answered 2xx but kept removed users or the old name. */
export function keptMessage({ kept, keepsName }: Answer): string | undefined {
  const parts: string[] = [];
  if (kept.length > 0)
    parts.push(`${kept.length} user${kept.length === 1 ? '' : 's'} that groupsync removed`);
  if (keepsName) parts.push('the name that the group had');
  return parts.length === 0 ? undefined : `the platform keeps ${parts.join(', and ')}`;
}

export interface Outcome {
  /** The view of the group after the write; undefined if the group is gone. */
  readonly view: View | undefined;
  readonly isAsPrepared: boolean;
  readonly changes: readonly PlanChange[];
  readonly kept: readonly PlatformUserId[];
  /** Users that the write sent and that the platform does not show. Later writes send these users again. */
  readonly hidden: readonly PlatformUserId[];
  /** External changes since the group was read. */
  readonly external: ObserveExternal | undefined;
  readonly isUndone: boolean;
  readonly error: ErrorDetail | undefined;
}

/**
 * Derives the outcome of a write from its successful answer. A platform that compares versions refuses a PATCH after an
 * external change. A platform that does not compare versions accepts the PATCH. Then only the answer to the PATCH shows
 * the external change.
 * @param facts the facts of the pass, including the open intent
 */
export function judgeAnswer(plan: Plan, observed: ObservedGroup | undefined, facts: Facts): Outcome | Read {
  const answer = readAnswer(plan, observed);
  const { made, kept } = answer;
  const message = keptMessage(answer);
  const stays = new Set<string>(kept);
  const outcome: Outcome = {
    view: undefined,
    isAsPrepared: false,
    changes: plan.changes.filter(({ kind, before }) => kind !== 'remove_member' || !stays.has(before)),
    kept,
    hidden: [],
    external: undefined,
    isUndone: isUndone(answer),
    error: message === undefined ? undefined : { code: 'kept', message },
  };
  if (observed === undefined || made === undefined || plan.after === undefined) return outcome;
  // A user that the platform did not remove stays marked as added by groupsync. Without this mark, no later write would
  // remove the user if external members may stay.
  const shown = viewOf(observed, made, kept.length > 0 ? facts.views?.base : undefined);
  const external = plan.action === 'patch' ? externalIn(plan, observed, { made, shown, facts }) : undefined;
  if (external !== undefined && external.kind === 'read') return external;
  const isAsPrepared = external === undefined && shows(observed, plan.after);
  const hidden = hiddenIn(plan, observed);
  const marked = hidden.map((user) => [user, plan.after?.users.get(user) === true] as const);
  const view = withHidden(external?.view ?? shown, marked);
  return { ...outcome, view, isAsPrepared, hidden, external };
}

function hiddenIn(plan: Plan, observed: ObservedGroup): readonly PlatformUserId[] {
  if (plan.after === undefined) return [];
  const shown = new Set(observed.users);
  return [...plan.after.users.keys()].filter((user) => !shown.has(user));
}

/**
 * Whether the platform shows the effects of the write: all sent users, no removed user, and the new name. Users that
 * the platform or another client added do not matter.
 */
export function showsWrite(plan: Plan, observed: ObservedGroup): boolean {
  const { kept, keepsName } = readAnswer(plan, observed);
  return kept.length === 0 && !keepsName && hiddenIn(plan, observed).length === 0;
}

function externalIn(
  plan: Plan,
  observed: ObservedGroup,
  { made, shown, facts }: { readonly made: View; readonly shown: View; readonly facts: Facts },
): ObserveExternal | Read | undefined {
  const emptied = emptiedFields(observed, [made], facts.listed, [LISTING_AGE_MS]);
  if ('kind' in emptied) return emptied;
  if (shows(observed, made) && emptied.size === 0) return undefined;
  // If an answer lacks a sent user or still shows a removed user, this difference does not prove a change by another
  // client.
  const removed = new Set(plan.removals);
  const isOwnDoing = ([user]: [PlatformUserId, boolean]) => made.users.has(user) || removed.has(user);
  const knownViews = [{ ...made, users: new Map([...shown.users].filter(isOwnDoing)) }];
  if (externalDifferences(knownViews, observed, { emptied }).length === 0) return undefined;
  return decideExternal(facts, observed, knownViews);
}
